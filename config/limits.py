"""The limits of requests and the quotas of what grows: their names and defaults.

Each is a setting: `AGENT_FEEDBACK_<NAME>_LIMIT` and `AGENT_FEEDBACK_<NAME>_QUOTA`.
"""

from enum import StrEnum
from typing import Any

from limits import RateLimitItem, parse_many
from marshmallow import Schema, ValidationError, fields, validate

MAX_WINDOW_S = 24 * 60 * 60
MAX_AMOUNT = 1_000_000_000_000
MISTAKE = "must be a number of requests and a period of up to a day, such as 600/minute, or 0 for none"


class LimitName(StrEnum):
    """Whose requests are limited."""

    ADDRESS = "address"
    """The requests of one client address."""
    UNAUTHENTICATED = "unauthenticated"
    """The requests of one client address without a valid credential."""
    CAPABILITY = "capability"
    """The requests with one interaction's capability, or with one request's handle."""
    KEY = "key"
    """The requests with one product or company key."""
    READ_KEY = "read_key"
    """The requests with one read key, each of which may look at thousands of rows."""
    WORKSPACE = "workspace"
    """The requests with any credential of one workspace."""


class QuotaName(StrEnum):
    """What is counted for each environment and UTC day."""

    EVENTS = "events"
    REVIEWS = "reviews"
    REPORTS = "reports"
    QUESTIONS = "questions"
    """Requests for customer context."""
    EVIDENCE = "evidence"
    """Events of HTTP request evidence."""


DEFAULT_LIMITS = {
    # One backend that sends 5,000 events a second in batches of 50 needs 6,000 of the 120,000.
    LimitName.ADDRESS: "120000/minute",
    LimitName.UNAUTHENTICATED: "6000/minute",
    # An agent needs about fifteen: two introspections, a decision, a review, a report that counts nine times.
    LimitName.CAPABILITY: "120/minute",
    LimitName.KEY: "120000/minute",
    # Of 200 rows each: 120,000 rows a minute. The most expensive pages take a tenth of a core.
    LimitName.READ_KEY: "600/minute",
    LimitName.WORKSPACE: "240000/minute",
}

DEFAULT_QUOTAS = {
    # 5,000 events a second for a whole day are 432 millions.
    QuotaName.EVENTS: 500_000_000,
    QuotaName.REVIEWS: 10_000_000,
    QuotaName.REPORTS: 10_000_000,
    QuotaName.QUESTIONS: 10_000_000,
    QuotaName.EVIDENCE: 500_000_000,
}


def limit_variable(name: LimitName) -> str:
    """Return the environment variable of a limit."""
    return f"AGENT_FEEDBACK_{name.upper()}_LIMIT"


def quota_variable(name: QuotaName) -> str:
    """Return the environment variable of a quota."""
    return f"AGENT_FEEDBACK_{name.upper()}_QUOTA"


def parse_limit(text: str) -> RateLimitItem | None:
    """Return the limit of a text such as `600/minute`, None for `0`; raise ValueError for anything else."""
    if text.strip() == "0":
        return None
    items = parse_many(text)
    if len(items) != 1 or not 1 <= items[0].amount <= MAX_AMOUNT or items[0].get_expiry() > MAX_WINDOW_S:
        raise ValueError(MISTAKE)
    return items[0]


class RequestLimit(fields.String):
    """A limit of requests; None for `0`."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        try:
            return parse_limit(super()._deserialize(value, attr, data, **kwargs))
        except ValueError:
            raise ValidationError(MISTAKE) from None


LimitSettingsSchema = Schema.from_dict(
    {
        **{limit_variable(name): RequestLimit(load_default=parse_limit(text)) for name, text in DEFAULT_LIMITS.items()},
        **{
            quota_variable(name): fields.Integer(load_default=number, validate=validate.Range(0, MAX_AMOUNT))
            for name, number in DEFAULT_QUOTAS.items()
        },
    },
    name="LimitSettingsSchema",
)
"""The environment variables of all limits and quotas."""
