"""The WSGI adapter: appends the envelope and what the product asks, and lets everything else pass byte for byte.

Whatever goes wrong in here, the product's response goes out as the product made it.
"""

import logging
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_feedback import files, markup, questions
from agent_feedback.asking import INTERACTION, Place
from agent_feedback.eligibility import PathRules
from agent_feedback.envelope import FIELD
from agent_feedback.held import Headers, Held, ReadAhead, close
from agent_feedback.operation import normalize_operation
from agent_feedback.questions import Asked, Passage, Questions
from agent_feedback.relay import Relay
from agent_feedback.splice import read_names, splice

if TYPE_CHECKING:
    from agent_feedback.client import AgentFeedback, Preparation

logger = logging.getLogger("agent_feedback")

# These describe the bytes as they were.
_OF_THE_BYTES = frozenset(
    {"content-length", "etag", "digest", "content-digest", "repr-digest", "content-md5", "accept-ranges"}
)
# These would let a cache keep what is for one customer.
_OF_CACHES = frozenset({"cache-control", "cdn-cache-control", "surrogate-control", "expires"})
_REPLACED = _OF_THE_BYTES | _OF_CACHES
_PRIVATE = ("Cache-Control", "private, no-store")


class Extension(NamedTuple):
    """A response's new body, and the headers that go with it."""

    body: bytes
    headers: Headers


class WsgiAdapter:
    """A WSGI application around another one."""

    def __init__(self, app: Callable[..., Any], client: "AgentFeedback") -> None:
        self._app, self._client = app, client
        options = client.options
        self._paths = PathRules(options.include, options.exclude)
        discovery = options.endpoint + files.read("contract.json")["paths"]["discovery"]
        self._link = ("Link", f'<{discovery}>; rel="agent-feedback"; type="application/json"')
        self._questions = Questions(client, options.company_key) if options.company_key else None
        self._relay = Relay(options.endpoint, options.relay_timeout) if options.company_key else None
        self._known_mistakes: set[str] = set()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        if self._relay is not None and self._relay.serves(environ):
            return self._relay(environ, start_response)
        path = _path(environ)
        # The headers of a HEAD response speak of a body that nobody sends.
        if environ.get("REQUEST_METHOD") == "HEAD" or not self._paths.covers(path):
            return self._app(environ, start_response)  # type: ignore[no-any-return]
        return self._watch(environ, start_response, path)

    def _watch(self, environ: dict[str, Any], start_response: Callable[..., Any], path: str) -> Iterable[bytes]:
        place = self._make_room(environ, path)
        if INTERACTION in environ:
            start_response = _privately(start_response)
        began, held = time.perf_counter(), Held(start_response, self._client.options, place)
        chunks = self._app(environ, held)
        if not held.is_eligible or not held.is_short(chunks):
            held.settle()
            return chunks  # type: ignore[no-any-return]
        try:
            read = ReadAhead(chunks, self._client.options.max_body_bytes)
            duration_ms = (time.perf_counter() - began) * 1000
            if held.is_eligible:  # else it wrote, or started over, while its body was read
                self._finish(environ, read, held, path, duration_ms)
        except BaseException:
            close(chunks)
            raise
        return read if read.is_used_up else chunks

    def _make_room(self, environ: dict[str, Any], path: str) -> Place | None:
        try:
            return self._questions.prepare(environ, path) if self._questions else None
        except Exception as error:
            self._warn(type(error).__name__)
            return None

    def _finish(self, environ: dict[str, Any], read: ReadAhead, held: Held, path: str, duration_ms: float) -> None:
        try:
            extension = self._extend(environ, read, held, path, duration_ms)
        except Exception as error:  # a callback of the company, or a mistake of ours
            self._warn(type(error).__name__)
            extension = None
        if extension is None:
            held.settle()
            return
        kept = [(name, value) for name, value in held.headers if name.lower() not in _REPLACED]
        kept += [("Content-Length", str(len(extension.body))), _PRIVATE]
        held.settle(kept + extension.headers)
        read.replace(extension.body)

    def _extend(
        self, environ: dict[str, Any], read: ReadAhead, held: Held, path: str, duration_ms: float
    ) -> Extension | None:
        body = read.body()
        if body is None or held.length not in (None, len(body)):
            return None
        asked = self._questions.find(held.place, path) if self._questions and held.place else None
        interaction = self._client.prepare(asked.interaction_id if asked else None)
        references = interaction.references(environ)
        passage = Passage(environ, path, held.surface, held.status_code, round(duration_ms, 3), references)
        if held.surface == "html":
            return asked and self._extend_html(body, passage, asked)
        return self._extend_json(body, passage, asked, interaction)

    def _extend_html(self, body: bytes, passage: Passage, asked: Asked) -> Extension | None:
        place = markup.find_place(body, questions.ELEMENT)
        action = None if place is None else self._action(passage, asked)
        if place is None or action is None:
            return None
        return Extension(markup.insert(body, place, questions.ELEMENT, action), asked.headers)

    def _extend_json(
        self, body: bytes, passage: Passage, asked: Asked | None, interaction: "Preparation"
    ) -> Extension | None:
        names = read_names(body)
        if names is None:
            return None
        members: dict[str, Any] = {}
        headers: Headers = []
        operation = normalize_operation(passage.path)
        if self._client.options.mode != "off" and FIELD not in names:
            members[FIELD] = interaction.envelope(passage.references.get("customerRef"))
            headers.append(self._link)
        action = self._action(passage, asked) if asked and questions.FIELD not in names else None
        if asked and action is not None:
            members[questions.FIELD] = action
            # The service has taken this name; one that it refuses would cost telemetry its whole batch.
            operation = asked.operation
            headers += asked.headers
        if not members:
            return None
        extended = splice(body, members)
        if FIELD in members:
            details = {"statusCode": passage.status_code, "durationMs": passage.duration_ms, **passage.references}
            interaction.tell("http_json", operation, **details)
        return Extension(extended, headers)

    def _action(self, passage: Passage, asked: Asked) -> dict[str, Any] | None:
        try:
            return self._questions.action(asked, passage) if self._questions else None
        except Exception as error:  # an answer that cannot be used; the envelope goes out all the same
            self._warn(type(error).__name__)
            return None

    def _warn(self, mistake: str) -> None:
        """Warn once of each kind: there may be thousands of responses a second."""
        if mistake not in self._known_mistakes:
            self._known_mistakes.add(mistake)
            logger.warning("something was not added (%s); the rest of the response is as the product made it", mistake)


def _privately(start_response: Callable[..., Any]) -> Callable[..., Any]:
    """Keep a response out of caches: what it is made from belongs to one customer."""

    def start(status: str, headers: Headers, *failure: Any) -> Any:
        kept = [(name, value) for name, value in headers if name.lower() not in _OF_CACHES]
        return start_response(status, [*kept, _PRIVATE], *failure)

    return start


def _path(environ: dict[str, Any]) -> str:
    """Return the path as text; WSGI has its bytes as Latin-1."""
    path: str = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    return path.encode("latin-1", "replace").decode("utf-8", "replace")
