"""A developer installs the Node SDK from the service and runs the examples of its README, which an agent reviews."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest
import requests
from agent_feedback.agent import from_response
from agent_feedback.envelope import ENVELOPE
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.factories import Company
from tests.journeys.node import (
    PATH,
    SDK,
    NodeProject,
    example,
    examples,
    install,
    product_variables,
)
from tests.journeys.stack import Stack, wait_until

NOTE = "The order was complete, with its number."

FRAMEWORKS = {
    "express 5": ("from 'express'", {}),
    "express 4": ("from 'express'", {"from 'express'": "from 'express4'"}),
    "fastify 5": ("from 'fastify'", {}),
    "node:http": ("from 'node:http'", {}),
    "fetch": ("from 'hono'", {}),
}
"""What the example of each framework has, and what is replaced in it."""

COMPILER_OPTIONS = {
    "target": "es2023",
    "lib": ["es2023", "dom", "dom.iterable"],
    "types": ["node"],
    "strict": True,
    "noEmit": True,
    "moduleDetection": "force",
}
RESOLUTIONS = {
    "bundler": {"module": "esnext", "moduleResolution": "bundler"},
    "node16": {"module": "node16", "moduleResolution": "node16"},
}

# In TypeScript, Fastify wants to know what the parameters of a path are.
UNTYPED, TYPED = "app.get('/orders/:id', async", "app.get<{ Params: { id: string } }>('/orders/:id', async"


def test_an_agent_reviews_a_product_of_a_project_that_has_the_sdk_alone(
    node: None, stack: Stack, tmp_path: Path
) -> None:
    company = stack.create_company()
    project = install(stack, tmp_path)
    with project.running_product(example("from 'node:http'"), product_variables(stack, company)) as url:
        review = ("--outcome", "success", "--note", NOTE, "--allow-origin", stack.url, "--yes")
        project.run("npx", "--no", "--", "agent-feedback", "agent", "report", f"{url}/orders/42", *review)
        query = (
            "SELECT surface, operation, classification FROM interactions WHERE environment_id = %s AND operation = %s"
        )
        expected = [("http_json", "/orders/:id", "confirmed")]
        wait_until(lambda: stack.query(query, str(company.environment_id), "/orders/:id") == expected, 20)
    reviews = stack.query("SELECT outcome, note FROM reviews WHERE environment_id = %s", str(company.environment_id))
    assert reviews == [("success", NOTE)]


@pytest.fixture(scope="module")
def company(stack: Stack) -> Company:
    return stack.create_company()


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_first_example_of_each_framework_is_reviewed(
    stack: Stack, company: Company, node_project: NodeProject, framework: str
) -> None:
    part, replacements = FRAMEWORKS[framework]
    code = example(part)
    for text, other in replacements.items():
        code = code.replace(text, other)
    with node_project.running_product(code, product_variables(stack, company)) as url:
        response = requests.get(f"{url}/orders/42", timeout=10)
    assert response.json()["id"] == "42"
    received = from_response(response, allowed_origins=[stack.url])
    assert received
    assert received.submit_outcome("success", NOTE)["accepted"]


def test_the_example_of_an_mcp_server_is_reviewed(stack: Stack, company: Company, node_project: NodeProject) -> None:
    (node_project.folder / "server.js").write_text(example("McpServer"))
    parameters = StdioServerParameters(
        command=str(shutil.which("node", path=PATH)),
        args=["server.js"],
        env={**os.environ, **product_variables(stack, company)},
        cwd=node_project.folder,
    )

    async def session() -> None:
        async with Client(stdio_client(parameters)) as client:
            result = await client.call_tool("list_shoes", {})
            authorization = result.structured_content[ENVELOPE]["submitOutcome"]["authorization"]
            review = {"authorization": authorization, "outcome": "success", "note": "Both shoes were in the list."}
            answer = await client.call_tool("report_product_outcome", review)
            assert answer.structured_content["accepted"]

    anyio.run(session)


@pytest.mark.parametrize("options", RESOLUTIONS.values(), ids=RESOLUTIONS.keys())
def test_a_typescript_project_compiles(node_project: NodeProject, options: dict[str, str]) -> None:
    product = (SDK / "test" / "programs" / "product.ts").read_text()
    # The SDK needs no types of Node.
    compile_typescript(node_project, {"product.ts": product}, {**options, "types": []})
    code = {f"example{number}.ts": code.replace(UNTYPED, TYPED) for number, code in enumerate(examples())}
    # The declarations of all these packages are not ours to check.
    compile_typescript(node_project, code, {**options, "skipLibCheck": True})


def compile_typescript(project: NodeProject, code: dict[str, str], options: dict[str, Any]) -> None:
    """Check programs, and by default the declarations that they read."""
    for name, text in code.items():
        (project.folder / name).write_text(text)
    config = {"compilerOptions": {**COMPILER_OPTIONS, **options}, "files": list(code)}
    (project.folder / "tsconfig.json").write_text(json.dumps(config))
    project.run("node_modules/.bin/tsc", "-p", ".")
