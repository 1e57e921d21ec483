"""Match requests: a whole bot token in the user agent, or a referrer whose host is exactly one of the allowlist."""

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

# Everything between the slashes and the path. Nothing is stripped or normalized, so a port, credentials, a backslash, a
# final dot or a capital letter makes another host.
_AUTHORITY = re.compile(r"https?://([^/?#]*)")


class Match(NamedTuple):
    """The token or the referrer's host of a request; at least one is set."""

    token: str | None
    host: str | None


class Matcher:
    """Matches requests against one allowlist."""

    def __init__(self, allowlist: Allowlist, markers: Iterable[bytes] = ()) -> None:
        self._hosts = allowlist.hosts
        tokens = "|".join(map(re.escape, allowlist.tokens))
        self._token = re.compile(f"{_BEFORE}({tokens}){_AFTER}") if tokens else None
        needles = [name.encode() for name in (*allowlist.tokens, *allowlist.hosts)] + list(markers)
        # A needle that contains another one finds no further line.
        shortest_needles = [
            needle for needle in needles if not any(part != needle and part in needle for part in needles)
        ]
        self._needles = re.compile(b"|".join(map(re.escape, shortest_needles))) if shortest_needles else None

    def candidates(self, lines: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the offset and text of the lines that could match; one search over all of them, since most cannot."""
        if self._needles is None:
            return
        hit = self._needles.search(lines)
        while hit:
            begin = lines.rfind(b"\n", 0, hit.start()) + 1
            end = lines.find(b"\n", hit.end())
            end = len(lines) if end < 0 else end
            yield begin, lines[begin:end]
            hit = self._needles.search(lines, end)

    def match(self, record: Record) -> Match | None:
        """Return the token and host of a request, or None if it must not be sent."""
        if record.method not in METHODS:
            return None
        match = Match(self.token(record.user_agent), self.host(record.referrer))
        return match if match.token or match.host else None

    def token(self, user_agent: str) -> str | None:
        """Return the first token of a user agent; RFC 9110 lists products by decreasing significance."""
        token_match = self._token.search(user_agent) if self._token else None
        return token_match[1] if token_match else None

    def host(self, referrer: str) -> str | None:
        """Return the host of a referrer if it is on the allowlist."""
        authority = _AUTHORITY.match(referrer)
        return authority[1] if authority and authority[1] in self._hosts else None
