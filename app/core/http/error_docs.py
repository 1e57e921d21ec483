"""The errors in the API description: their schema, and what each status means."""

from typing import Any

import marshmallow

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


_DESCRIPTIONS: tuple[tuple[ApiError, str], ...] = (
    (
        MalformedJson("The body is empty; send one JSON object."),
        "The request is not valid HTTP, or its body has the wrong shape; `errors` says where.",
    ),
    (InvalidBearerToken(), "No valid credential; the sentence names the one that this endpoint takes."),
    (Forbidden(), "The credential is valid, but this is not allowed."),
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
    (TooManyRequests(60), "Tried too often; `Retry-After` says how many seconds to wait."),
    (ApiError(), "Something went wrong in the service; the request id helps to find it."),
    (DatabaseUnavailable(), "The service cannot do this right now; try again shortly."),
)


def error_responses() -> dict[int, dict[str, Any]]:
    """Return the OpenAPI response of every error status that an operation may name."""
    return {
        error.status: {
            "description": description,
            "content": {"application/json": {"schema": ErrorSchema, "example": error.as_dict(EXAMPLE_REQUEST_ID)}},
        }
        for error, description in _DESCRIPTIONS
    }
