"""API errors, and their JSON form.

A package states its own errors by inheriting from one of the families at the end; the family brings the status.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

MAX_PROBLEMS = 20
"""A body can be wrong in a thousand places; an error lists no more than this many."""

STATUSES_WITH_PROBLEMS = (400, 422)
"""Errors with these statuses always list their problems, if only the sentence itself."""

CLOSE: Mapping[str, str] = {"Connection": "close"}
"""What is left of a body that was not read to its end must not be taken for the next request."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a request: where, what, and the limit that was broken. Never the value."""

    pointer: str
    code: str
    message: str
    limits: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the wire shape."""
        return {"pointer": self.pointer, "code": self.code, "message": self.message, **self.limits}


class ApiError(Exception):
    """An error with a status, a code and a sentence for the caller."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"
    sentence: ClassVar[str] = "Something went wrong on our side; the request id helps us to find it."
    headers: Mapping[str, str] = {}
    details: Mapping[str, Any] = {}
    """Members of the body beside those of every error."""

    def __init__(
        self, sentence: str | None = None, *, code: str | None = None, problems: Sequence[Problem] = ()
    ) -> None:
        super().__init__(sentence or self.sentence)
        self.problems = problems[:MAX_PROBLEMS]
        self.slug = code or self.code

    def as_dict(self, request_id: str) -> dict[str, Any]:
        """Return the error body."""
        body: dict[str, Any] = {"error": str(self), "code": self.slug, "requestId": request_id, **self.details}
        problems = self.problems
        if not problems and self.status in STATUSES_WITH_PROBLEMS:
            problems = [Problem("", self.slug, str(self))]
        if problems:
            body["errors"] = [problem.as_dict() for problem in problems]
        return body


class BadRequest(ApiError):
    """The body has the wrong shape or holds what must not be sent."""

    status = 400
    code = "bad_request"
    sentence = "The body has a shape that this endpoint does not take."


class MalformedJson(BadRequest):
    """The body is not JSON, or not a JSON object; the sentence says which."""

    code = "malformed_json"


class DuplicateKey(BadRequest):
    """An object of the body repeats a key, so that two readers could read it differently."""

    code = "duplicate_key"
    sentence = "The body repeats a key; send each member once."


class TooManyMembers(BadRequest):
    """The objects and lists of the body have more members than any valid body of its endpoint."""

    code = "too_many_members"

    def __init__(self, max_members: int) -> None:
        super().__init__(f"The body has too many members: its objects and lists may have {max_members} together.")


class IncompleteBody(BadRequest):
    """The body ended before its announced length, or its chunks are malformed."""

    code = "incomplete_body"
    sentence = "The body was cut off or is badly framed; check Content-Length or the chunks, and send it again."
    headers = CLOSE


class BodyTooLarge(ApiError):
    """The body is larger than its endpoint takes."""

    status = 413
    code = "request_entity_too_large"
    headers = CLOSE

    def __init__(self, max_bytes: int) -> None:
        super().__init__(f"The body is larger than this endpoint takes: {max_bytes} bytes at most.")


class UnsupportedMediaType(ApiError):
    """The body is not sent as plain JSON."""

    status = 415
    code = "unsupported_media_type"
    sentence = "The body is not sent as JSON; send it with Content-Type: application/json."


class UnsupportedEncoding(UnsupportedMediaType):
    """The body is compressed."""

    sentence = "The body is compressed; send plain JSON without a Content-Encoding."


class Unauthorized(ApiError):
    """No valid credential; unknown, revoked and badly signed ones get the same answer."""

    status = 401
    code = "unauthorized"
    sentence = "This endpoint takes a credential in the Authorization header, as a Bearer token."


class InvalidBearerToken(Unauthorized):
    """No valid Bearer token."""

    headers = {"WWW-Authenticate": "Bearer"}


class Forbidden(ApiError):
    """The credential is valid, but this is not allowed."""

    status = 403
    code = "forbidden"
    sentence = "This is not allowed."


class NotFound(ApiError):
    """There is no such resource, or not for this caller."""

    status = 404
    code = "not_found"
    sentence = "There is nothing here under this name."


class Conflict(ApiError):
    """The request contradicts what is already recorded."""

    status = 409
    code = "conflict"
    sentence = "This contradicts what is already recorded."


class Gone(ApiError):
    """The resource was switched off."""

    status = 410
    code = "gone"
    sentence = "This is switched off."


class Unprocessable(ApiError):
    """The body has the right shape and a value that does not fit."""

    status = 422
    code = "invalid_value"
    sentence = "The body has a value that does not fit; errors says where and what fits."


class TooManyRequests(ApiError):
    """The caller has tried too often, and is told how long to wait."""

    status = 429
    code = "too_many_requests"
    sentence = "That was tried too often; please wait for as long as Retry-After says."

    def __init__(self, retry_after_s: int, sentence: str | None = None) -> None:
        super().__init__(sentence)
        self.retry_after_s = retry_after_s
        self.headers = {"Retry-After": str(retry_after_s)}


class Unavailable(ApiError):
    """A server that the service depends on is unavailable."""

    status = 503
    code = "unavailable"
    sentence = "The service cannot do this right now; please try again shortly."
    headers = {"Retry-After": "1"}


class DatabaseUnavailable(Unavailable):
    """The database cannot be reached."""

    code = "database_away"
