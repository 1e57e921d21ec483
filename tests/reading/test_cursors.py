"""A cursor is taken as the service has written it, and for its own list only."""

import base64

import pytest

from app.core.database import transaction
from app.reading.rules import write_cursor
from app.summaries.rules import DEFAULT_DAYS, Sort
from tests.factories import Company, create_company, create_read_key
from tests.reading.fixtures import Reader, forge_cursor
from tests.reading.test_lists import LISTS

CURSOR_PROBLEM = {
    "pointer": "/cursor",
    "code": "cursor",
    "message": "This is no cursor of this list with these filters; begin again without one.",
}


def test_a_cursor_of_another_list_filter_or_environment_is_refused(reader: Reader) -> None:
    with transaction():
        other_company = create_company()
    other = Reader(reader.client, other_company, create_read_key(other_company.environment_id))
    for _ in range(2):
        reader.store_review(interaction_id=reader.store_interaction())
    cursor = reader.get("reviews", limit=1).json["nextCursor"]
    assert reader.get("reviews", limit=9, cursor=cursor).status_code == 200
    for response in (
        reader.get("interactions", cursor=cursor),
        reader.get("operations", cursor=cursor),
        reader.get("reviews", cursor=cursor, outcome="success"),
        reader.get("reviews", cursor=cursor, order="oldest"),
        other.get("reviews", cursor=cursor),
    ):
        assert (response.status_code, response.json["errors"]) == (422, [CURSOR_PROBLEM])


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("cursor", ["x", "bnVsbA", "W10", "W1siYSJdXQ", "-" * 999, "A" * 40])
def test_rubbish_is_no_cursor(reader: Reader, path: str, cursor: str) -> None:
    response = reader.get(path, cursor=cursor)
    assert (response.status_code, response.json["errors"]) == (422, [CURSOR_PROBLEM])


AT, ID = "2026-01-02T03:04:05+00:00", "5b0e7f66-21a4-4c3e-9d5c-0f6a3f3f7b10"


@pytest.mark.parametrize(
    "place",
    [
        [],
        [AT],
        [AT, ID, ID],
        [AT, ID.upper()],
        [AT, f"{{{ID}}}"],
        ["2026-01-02T03:04:05Z", ID],
        ["2026-01-02 03:04:05+00:00", ID],
        ["2026-01-02T04:04:05+01:00", ID],
        ["2026-01-02T03:04:05", ID],
        ["20260102T030405+00:00", ID],
        ["0001-01-01T00:00:00+00:00", ID],
        ["9999-12-31T23:59:59-01:00", ID],
    ],
)
def test_a_place_that_no_page_has_is_refused(reader: Reader, place: list[str]) -> None:
    reader.store_interaction()
    reader.store_interaction()
    cursor = reader.get("interactions", limit=1).json["nextCursor"]
    assert reader.get("interactions", cursor=forge_cursor(cursor, [AT, ID])).status_code == 200
    response = reader.get("interactions", cursor=forge_cursor(cursor, place))
    assert (response.status_code, response.json["errors"]) == (422, [CURSOR_PROBLEM])


def test_another_text_of_the_same_cursor_is_refused(reader: Reader) -> None:
    reader.store_interaction()
    reader.store_interaction()
    cursor = reader.get("interactions", limit=1).json["nextCursor"]
    content = base64.urlsafe_b64decode(f"{cursor}==")
    for other in (content.replace(b",", b", "), content + b" ", content.replace(b"T", b"\\u0054")):
        forged = base64.urlsafe_b64encode(other).rstrip(b"=").decode()
        assert reader.get("interactions", cursor=forged).status_code == 422
    assert reader.get("interactions", cursor=cursor).status_code == 200


NOT_FINITE = ["NaN", "nan", "inf", "-Infinity", "1e99999"]
OTHER_FORMS = ["1_0", "1_0.0", " 1.0 ", "\N{ARABIC-INDIC DIGIT ONE}", "1", "+1.0", "one", ""]


@pytest.mark.parametrize(
    "place", [*([value, "/a"] for value in NOT_FINITE + OTHER_FORMS), ["1.0", "a\0b"], ["1.0", "\ud800"]]
)
def test_a_forged_cursor_is_refused(reader: Reader, company: Company, place: list[str]) -> None:
    cursor = write_cursor(["operations", company.environment_id, DEFAULT_DAYS, Sort.INTERACTIONS, None], ["1.0", "/a"])
    assert reader.get("operations", cursor=cursor).status_code == 200
    assert reader.get("operations", cursor=forge_cursor(cursor, place)).status_code == 422
