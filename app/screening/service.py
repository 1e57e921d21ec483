"""The screening room: no text with a secret or somebody's personal data gets past it.

It fails closed: whatever goes wrong inside is a 503, never an accepted text. Nothing that was screened is logged.
"""

import logging
import secrets
import string
from collections import Counter
from collections.abc import Iterable

from app.core.errors import BadRequest, Problem, Unavailable
from app.screening.detector import PERSONAL, SECRET, Finding, find_private

logger = logging.getLogger(__name__)

refusals: Counter[str] = Counter()
"""How often each rule refused a text in this process."""

_SENTENCES = {
    SECRET: "The text looks as if it holds a secret; please describe what happened without it.",
    PERSONAL: "The text looks as if it holds personal data; please describe what happened without it.",
}


class ScreeningFailed(Unavailable):
    """The text could not be judged."""

    code = "screening_failed"


class ScreeningBroken(RuntimeError):
    """The screening room does not find what it must find; the service must not start."""


def refuse_private(texts: Iterable[tuple[str, str]]) -> None:
    """Raise unless these texts, given with their JSON pointers, may be kept; each is judged, and all of them joined."""
    pairs = list(texts)
    found = [(pointer, _judge(text)) for pointer, text in pairs]
    if len(pairs) > 1 and not any(finding for _, finding in found):
        # What is cut in two to pass a rule is whole again in front of the reader.
        found = [("", _judge(" ".join(text for _, text in pairs))), ("", _judge("".join(text for _, text in pairs)))]
    problems = [
        Problem(pointer, finding.code, _SENTENCES[finding.code], {"rule": finding.rule})
        for pointer, finding in found
        if finding
    ]
    if problems:
        refusals.update(str(problem.limits["rule"]) for problem in problems)
        raise BadRequest(problems[0].message, code=problems[0].code, problems=problems)


def _judge(text: str) -> Finding | None:
    try:
        return find_private(text)
    except Exception as error:  # a rule that breaks must not let its text through
        logger.error("screening broke", extra={"error": type(error).__name__})
        raise ScreeningFailed from None


def check_itself() -> None:
    """Prove with freshly made canaries that the rules are alive, or raise `ScreeningBroken`."""
    for sentence, rule in _canaries():
        finding = find_private(sentence)
        if finding is None or finding.rule != rule:
            raise ScreeningBroken(f"screening does not find its canary for {rule}")
    if find_private("The page token expired twice, so the password reset needed one more try.") is not None:
        raise ScreeningBroken("screening refuses an ordinary note")


def _canaries() -> Iterable[tuple[str, str]]:
    letters = string.ascii_letters + string.digits
    tail = "a1B2c3D4" + "".join(secrets.choice(letters) for _ in range(24))
    yield f"The call used afr2_{tail} and failed.", "own_key"
    yield f"It printed -----BEGIN {'RSA'} PRIVATE KEY----- by mistake.", "private_key"
    yield f"It sent Bearer {tail} and was refused.", "bearer"
    yield f"The export had password={tail} in it.", "password_assigned"
    yield f"The password is {tail} now.", "password_said"
    yield f"The tool returned zq_{tail} as its result.", "vendor_token"
    yield f"The answer went to somebody@{'mail'}-host.com instead.", "email"
