"""The interactions of an environment: sessions of agents that work through the operations of a product."""

import hashlib
import math
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from app.demo.content import EnvironmentContent, Flow, Incident, Operation, ProductContent, products
from app.demo.period import DAYS, Ids, Period, count_around, moment_of_day

FLUSH_DELAY = timedelta(seconds=2)
"""How long after the end of a minute its events arrive."""

STOPS_AFTER_FAILURE = 0.45
TRIES_AGAIN_IN_INCIDENT = 0.6
MAX_ATTEMPTS = 3
CONTINUATION_SHARE = 0.35
LATENCY_SPREAD = 0.42
REGULARS_EXPONENT = 2.0
"""The greater it is, the more visits come from few customers."""


@dataclass(frozen=True)
class Visit:
    """One interaction, and how it really went, whether a review says so or not."""

    id: uuid.UUID
    environment: str
    operation: Operation
    occurred_at: datetime
    received_at: datetime
    customer: int | None
    session_ref: str | None
    session_source: str | None
    hint: str | None
    outcome: str
    moment: str
    """`incident`, `before` (an improvement), or the outcome."""
    status_code: int | None
    duration_ms: float


@dataclass(frozen=True)
class _Agent:
    """What stays the same in one session."""

    customer: int | None
    session_ref: str | None
    session_source: str | None
    hint: str | None


class Traffic:
    """The traffic of one environment."""

    def __init__(self, period: Period, ids: Ids, product: ProductContent, environment: EnvironmentContent) -> None:
        self._period, self._ids, self._product, self._environment = period, ids, product, environment
        self._random = period.random(f"traffic {product.slug} {environment.name}")
        self._visit_count = 0
        self._session_count = 0

    def visits(self) -> list[Visit]:
        """Return the visits up to the end of the period, in the order of their arrival."""
        visits = [visit for day in range(DAYS) for visit in self._visits_of_day(day)]
        past_visits = [visit for visit in visits if self._period.is_past(visit.received_at)]
        return sorted(past_visits, key=lambda visit: (visit.received_at, visit.id))

    def _visits_of_day(self, day: int) -> Iterator[Visit]:
        random, flows = self._random, self._product.flows
        mean = self._period.daily_volume(day, self._environment.sessions)
        for _ in range(count_around(random, mean)):
            (flow,) = random.choices(flows, [flow.weight for flow in flows])
            yield from self._session(flow, self._period.at(day) + moment_of_day(random))
        for incident in self._incidents():
            if incident.day == day:
                for _ in range(incident.sessions):
                    hour = random.uniform(incident.hour, incident.hour + incident.hours - 0.1)
                    flow = Flow(weight=1, steps=[incident.operation])
                    yield from self._session(flow, self._period.at(day, hour))

    def _session(self, flow: Flow, begin: datetime) -> Iterator[Visit]:
        random, agent, moment = self._random, self._agent(flow), begin
        for step in flow.steps:
            for _ in range(MAX_ATTEMPTS):
                visit = self._visit(self._product.operation(step), moment, agent)
                yield visit
                moment += timedelta(milliseconds=visit.duration_ms, seconds=random.uniform(3, 45))
                if visit.moment != "incident" or random.random() > TRIES_AGAIN_IN_INCIDENT:
                    break
            if visit.outcome == "failure" and random.random() < STOPS_AFTER_FAILURE:
                return

    def _agent(self, flow: Flow) -> _Agent:
        random, hints = self._random, products().hints
        self._session_count += 1
        number = int(self._product.customers * random.random() ** REGULARS_EXPONENT)
        customer = number if random.random() < self._product.known_share else None
        (hint,) = random.choices(hints, [hint.weight for hint in hints])
        source: str | None = None
        if self._product.operation(flow.steps[0]).surface == "mcp":
            source = "mcp"
        elif customer is not None:
            source = "customer"
        elif random.random() < CONTINUATION_SHARE:
            source = "continuation"
        return _Agent(customer, self._session_ref() if source else None, source, hint.text or None)

    def _session_ref(self) -> str:
        """Return the reference of the newest session, which is the company's own and so the same in each workspace."""
        subject = f"{self._product.slug} {self._environment.name} {self._session_count}"
        return f"s_{hashlib.blake2b(subject.encode(), digest_size=8).hexdigest()}"

    def _visit(self, operation: Operation, moment: datetime, agent: _Agent) -> Visit:
        random, incident = self._random, self._incident_at(operation, moment)
        self._visit_count += 1
        success, partial, kind = self._shares(operation, moment, incident)
        draw = random.random()
        outcome = "success" if draw < success else "partial" if draw < success + partial else "failure"
        codes = incident.codes if incident else operation.codes
        duration_ms = random.lognormvariate(math.log(operation.latency_ms), LATENCY_SPREAD)
        if incident and outcome == "failure":
            duration_ms *= incident.slowdown
        minute = moment.replace(second=0, microsecond=0)
        subject = f"interaction {self._product.slug} {self._environment.name}"
        return Visit(
            id=self._ids.make_at(subject, self._visit_count, moment),
            environment=self._environment.name,
            operation=operation,
            occurred_at=moment.replace(microsecond=moment.microsecond // 1000 * 1000),
            received_at=minute + timedelta(minutes=1) + FLUSH_DELAY,
            customer=agent.customer,
            session_ref=agent.session_ref,
            session_source=agent.session_source,
            hint=agent.hint,
            outcome=outcome,
            moment=kind if kind and outcome != "success" else outcome,
            status_code=_status(random, operation, outcome, codes),
            duration_ms=round(duration_ms, 1),
        )

    def _shares(
        self, operation: Operation, moment: datetime, incident: Incident | None
    ) -> tuple[float, float, str | None]:
        """Return the shares of success and partial success at a moment, and what makes it a special one."""
        if incident:
            return incident.success, incident.partial, "incident"
        for improvement in self._product.improvements:
            if improvement.operation == operation.name and moment < self._period.at(improvement.day):
                return improvement.success, improvement.partial, "before"
        return operation.success, operation.partial, None

    def _incident_at(self, operation: Operation, moment: datetime) -> Incident | None:
        for incident in self._incidents():
            start = self._period.at(incident.day, incident.hour)
            if incident.operation == operation.name and start <= moment < start + timedelta(hours=incident.hours):
                return incident
        return None

    def _incidents(self) -> list[Incident]:
        return self._product.incidents if self._environment.name == "production" else []


def _status(random: Random, operation: Operation, outcome: str, codes: list[int]) -> int | None:
    """Return the status of a response; an MCP call has none."""
    if operation.surface == "mcp":
        return None
    return random.choice(codes) if outcome == "failure" and codes else 200
