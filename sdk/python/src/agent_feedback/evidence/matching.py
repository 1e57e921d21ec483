"""Which requests count: a whole bot token in the user agent, or exactly a host of the list as the referrer."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from agent_feedback.evidence.allowlist import Allowlist
from agent_feedback.evidence.record import Record

METHODS = ("GET", "HEAD")

# A product of a user agent (RFC 9110, section 10.1.5) begins the text or follows a space or what opens or divides a
# comment. After a slash it would be a version or part of a URL, and "+Claude-User@…" is a mail address.
_BEFORE = r"(?:(?<=[ \t(;,])|\A)"
_AFTER = r"(?=[ \t/;),]|\Z)"

# All that stands between the slashes and the path. Nothing is taken off and nothing made alike, so ports, credentials,
# backslashes, final dots and capital letters make another name.
_AUTHORITY = re.compile(r"https?://([^/?#]*)")


class Match(NamedTuple):
    """What a request shows; one of the two is there."""

    token: str | None
    host: str | None


class Matcher:
    """Finds the requests of one allowlist."""

    def __init__(self, allowlist: Allowlist, marks: Iterable[bytes] = ()) -> None:
        self._hosts = allowlist.hosts
        tokens = "|".join(map(re.escape, allowlist.tokens))
        self._token = re.compile(f"{_BEFORE}({tokens}){_AFTER}") if tokens else None
        needles = [name.encode() for name in (*allowlist.tokens, *allowlist.hosts)] + list(marks)
        # A needle within which another one lies finds nothing more.
        least = [needle for needle in needles if not any(other != needle and other in needle for other in needles)]
        self._needles = re.compile(b"|".join(map(re.escape, least))) if least else None

    def candidates(self, lines: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that could match, with where they begin; one search over all, since most cannot."""
        if self._needles is None:
            return
        found = self._needles.search(lines)
        while found:
            begin = lines.rfind(b"\n", 0, found.start()) + 1
            end = lines.find(b"\n", found.end())
            end = len(lines) if end < 0 else end
            yield begin, lines[begin:end]
            found = self._needles.search(lines, end)

    def match(self, record: Record) -> Match | None:
        """Return what a request shows, if anything that may be sent."""
        if record.method not in METHODS:
            return None
        match = Match(self.token(record.user_agent), self.host(record.referrer))
        return match if match.token or match.host else None

    def token(self, user_agent: str) -> str | None:
        """Return the first token: products are named in the order of their significance."""
        found = self._token.search(user_agent) if self._token else None
        return found[1] if found else None

    def host(self, referrer: str) -> str | None:
        """Return the referrer's host."""
        found = _AUTHORITY.match(referrer)
        return found[1] if found and found[1] in self._hosts else None
