"""Which decisions are found by their retrievals."""

import uuid
from datetime import timedelta

from app.core import clock
from app.core.database import transaction
from app.personalization.queries import list_decisions_of_retrievals
from tests.dashboard.history import insert
from tests.factories import Company


def test_decisions_of_retrievals_are_looked_for_from_an_instant_on(company: Company) -> None:
    now, customer_id, retrieval_id = clock.now(), uuid.uuid4(), uuid.uuid4()
    for hours in (1, 3):
        values = {
            "product_id": company.product_id,
            "external_id": f"{hours} hours ago",
            "id": uuid.uuid4(),
            "customer_id": customer_id,
            "retrieval_id": retrieval_id,
            "purpose": "product_personalization",
            "signal_ids": "{}",
            "created_at": now - timedelta(hours=hours),
        }
        insert("personalization_decisions", values)

    def found(hours: int) -> list[str]:
        since = now - timedelta(hours=hours)
        rows = list_decisions_of_retrievals(company.product_id, customer_id, [retrieval_id], since=since, limit=5)
        return [row.external_decision_id for row in rows]

    with transaction():
        assert found(2) == ["1 hours ago"]
        assert found(4) == ["3 hours ago", "1 hours ago"]
