"""Two machines with web, worker and beat each, on one database server and one broker."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
import requests

from tests.factories import bearer, observation
from tests.journeys.load import Sender
from tests.journeys.stack import Stack, wait_until
from tests.journeys.test_evidence import send as send_evidence
from tests.journeys.test_failures import VISIBLE_WITHIN_S, assert_everything_arrives
from tests.journeys.tree import Tree, running_tree
from tests.journeys.web import running_web

LIMIT = 40
"""Requests a minute of one address without a credential."""

LIMITED = {"AGENT_FEEDBACK_UNAUTHENTICATED_LIMIT": f"{LIMIT}/minute"}

ADDRESS = {"X-Forwarded-For": "203.0.113.251"}
"""Of the addresses that are reserved for documentation, one that no other test sends from."""


@pytest.fixture(scope="module")
def tree(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    """The second machine; the first is the stack itself."""
    with running_tree(stack, tmp_path_factory.mktemp("a second tree"), **LIMITED) as tree:
        yield tree


def test_a_revoked_key_is_refused_by_both_within_a_second(stack: Stack, tree: Tree) -> None:
    key = stack.flask("key", "create", "--environment", str(stack.company.environment_id), "--kind", "product")
    urls = [stack.url, tree.url] * 5
    assert 401 not in {_status(url, key["key"]) for url in urls}
    stack.flask("key", "revoke", key["keyId"])
    time.sleep(1)
    assert {_status(url, key["key"]) for url in urls} == {401}


def test_what_one_machine_has_counted_limits_the_other(stack: Stack, tree: Tree) -> None:
    with running_web(stack, WEB_CONCURRENCY="1", **LIMITED) as other:
        # A window begins with each minute.
        wait_until(lambda: time.time() % 60 < 45, 20)
        assert {_status(other.url, "af_live_nobody", ADDRESS) for _ in range(LIMIT)} == {401}
        statuses: list[int] = []
        # A process of the second learns of it once it has shared its own second request; alone it would allow forty.
        while 429 not in statuses and len(statuses) < LIMIT // 2:
            statuses.append(_status(tree.url, "af_live_nobody", ADDRESS))
            time.sleep(0.3)
        assert statuses[-1] == 429


def test_a_machine_is_killed_under_load_and_nothing_is_lost_or_counted_twice(stack: Stack, tree: Tree) -> None:
    first, second = Sender(stack.url, stack.company), Sender(tree.url, stack.company)
    behind = replace(stack, url=tree.url)
    events = [observation() for _ in range(50)]
    with first.in_background():
        with second.in_background():
            wait_until(lambda: len(first.accepted_reviews) > 30 and len(second.accepted_reviews) > 30, 30)
            assert send_evidence(behind, events) == {"accepted": 50, "duplicates": 0, "expired": 0}
            tree.kill()
            wait_until(lambda: second.statuses[-1][1] == 0, 10)
        count = len(first.accepted_reviews)
        wait_until(lambda: len(first.accepted_reviews) > count + 10, 10)
    assert {status for _, status, _ in first.statuses} == {200, 202}
    for sender in (first, second):
        assert_everything_arrives(stack, sender)
    assert send_evidence(stack, events) == {"accepted": 0, "duplicates": 50, "expired": 0}
    wait_until(lambda: not any(stack.waiting_rows().values()), VISIBLE_WITHIN_S)
    for counted, rows in (
        ("SELECT coalesce(sum(interactions), 0) FROM interaction_days", "SELECT count(*) FROM interactions"),
        ("SELECT coalesce(sum(success + partial + failure), 0) FROM interaction_days", "SELECT count(*) FROM reviews"),
        ("SELECT coalesce(sum(events), 0) FROM evidence_days", "SELECT count(*) FROM evidence_events"),
    ):
        assert stack.value(counted) == stack.value(rows)


def _status(url: str, key: str, address: Mapping[str, str] | None = None) -> int:
    body: dict[str, list[object]] = {"events": []}
    headers = {**bearer(key), **(address or {})}
    return requests.post(f"{url}/api/v2/telemetry/batches", json=body, headers=headers, timeout=10).status_code
