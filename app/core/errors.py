"""What can be refused, and how a refusal reads on the wire.

A room states its own facts by inheriting from one of the families at the end; the family brings the status.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

MOST_PROBLEMS = 20
"""A body can be wrong in a thousand places; nobody repairs more than this many at a time."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a body: where, what, and the limit that was broken. Never the value."""

    pointer: str
    code: str
    message: str
    limits: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the wire shape."""
        return {"pointer": self.pointer, "code": self.code, "message": self.message, **self.limits}


class Refusal(Exception):
    """The service understood, and says no."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"
    sentence: ClassVar[str] = "Something went wrong on our side; the request id helps us to find it."
    headers: Mapping[str, str] = {}

    def __init__(
        self, sentence: str | None = None, *, code: str | None = None, problems: Sequence[Problem] = ()
    ) -> None:
        super().__init__(sentence or self.sentence)
        self.problems = problems[:MOST_PROBLEMS]
        self.slug = code or self.code

    def as_dict(self, request_id: str) -> dict[str, Any]:
        """Return the error body."""
        body: dict[str, Any] = {"error": str(self), "code": self.slug, "requestId": request_id}
        if self.problems:
            body["errors"] = [problem.as_dict() for problem in self.problems]
        return body


class BadRequest(Refusal):
    """The body has the wrong shape or holds what must not be sent."""

    status = 400
    code = "bad_request"
    sentence = "The body has a shape that this endpoint does not take."


class MalformedJson(BadRequest):
    """The body is not JSON, or not a JSON object."""

    code = "malformed_json"
    sentence = "The body must be one JSON object in UTF-8."

    def __init__(self) -> None:
        super().__init__(problems=[Problem("", self.code, self.sentence)])


class Unauthorized(Refusal):
    """No valid credential; deliberately the same for every reason."""

    status = 401
    code = "unauthorized"
    sentence = "Send a valid credential for this endpoint in the Authorization header, as a Bearer token."
    headers = {"WWW-Authenticate": "Bearer"}


class Forbidden(Refusal):
    """The credential is valid, but this is not allowed."""

    status = 403
    code = "forbidden"
    sentence = "This is not allowed."


class NotFound(Refusal):
    """There is no such thing, or not for this caller."""

    status = 404
    code = "not_found"
    sentence = "There is nothing here under this name."


class Conflict(Refusal):
    """It contradicts what is already recorded."""

    status = 409
    code = "conflict"
    sentence = "This contradicts what is already recorded."


class Gone(Refusal):
    """It was here, and has been switched off."""

    status = 410
    code = "gone"
    sentence = "This is switched off."


class Unprocessable(Refusal):
    """The body has the right shape and a value that does not fit."""

    status = 422
    code = "invalid_value"
    sentence = "The body has a value that does not fit; errors says where and what fits."


class TooManyRequests(Refusal):
    """The caller has tried too often, and is told how long to wait."""

    status = 429
    code = "too_many_requests"
    sentence = "That was tried too often; please wait for as long as Retry-After says."

    def __init__(self, retry_after_s: int) -> None:
        super().__init__()
        self.retry_after_s = retry_after_s
        self.headers = {"Retry-After": str(retry_after_s)}


class Unavailable(Refusal):
    """Something that the service needs is away for now."""

    status = 503
    code = "unavailable"
    sentence = "The service cannot do this right now; please try again shortly."
    headers = {"Retry-After": "1"}


class DatabaseAway(Unavailable):
    """The database cannot be reached."""

    code = "database_away"
