"""The loop that the service exists for, on a real product and a truthful agent."""

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.journeys import agent
from tests.journeys.running import running_product
from tests.journeys.stack import Stack, wait_until

CALLS = 200


@pytest.fixture
def product_url(stack: Stack) -> Iterator[str]:
    with running_product(stack.url, stack.company.product_key) as url:
        yield url


def test_two_hundred_calls_become_two_hundred_interactions_with_their_reviews(stack: Stack, product_url: str) -> None:
    def visit(job: tuple[int, agent.Task]) -> agent.Visit:
        number, task = job
        return agent.use(product_url, task, [stack.url], is_reviewing=number % 2 == 0)

    jobs = list(enumerate(itertools.islice(agent.tasks(), CALLS)))
    with ThreadPoolExecutor(4) as pool:
        visits = list(pool.map(visit, jobs))
    ids = [visit.interaction_id for visit in visits]
    # A review may be there before its telemetry, with a placeholder for its interaction.
    complete = "SELECT count(*) FROM interactions WHERE id = ANY(%s::uuid[]) AND occurred_at IS NOT NULL"
    wait_until(lambda: stack.value(complete, ids) == CALLS, 20)
    wait_until(lambda: stack.value("SELECT count(*) FROM promotions") == 0, 10)
    rows = {
        str(row[0]): row[1:]
        for row in stack.query(
            "SELECT i.id, i.operation, i.surface, i.status_code, i.duration_ms, i.classification, i.confirmed_by, "
            "i.session_ref, r.outcome FROM interactions i "
            "LEFT JOIN reviews r ON r.environment_id = i.environment_id AND r.interaction_id = i.id"
        )
    }
    assert len({visit.interaction_id for visit in visits}) == CALLS
    for product_visit in visits:
        operation, surface, status, duration_ms, classification, confirmed_by, session_ref, outcome = rows[
            product_visit.interaction_id
        ]
        assert (operation, surface, status, outcome) == (
            product_visit.operation,
            "http_json",
            product_visit.status,
            product_visit.outcome,
        )
        assert 0 < duration_ms < 10_000
        assert session_ref == "visit-1"
        expected = ("confirmed", "review") if product_visit.outcome else ("unclassified", None)
        assert (classification, confirmed_by) == expected
    assert {product_visit.outcome for product_visit in visits} == {"success", "failure", None}
    assert len({product_visit.operation for product_visit in visits}) >= 6


def test_an_interaction_can_be_looked_at_from_the_command_line(stack: Stack, product_url: str) -> None:
    task = next(agent.tasks())
    visit = agent.use(product_url, task, [stack.url], is_reviewing=True)

    def show_interaction() -> dict[str, object]:
        answer: dict[str, object] = stack.flask(
            "interaction", "show", visit.interaction_id, "--environment", str(stack.company.environment_id)
        )
        return answer

    wait_until(
        lambda: show_interaction()["classification"] == "confirmed" and show_interaction()["surface"] == "http_json", 10
    )
    interaction = show_interaction()
    assert (interaction["operation"], interaction["confirmationMethod"]) == (visit.operation, "review")
    assert interaction["review"]["outcome"] == "success"
    assert interaction["session"]["sessionRef"] == "visit-1"


def test_the_product_is_the_same_apart_from_the_envelope(product_url: str) -> None:
    for path, is_extended in (("/get", True), ("/html", False), ("/status/418", False), ("/bytes/64?seed=1", False)):
        response = requests.get(product_url + path, timeout=10)
        assert (b"_agentFeedback" in response.content) is is_extended
        assert int(response.headers["Content-Length"]) == len(response.content)
