"""Agents that wait for the service at the ASGI relay slow nothing of the product."""

import asyncio
import json
from typing import Any

import pytest
from agent_feedback.adapters import asgi_threads

from tests.sdk.asgi_site import Exchange, exchange, make_asgi_asking, make_scope
from tests.sdk.endpoint import Endpoint
from tests.sdk.shop import HANDLE, CompanyClient, context_action, json_reply

ANSWERS = "/_service/v1/enrichment/answers"
ANSWER = {"type": "http.request", "body": b'{"status":"no_relevant_context","items":[]}', "more_body": False}
THREADS = 2


async def until_requests(endpoint: Endpoint, count: int) -> None:
    async with asyncio.timeout(20):
        while len(endpoint.requests) < count:
            await asyncio.sleep(0.001)


def test_when_all_its_threads_wait_the_relay_is_unavailable_and_the_product_is_not(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asgi_threads, "MAX_THREADS", THREADS)
    endpoint.default_reply = json_reply(context_action(endpoint.url))
    endpoint.gate.clear()
    feedback = CompanyClient(endpoint.url, relay_timeout=20.0, context_timeout=20.0)
    app = feedback.asgi(make_asgi_asking(feedback))

    def post(handle: str = HANDLE) -> Any:
        scope = make_scope(ANSWERS, method="POST", headers={"authorization": f"Bearer {handle}"})
        return exchange(app, scope, [ANSWER])

    async def run() -> tuple[list[Exchange], Exchange, list[Exchange]]:
        waiting = [asyncio.create_task(post()) for _ in range(THREADS)]
        await until_requests(endpoint, THREADS)
        refused = [await post(), await post("another")]
        page = asyncio.create_task(exchange(app, make_scope()))
        await until_requests(endpoint, THREADS + 1)
        endpoint.gate.set()
        return refused, await page, [*(await asyncio.gather(*waiting)), await post()]

    (saturated, unknown), page, answered = asyncio.run(run())
    assert saturated.response.status == "503"
    assert saturated.response.get_all("retry-after") == ["1"]
    assert json.loads(saturated.response.body)["code"] == "service_unavailable"
    assert unknown.response.status == "401"
    assert b"_service" in page.response.body
    assert [result.response.status for result in answered] == ["200"] * (THREADS + 1)
