"""Rows of the list of feedback that are ticked are triaged at once."""

import re
import uuid
from collections.abc import Iterable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.accounts.users import create_user
from app.core.database import transaction
from tests.dashboard.browser import fields
from tests.dashboard.history import export
from tests.factories import create_company
from tests.reading.fixtures import Reader
from tests.triage.actions import get_feedback, owner_login, triage

MINUTE = timedelta(minutes=1)


def ticked(page: TestResponse, *interaction_ids: uuid.UUID, **values: str) -> dict[str, Any]:
    return {**fields(page), "item": [f"review:{id_}" for id_ in interaction_ids], "state": "resolved", **values}


def states(client: FlaskClient, ids: Iterable[uuid.UUID]) -> list[str]:
    shown = {item["interactionId"]: item["triage"] for item in export(client, "/feedback/export.ndjson")}
    return [shown[str(id_)] for id_ in ids]


def test_ticked_rows_are_set_at_once_and_the_list_keeps_its_filters(signed_in: FlaskClient, reader: Reader) -> None:
    ids = [reader.store_review(number * MINUTE, outcome="failure") for number in range(3)]
    with transaction():
        owner_id = owner_login(reader.company).user_id
    triage(reader.company, ids[0], "investigating", assignee_id=owner_id)
    page = signed_in.get("/feedback?outcome=failure")
    (action,) = re.findall(r'action="(/feedback/triage[^"]*)"', page.text)
    response = signed_in.post(unescape(action), data=ticked(page, ids[0], ids[2]))
    assert response.status_code == 303
    assert "outcome=failure" in response.location
    assert "The state is set." in signed_in.get(response.location).text
    assert states(signed_in, ids) == ["resolved", "new", "resolved"]
    with transaction():
        assert get_feedback(reader.company, ids[0]).assignee_id == owner_id
    entries = [entry["subject"] for entry in export(signed_in, "/audit/export.ndjson?action=feedback.triaged")]
    assert sorted(entries[:2]) == sorted(map(str, (ids[0], ids[2])))


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ({"item": []}, 303),
        ({"item": ["review:nothing"]}, 404),
        ({"item": [f"review:{uuid.uuid4()}" for _ in range(51)]}, 422),
        ({"state": "done"}, 422),
        ({"csrf_token": ""}, 403),
    ],
)
def test_a_wrong_bulk_form_changes_nothing(
    signed_in: FlaskClient, reader: Reader, values: dict[str, Any], status: int
) -> None:
    interaction_id = reader.store_review()
    form = ticked(signed_in.get("/feedback"), interaction_id) | values
    response = signed_in.post("/feedback/triage", data=form)
    assert response.status_code == status
    if status == 303:
        assert "nothing is changed" in signed_in.get(response.location).text
    assert states(signed_in, [interaction_id]) == ["new"]


def test_one_row_of_another_company_leaves_all_as_they_are(signed_in: FlaskClient, reader: Reader) -> None:
    with transaction():
        other_company = create_company()
    ids = [reader.store_review(), reader.store_review(environment_id=other_company.environment_id)]
    response = signed_in.post("/feedback/triage", data=ticked(signed_in.get("/feedback"), *ids))
    assert response.status_code == 404
    assert states(signed_in, ids[:1]) == ["new"]


def test_a_member_ticks_nothing(client: FlaskClient, reader: Reader) -> None:
    interaction_id = reader.store_review(outcome="failure")
    with transaction():
        colleague = create_user(reader.company.workspace_id, "colleague@example.com", "member")
    client.post("/api/session", json={"email": colleague.email, "password": colleague.password})
    page = client.get("/feedback")
    assert str(interaction_id) in page.text
    assert "checkbox" not in page.text
    assert client.post("/feedback/triage", data=ticked(page, interaction_id)).status_code == 403
