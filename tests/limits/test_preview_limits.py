"""A preview counts for the limits of the request that it is a preview of."""

import pytest
from flask.testing import FlaskClient

from tests.factories import NOTE, Company, bearer
from tests.limits.conftest import SetLimits
from tests.limits.test_limits import long_report


@pytest.mark.parametrize(
    ("path", "body"),
    [("outcomes", {"outcome": "success", "note": NOTE}), ("reports", {"summary": "It worked as documented."})],
)
def test_a_preview_counts_as_what_it_shows(
    client: FlaskClient, company: Company, set_limits: SetLimits, path: str, body: dict[str, str]
) -> None:
    set_limits(capability="2/minute")
    headers = bearer(company.capability())
    paths = (f"/api/v2/{path}/preview", f"/api/v2/{path}", f"/api/v2/{path}/preview")
    assert [client.post(path, json=body, headers=headers).status_code for path in paths] == [200, 200, 429]


def test_a_preview_of_a_report_counts_by_its_length_too(
    client: FlaskClient, company: Company, set_limits: SetLimits
) -> None:
    set_limits(capability="8/minute")
    body, headers = long_report(2800), bearer(company.capability())
    statuses = [client.post("/api/v2/reports/preview", json=body, headers=headers).status_code for _ in range(2)]
    assert statuses == [200, 429]
