"""Two companies, each with a row in every table that its agents and its backend can fill."""

import uuid
from dataclasses import dataclass
from typing import Any

from flask.testing import FlaskClient
from sqlalchemy import text

from app.core.database import session, transaction
from app.interactions import service as interactions
from app.models import METADATA
from app.telemetry import persistence
from tests.context_api import ContextApi, handle, item
from tests.factories import (
    Company,
    bearer,
    create_company,
    create_read_key,
    event,
    observation,
    send_events,
    send_evidence,
    send_review,
)
from tests.reports.test_reports import FULL_REPORT

ACCOUNT, USER = "account_4711", "user_4711"
"""Both companies know their customers by the same references."""


@dataclass(frozen=True)
class Tenant:
    """A company, and the ids of what is stored for it."""

    company: Company
    interaction_id: str
    capability: str
    request_handle: str
    retrieval_id: str
    signal_ids: list[str]
    decision_id: str
    field_key: str
    read_key: str

    def credentials(self) -> dict[str, str]:
        """Return its tokens by the name of the guard that takes them."""
        return {
            "productKey": self.company.product_key,
            "companyKey": self.company.company_key,
            "readKey": self.read_key,
            "capability": self.capability,
            "requestHandle": self.request_handle,
        }


def create_tenant(client: FlaskClient, field_key: str) -> Tenant:
    """Create a company, and use every endpoint for it once."""
    with transaction():
        company = create_company()
    api = ContextApi(client, company)
    interaction_id = str(uuid.uuid4())
    capability = company.capability(interaction_id)
    responses = [
        send_events(client, company, event(interaction_id, customerRef=ACCOUNT, sessionRef="visit_1")),
        send_review(client, capability),
        client.post("/api/v2/reports", json=FULL_REPORT, headers=bearer(capability)),
        send_evidence(client, company, observation()),
        api.put_field(field_key),
    ]
    request = api.ask(accountRef=ACCOUNT, userRef=USER).json
    responses.append(api.answer(request, item(field_key, "slow", remember=True)))
    context = api.retrieve(accountRef=ACCOUNT, userRef=USER).json
    signal_ids = [entry["signalId"] for entry in context["items"]]
    body = {"externalDecisionId": "d1", "contextRetrievalId": context["retrievalId"], "signalIds": signal_ids}
    decision = api.post("/personalization/decisions", body)
    decision_id = decision.json["decision"]["id"]
    outcome = {"externalOutcomeId": "o1", "decisionId": decision_id, "outcome": "conversion"}
    responses += [decision, api.post("/personalization/outcomes", outcome)]
    assert {response.status_code for response in responses} <= {200, 201, 202}, [
        response.text for response in responses
    ]
    persistence.persist_waiting_batches()
    interactions.promote_queued_interactions()
    return Tenant(
        company,
        interaction_id,
        capability,
        handle(request),
        context["retrievalId"],
        signal_ids,
        decision_id,
        field_key,
        create_read_key(company.environment_id),
    )


def stored_rows(tenant: Tenant) -> dict[str, list[Any]]:
    """Return every row of a company, by table; when a key was last used does not count."""
    company = tenant.company
    ids = {
        "workspace_id": company.workspace_id,
        "product_id": company.product_id,
        "environment_id": company.environment_id,
    }
    rows = {}
    with transaction():
        for table in METADATA.sorted_tables:
            column = next((name for name in ids if name in table.columns), None)
            if column is None:
                continue
            columns = ", ".join(entry.name for entry in table.columns if entry.name != "last_used_at")
            statement = text(f"SELECT {columns} FROM {table.name} WHERE {column} = :id ORDER BY 1, 2")
            rows[table.name] = [tuple(row) for row in session().execute(statement, {"id": ids[column]})]
    return rows
