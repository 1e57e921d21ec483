"""Decisions, replays, delayed and overtaken handles from many agents, against a simple model."""

import uuid
from typing import Any, ClassVar

from flask.testing import FlaskClient
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from app.core.database import transaction
from app.products.rules import Mode
from tests.factories import Company, bearer, create_company, send_review

SUBJECTS = ["afsub1_" + letter * 43 for letter in "AB"]


class Agents(RuleBasedStateMachine):
    """Agents with handles of two customers and of none, in an environment that asks once."""

    client: ClassVar[FlaskClient]
    handles = Bundle("handles")

    @initialize()
    def create(self) -> None:
        with transaction():
            self.company: Company = create_company(Mode.ASK_ONCE)
        self.subject_decisions: dict[str, tuple[str, int]] = {}
        """Subject to decision and revision."""
        self.uses: dict[str, str] = {}
        """Interaction to the decision that it made."""
        self.handle_list: list[tuple[str, str | None, int, str]] = []

    @rule(target=handles, subject=st.sampled_from([*SUBJECTS, None]), is_stale=st.booleans())
    def respond(self, subject: str | None, is_stale: bool) -> tuple[str, str | None, int, str]:
        """A product response carries a handle that saw the newest decision, or none of them."""
        interaction_id = str(uuid.uuid4())
        revision = 0 if is_stale or subject is None else self.subject_decisions.get(subject, ("", 0))[1]
        claims = {"subject": subject, "revision": revision} if subject else {}
        handle = (interaction_id, subject, revision, self.company.capability(interaction_id, **claims))
        self.handle_list.append(handle)
        return handle

    @rule(handle=handles, decision=st.sampled_from(["approved", "declined"]))
    def decide(self, handle: tuple[str, str | None, int, str], decision: str) -> None:
        """An agent submits what its user said, perhaps late or again."""
        interaction_id, subject, handle_revision, token = handle
        is_replay = interaction_id in self.uses
        has_won = not is_replay and self._may_decide(subject, handle_revision)
        if has_won:
            self.uses[interaction_id] = decision
            if subject:
                self.subject_decisions[subject] = (decision, self.subject_decisions.get(subject, ("", 0))[1] + 1)
        body = self._post("/api/v2/consent/decisions", token, {"decision": decision})
        assert body["changed"] is has_won
        assert body["state"] == self._state(handle)
        may_go_on = self._state(handle) == "feedback_ready" and (has_won or is_replay)
        assert (body["feedback"] is not None) is may_go_on

    @rule(handle=handles)
    def review(self, handle: tuple[str, str | None, int, str]) -> None:
        """A review is taken exactly where introspection says so; one that is stored stays."""
        response = send_review(self.client, handle[3])
        expected = 200 if self._state(handle) == "feedback_ready" or handle[0] in self.reviewed_ids else 403
        assert response.status_code == expected
        if expected == 200:
            self.reviewed_ids.add(handle[0])

    @initialize()
    def nothing_reviewed(self) -> None:
        self.reviewed_ids: set[str] = set()

    @invariant()
    def introspection_agrees(self) -> None:
        for handle in getattr(self, "handle_list", [])[-3:]:
            assert self._post("/api/v2/capabilities/introspect", handle[3], None)["state"] == self._state(handle)

    def _may_decide(self, subject: str | None, handle_revision: int) -> bool:
        if subject is None:
            return True
        revision = self.subject_decisions.get(subject, ("", 0))[1]
        return revision == handle_revision if handle_revision else revision == 0

    def _state(self, handle: tuple[str, str | None, int, str]) -> str:
        interaction_id, subject, *_ = handle
        decision = self.subject_decisions.get(subject, (None, 0))[0] if subject else self.uses.get(interaction_id)
        return {None: "consent_required", "approved": "feedback_ready", "declined": "declined"}[decision]

    def _post(self, path: str, token: str, body: Any) -> Any:
        response = self.client.post(path, json=body, headers=bearer(token))
        assert response.status_code == 200, response.data
        return response.json


def test_agents_never_see_anything_but_what_the_model_says(client: FlaskClient) -> None:
    Agents.client = client
    run_state_machine_as_test(
        Agents,
        settings=settings(
            max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
