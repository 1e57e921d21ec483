"""Measure the processor time of the most expensive bodies that we know: `python -m bench.hostile`."""

import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import requests
from agent_feedback.interaction_id import new_interaction_id

from app.core.http.blueprint import BYTES_PER_MEMBER
from app.core.http.body import AGENT_BODY_BYTES, BATCH_BODY_BYTES
from bench.load import request, send
from bench.measure import service_cpu_s
from tests.context_api import handle
from tests.factories import NOTE, bearer, event
from tests.journeys.stack import Stack, running_stack

TIMES = 60
"""Fewer than a handle may be sent in a minute."""

CLIENTS = 2

random.seed(20261121)


def tokens() -> str:
    """Return candidates for a secret that are none, in layers of encoding and with look-alike letters."""
    return f"ab-1{random.randint(0, 9)}.v1.cd_ab-12.v1.k%25252541\u0435_ab "


def nouns() -> str:
    """Return names of credentials without their values, in look-alike letters."""
    return "k\u0435y t\u043eken "


def accounts() -> str:
    """Return candidates for an account number with wrong check digits."""
    return f"DE{random.randint(10, 99)}-" + "-".join(random.choices("0123456789ABC", k=28)) + " "


def numbers() -> str:
    """Return candidates for a telephone number that are too short."""
    return f"+1 {random.randint(200, 999)} {random.randint(200, 999)} {random.randint(0, 99):02} "


UNITS = (tokens, nouns, accounts, numbers)


class Case(NamedTuple):
    """One body, where it is sent to, by which credential, and how it is answered."""

    name: str
    path: str
    credential: str
    body: Any
    status: int


def main() -> None:
    """Measure every body."""
    with tempfile.TemporaryDirectory() as folder, running_stack(Path(folder)) as stack:
        print(f"\n{'':<52}{'bytes':>9}{'CPU':>12}")
        measure(stack, cases()[0])
        for case in cases():
            size, cpu_ms = measure(stack, case)
            print(f"{case.name:<52}{size:>9}{cpu_ms:>9.2f} ms", flush=True)


def cases() -> list[Case]:
    """Return the bodies: of each endpoint an ordinary one first."""
    outcome, report = ("/api/v2/outcomes", "capability"), ("/api/v2/reports", "capability")
    answer, batch = ("/api/v2/enrichment/answers", "handle"), ("/api/v2/telemetry/batches", "product key")
    agent_members, batch_members = AGENT_BODY_BYTES // BYTES_PER_MEMBER, BATCH_BODY_BYTES // BYTES_PER_MEMBER
    return [
        Case("outcome", *outcome, {"outcome": "success", "note": NOTE}, 200),
        *(Case(f"outcome, note of {unit.__name__}", *outcome, note(unit), 200) for unit in UNITS),
        Case("outcome, as many unknown members as fit", *outcome, unknown(20_000, AGENT_BODY_BYTES), 400),
        Case("outcome, as many unknown members as allowed", *outcome, unknown(agent_members, AGENT_BODY_BYTES), 400),
        Case("outcome, as many empty objects as allowed", *outcome, {"a": [{}] * (agent_members - 1)}, 400),
        Case("report", *report, {"summary": NOTE, "findings": [finding("It was found.")]}, 200),
        *(Case(f"report, texts of {unit.__name__}", *report, long_report(unit), 200) for unit in UNITS),
        Case("report, as many empty findings as allowed", *report, findings(agent_members - 2), 400),
        Case("answer", *answer, {"status": "no_relevant_context"}, 200),
        Case("answer, as many unknown members as allowed", *answer, unknown(agent_members, AGENT_BODY_BYTES), 400),
        Case("telemetry, 100 events", *batch, {"events": [event() for _ in range(100)]}, 202),
        *(Case(f"telemetry, hints of {unit.__name__}", *batch, hints(unit), 202) for unit in UNITS),
        Case("telemetry, as many members as fit", *batch, unknown(200_000, BATCH_BODY_BYTES), 400),
        Case("telemetry, as many members as allowed", *batch, unknown(batch_members, BATCH_BODY_BYTES), 400),
    ]


def measure(stack: Stack, case: Case) -> tuple[int, float]:
    """Return the size of a body, and the milliseconds of processor time that each request with it costs."""
    credentials = [credential(stack, case.credential) for _ in range(1 if case.credential == "handle" else TIMES)]
    sent = [request(stack.url, case.path, credentials[number % len(credentials)], case.body) for number in range(TIMES)]
    before = service_cpu_s(stack)
    send(stack.url, sent, CLIENTS, case.status)
    return len(json.dumps(case.body)), (service_cpu_s(stack) - before) / TIMES * 1e3


def credential(stack: Stack, kind: str) -> str:
    """Return a credential; a capability is a new one each time, since only its first review is screened."""
    if kind == "capability":
        return stack.company.capability()
    if kind == "product key":
        return stack.company.product_key
    body = {"interactionId": new_interaction_id(), "operation": "/search", "surface": "html", "remember": False}
    return handle(
        requests.post(
            f"{stack.url}/api/v2/enrichment/requests",
            json={**body, "purpose": "product_personalization"},
            headers=bearer(stack.company.company_key),
            timeout=10,
        ).json()
    )


def text(unit: Callable[[], str], length: int) -> str:
    """Return a text of one kind of candidates."""
    return "".join(unit() for _ in range(length // len(unit()) + 1))[:length].rstrip(" %-_.")


def note(unit: Callable[[], str]) -> dict[str, str]:
    """Return a review whose note is as long as it may be."""
    return {"outcome": "success", "note": text(unit, 500)}


def finding(detail: str) -> dict[str, str]:
    """Return a finding of a report."""
    return {"kind": "friction", "topic": "pagination", "detail": detail}


def findings(count: int) -> dict[str, Any]:
    """Return a report with so many empty findings."""
    return {"summary": NOTE, "findings": [{}] * count}


def long_report(unit: Callable[[], str]) -> dict[str, Any]:
    """Return a report whose every text is as long as it may be."""
    details = [text(unit, 350) for _ in range(9)]
    workaround = {"used": True, "detail": details.pop()}
    return {"summary": text(unit, 700), "findings": list(map(finding, details)), "workaround": workaround}


def hints(unit: Callable[[], str]) -> dict[str, Any]:
    """Return a batch whose every event has a hint of its own, as long as it may be."""
    return {"events": [event(runtimeHint=text(unit, 200)) for _ in range(100)]}


def unknown(count: int, max_bytes: int) -> dict[str, int]:
    """Return an object with as many members, or with as many as fit."""
    members: dict[str, int] = {}
    size = 2
    for number in range(count):
        size += len(f'"k{number}": 1, ')
        if size > max_bytes:
            break
        members[f"k{number}"] = 1
    return members


if __name__ == "__main__":
    main()
