"""Which rule passed a response over, as far as that can be seen from outside."""

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from agent_feedback import protocol_files
from agent_feedback.agent import Page
from agent_feedback.agent.json_reader import read_json
from agent_feedback.eligibility import PathRules

_CONTRACT: dict[str, Any] = protocol_files.read("contract.json")
_ELIGIBILITY, _CACHE = _CONTRACT["eligibility"], _CONTRACT["cache"]
_MAX_BODY_BYTES: int = _CONTRACT["options"]["maxBodyBytes"]["default"]


class Reason(NamedTuple):
    """A rule that a response breaks, by the name of its subject, and a sentence on it."""

    rule: str
    sentence: str


def find_reasons(page: Page) -> list[Reason]:
    """Return what keeps an envelope out of a response, in the order in which it is looked at."""
    sentences = ((rule, find_sentence(page)) for rule, find_sentence in _RULES)
    reasons = [Reason(rule, sentence) for rule, sentence in sentences if sentence]
    return reasons or [Reason("mode", _NOTHING_SEEN)]


_NOTHING_SEEN = (
    "nothing of this response keeps an envelope out: either the product has no SDK, or its mode is off, the path is "
    "not included, or AGENT_FEEDBACK_ENABLED is false"
)


def _path(page: Page) -> str | None:
    path = unquote(urlsplit(page.url).path) or "/"
    return None if PathRules(["/**"], []).covers(path) else f"the path {path} never carries an envelope"


def _status(page: Page) -> str | None:
    least, most = _ELIGIBILITY["minStatus"], _ELIGIBILITY["maxStatus"]
    status, excluded = page.status_code, _ELIGIBILITY["excludedStatuses"]
    if least <= status <= most and status not in excluded:
        return None
    target = f", to {page.headers['location']}" if "location" in page.headers else ""
    numbers = ", ".join(map(str, excluded))
    return f"the status is {status}{target}; only {least} to {most} without {numbers} carry one"


def _range(page: Page) -> str | None:
    return "it is a part of a resource (Content-Range)" if "content-range" in page.headers else None


def _encoding(page: Page) -> str | None:
    encoding = page.headers.get("content-encoding", "identity").strip().lower()
    if encoding in _ELIGIBILITY["contentEncodings"]:
        return None
    return f"it is compressed ({encoding}); the adapter has to be inside of what compresses"


def _content_type(page: Page) -> str | None:
    content_type = page.headers.get("content-type", "")
    if not content_type:
        return "it has no Content-Type"
    media_type, _, parameters = (part.strip().lower() for part in content_type.partition(";"))
    if _is_json(media_type):
        charsets = _ELIGIBILITY["jsonCharsets"]
    elif media_type in _ELIGIBILITY["htmlTypes"]:
        charsets = _ELIGIBILITY["htmlCharsets"]
    else:
        return f"its type is {content_type}; only JSON and HTML carry one"
    if not parameters:
        return None
    name, _, value = (part.strip() for part in parameters.partition("="))
    if name == "charset" and value.removeprefix('"').removesuffix('"') in charsets:
        return None
    return f"its type is {content_type}; the only parameter may be a charset of {', '.join(charsets)}"


def _cache_policy(page: Page) -> str | None:
    headers = page.headers
    policies = [name for name in _CACHE["sharedHeaders"] if name in headers]
    directives = {part.strip().lower() for part in headers.get("cache-control", "").split(",")}
    if not policies and directives & {*_CACHE["privateDirectives"]}:
        return None
    names = {directive.partition("=")[0].strip() for directive in directives}
    policies += [f"Cache-Control: {name}" for name in _CACHE["sharedDirectives"] if name in names]
    policies += [name for name in _CACHE["lifetimeHeaders"] if name in headers]
    if not policies:
        return None
    return (
        f"shared caches may store it ({', '.join(policies)}), and the cache mode safe leaves it alone; the cache modes "
        "private and request do not, nor does a policy with private or no-store"
    )


def _size(page: Page) -> str | None:
    if len(page.content) > _MAX_BODY_BYTES:
        return f"its body has {len(page.content)} bytes; max_body_bytes is {_MAX_BODY_BYTES} unless it is raised"
    return "it is a stream without a Content-Length" if "content-length" not in page.headers else None


def _body(page: Page) -> str | None:
    media_type = page.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not _is_json(media_type):
        return None
    try:
        content = read_json(page.content)
    except ValueError:
        return "its body is no JSON"
    has_member = isinstance(content, dict) and _CONTRACT["members"]["envelope"] in content
    return "its JSON has a member _agentFeedback of its own" if has_member else None


def _is_json(media_type: str) -> bool:
    return media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json"))


_RULES: tuple[tuple[str, Callable[[Page], str | None]], ...] = (
    ("path", _path),
    ("status", _status),
    ("range", _range),
    ("encoding", _encoding),
    ("type", _content_type),
    ("cache", _cache_policy),
    ("size", _size),
    ("body", _body),
)
