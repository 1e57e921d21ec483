"""Parse the combined format of Apache and nginx, with or without the virtual host in front."""

import re

from agent_feedback.evidence.record import Malformed, Record, parse_status, parse_time

# Each part begins where the part before must end, so that a hostile line costs one pass.
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
_CONTROL_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "v": "\v", "f": "\f"}


def parse(line: bytes) -> Record:
    """Parse one line, or raise `Malformed`."""
    match = _LINE.match(line.decode("latin-1"))
    if match is None:
        raise Malformed("line")
    address, time, request, code, referrer, user_agent = match.groups()
    return Record(
        observed_at=parse_time(time),
        method=request.partition(" ")[0],
        status=parse_status(code),
        user_agent=_unescape_text(user_agent),
        referrer=_unescape_text(referrer),
        address=address,
    )


def looks_like(line: bytes) -> bool:
    """Tell whether a line is in this format."""
    try:
        parse(line)
    except Malformed:
        return False
    return True


def _unescape_text(text: str) -> str:
    """Decode the servers' escapes of quotes, backslashes and characters outside ASCII."""
    if text == "-":
        return ""
    return _ESCAPE.sub(_unescape, text) if "\\" in text else text


def _unescape(escape: "re.Match[str]") -> str:
    return chr(int(escape[1], 16)) if escape[1] else _CONTROL_CHARACTERS.get(escape[2], escape[2])
