"""The errors in the API description: their schema, and what each status means."""

from typing import Any

import marshmallow
from limits import RateLimitItemPerMinute

from app.core.errors import (
    ApiError,
    BodyTooLarge,
    Conflict,
    DatabaseUnavailable,
    Forbidden,
    Gone,
    InvalidBearerToken,
    MalformedJson,
    NotFound,
    Problem,
    TooManyRequests,
    Unprocessable,
    UnsupportedEncoding,
)
from app.core.http.body import AGENT_BODY_BYTES
from app.core.limits.limiter import RateLimited
from app.core.limits.rules import limit_policy
from config.limits import LimitName, QuotaName

EXAMPLE_REQUEST_ID = "0f8fad5bd9cb469fa16570867728950e"


class ProblemSchema(marshmallow.Schema):
    """One thing that is wrong with a request."""

    pointer = marshmallow.fields.String(required=True, metadata={"description": "JSON pointer into the body."})
    code = marshmallow.fields.String(required=True)
    message = marshmallow.fields.String(required=True)
    allowed = marshmallow.fields.List(marshmallow.fields.String())
    min = marshmallow.fields.Float()
    max = marshmallow.fields.Float()
    pattern = marshmallow.fields.String()
    rule = marshmallow.fields.String(metadata={"description": "Which screening rule a text met."})


class ErrorSchema(marshmallow.Schema):
    """Every error body."""

    error = marshmallow.fields.String(required=True, metadata={"description": "One sentence for the reader."})
    code = marshmallow.fields.String(required=True, metadata={"description": "A slug for the program."})
    requestId = marshmallow.fields.String(required=True)
    errors = marshmallow.fields.List(
        marshmallow.fields.Nested(ProblemSchema), metadata={"description": "With 400 and 422: every problem."}
    )
    limit = marshmallow.fields.String(
        metadata={"description": "With `rate_limited`: which limit is reached.", "enum": list(LimitName)}
    )
    retryAfterS = marshmallow.fields.Integer(
        metadata={"description": "With `rate_limited`: how many seconds to wait, as in `Retry-After`.", "minimum": 1}
    )
    quota = marshmallow.fields.String(
        metadata={"description": "With `quota_exceeded`: which quota is used up.", "enum": list(QuotaName)}
    )


_DESCRIPTIONS: tuple[tuple[ApiError, str], ...] = (
    (
        MalformedJson("The body is empty; send one JSON object."),
        "The request is not valid HTTP, or its body has the wrong shape; `errors` says where.",
    ),
    (InvalidBearerToken(), "No valid credential; the sentence names the one that this endpoint takes."),
    (Forbidden(), "The credential is valid, but this is not allowed; with `quota_exceeded` not before the next day."),
    (NotFound(), "There is no such resource, or not for this caller."),
    (Conflict(), "The request contradicts what is already recorded."),
    (Gone(), "The environment is switched off."),
    (BodyTooLarge(AGENT_BODY_BYTES), "The body is larger than this endpoint takes."),
    (UnsupportedEncoding(), "The body is compressed."),
    (
        Unprocessable(
            problems=[Problem("/note", "length", "This must have 8 to 500 characters.", {"min": 8, "max": 500})]
        ),
        "A value does not fit; `errors` says where and what fits.",
    ),
    (
        RateLimited(limit_policy(LimitName.CAPABILITY, RateLimitItemPerMinute(120), is_first_unit_shared=True), 37),
        "Sent too often; `Retry-After` says how many seconds to wait, `limit` and `RateLimit-Policy` which one.",
    ),
    (ApiError(), "Something went wrong in the service; the request id helps to find it."),
    (DatabaseUnavailable(), "The service cannot do this right now; try again shortly."),
)


_HEADERS = {
    TooManyRequests.status: {
        "Retry-After": {
            "description": "How many seconds to wait.",
            "required": True,
            "schema": {"type": "integer", "minimum": 1},
        },
        "RateLimit-Policy": {
            "description": "The limit that is reached: its name, its quota `q`, and its window `w` in seconds.",
            "schema": {"type": "string", "example": '"capability";q=120;w=60'},
        },
        "RateLimit": {
            "description": "What remains of it: `r` requests, and all of them again in `t` seconds.",
            "schema": {"type": "string", "example": '"capability";r=0;t=37'},
        },
    }
}


def error_responses() -> dict[int, dict[str, Any]]:
    """Return the OpenAPI response of every error status that an operation may name."""
    return {
        error.status: {
            "description": description,
            "content": {"application/json": {"schema": ErrorSchema, "example": error.as_dict(EXAMPLE_REQUEST_ID)}},
            **({"headers": _HEADERS[error.status]} if error.status in _HEADERS else {}),
        }
        for error, description in _DESCRIPTIONS
    }
