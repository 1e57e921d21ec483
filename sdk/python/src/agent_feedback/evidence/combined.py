"""The combined format of Apache and nginx, with or without the virtual host in front."""

import re

from agent_feedback.evidence.record import Malformed, Record, moment, status

# Each part begins where the part before must end, so a hostile line costs one pass.
_QUOTED = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
_LINE = re.compile(
    r"(?:[^ :]+:\d{1,5} )?([^ ]+) [^\[]{0,1024}\[([^\]\[]{1,40})\] "
    + _QUOTED
    + r" (\d{3}) [^ ]+ "
    + _QUOTED
    + " "
    + _QUOTED,
    re.ASCII | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "v": "\v", "f": "\f"}


def parse(line: bytes) -> Record:
    """Read one line, or raise `Malformed`."""
    found = _LINE.match(line.decode("latin-1"))
    if found is None:
        raise Malformed("line")
    address, time, request, code, referrer, user_agent = found.groups()
    return Record(
        observed_at=moment(time),
        method=request.partition(" ")[0],
        status=status(code),
        user_agent=_text(user_agent),
        referrer=_text(referrer),
        address=address,
    )


def looks_like(line: bytes) -> bool:
    """Tell whether this is a line of this format."""
    try:
        parse(line)
    except Malformed:
        return False
    return True


def _text(quoted: str) -> str:
    """Undo what servers do to quotes, backslashes and what is not ASCII."""
    if quoted == "-":
        return ""
    return _ESCAPE.sub(_unescape, quoted) if "\\" in quoted else quoted


def _unescape(found: "re.Match[str]") -> str:
    return chr(int(found[1], 16)) if found[1] else _NAMED.get(found[2], found[2])
