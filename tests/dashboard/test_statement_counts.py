"""Pages execute a bounded number of statements, however many rows they show."""

from datetime import timedelta

import pytest
from flask.testing import FlaskClient

from tests.dashboard.history import count_statements
from tests.reading.fixtures import NOW, Reader
from tests.triage.actions import triage

MINUTE = timedelta(minutes=1)
SESSION = {"session_ref": "visit_1", "session_source": "customer"}
MAX_STATEMENTS = 16
"""Of one page, with those of its login and scope."""


def store(reader: Reader, count: int) -> str:
    """Store interactions of one session with their reviews and reports, and return the id of the oldest."""
    ids = [reader.store_interaction(number * MINUTE, **SESSION) for number in range(count)]
    for number, interaction_id in enumerate(ids):
        reader.store_review(number * MINUTE, interaction_id=interaction_id)
        reader.store_report(
            number * MINUTE, interaction_id=interaction_id, findings=[{"kind": "gap", "topic": f"topic{number}"}]
        )
        reader.store_session(number * MINUTE, ref=f"visit_of_{number}_of_{count}")
        triage(reader.company, interaction_id, "investigating", comment="I look at it.")
    return str(ids[-1])


@pytest.mark.parametrize(
    "path",
    [
        "/feedback",
        "/feedback?q=order",
        "/feedback?triage=investigating",
        "/feedback/findings",
        "/feedback/review/{id}",
        "/interactions",
        "/interactions/{id}",
        "/sessions",
        "/sessions/one?ref=visit_1&source=customer",
    ],
)
def test_a_page_of_many_rows_takes_as_many_statements_as_one_of_few(
    signed_in: FlaskClient, reader: Reader, path: str
) -> None:
    reader.store_session(first_seen_at=NOW - 60 * MINUTE, ref="visit_1", age=-MINUTE)
    counts = []
    for count in (2, 12):
        interaction_id = store(reader, count)
        counts.append(count_statements(signed_in, path.format(id=interaction_id)))
    assert counts[0] == counts[1] <= MAX_STATEMENTS
