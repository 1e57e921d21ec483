"""Reject texts with secrets or personal data.

It fails closed: an error during the scan is a 503, never an accepted text. A scanned text is never logged.
"""

import logging
import secrets
import string
from collections import Counter
from collections.abc import Callable, Iterable

from app.core.errors import BadRequest, Problem, Unavailable
from app.core.metrics.counting import count
from app.core.metrics.families import SCREENING_REFUSALS
from app.screening.scanner import PERSONAL, SECRET, Finding, clear_caches, find_private, find_secret

logger = logging.getLogger(__name__)

rejections: Counter[str] = Counter()
"""How often each rule rejected a text in this process."""

_MESSAGES = {
    SECRET: "The text looks as if it holds a secret; please describe what happened without it.",
    PERSONAL: "The text looks as if it holds personal data; please describe what happened without it.",
}


class ScreeningFailed(Unavailable):
    """The text could not be scanned."""

    code = "screening_failed"


class SelfCheckFailed(RuntimeError):
    """The rules miss a generated secret or reject an ordinary note; the service must not start."""


def reject_private(texts: Iterable[tuple[str, str]]) -> None:
    """Raise `BadRequest` if a text holds a secret or personal data.

    Texts come with their JSON pointers. Each is scanned by itself, then all of them joined.
    """
    _reject(list(texts), find_private)


def reject_secrets(texts: Iterable[tuple[str, str]]) -> None:
    """Raise `BadRequest` if a text holds a secret; contact addresses and other personal data pass."""
    _reject(list(texts), find_secret)


def _reject(texts: list[tuple[str, str]], find: Callable[[str], Finding | None]) -> None:
    try:
        findings = [(pointer, _scan(text, find)) for pointer, text in texts]
        if len(texts) > 1 and not any(finding for _, finding in findings):
            # A secret that was split between two texts is complete again for whoever reads both.
            joined = [separator.join(text for _, text in texts) for separator in (" ", "")]
            findings = [("", _scan(text, find)) for text in joined]
    finally:
        clear_caches()
    problems = [
        Problem(pointer, finding.code, _MESSAGES[finding.code], {"rule": finding.rule})
        for pointer, finding in findings
        if finding
    ]
    if problems:
        rules = [str(problem.limits["rule"]) for problem in problems]
        rejections.update(rules)
        for rule in rules:
            count(SCREENING_REFUSALS, rule)
        raise BadRequest(problems[0].message, code=problems[0].code, problems=problems)


def _scan(text: str, find: Callable[[str], Finding | None]) -> Finding | None:
    try:
        return find(text)
    except Exception as error:  # whatever fails in a rule must not let its text through
        logger.error("screening failed", extra={"error": type(error).__name__})
        raise ScreeningFailed from None


def check_rules() -> None:
    """Check the rules against generated sentences; raise `SelfCheckFailed` if a secret is missed."""
    for sentence, rule in _self_check_sentences():
        finding = find_private(sentence)
        if finding is None or finding.rule != rule:
            raise SelfCheckFailed(f"screening does not find the secret of its self-check for {rule}")
    if find_private("The page token expired twice, so the password reset needed one more try.") is not None:
        raise SelfCheckFailed("screening rejects an ordinary note")


def _self_check_sentences() -> Iterable[tuple[str, str]]:
    letters = string.ascii_letters + string.digits
    tail = "a1B2c3D4" + "".join(secrets.choice(letters) for _ in range(24))
    yield f"The call used afr2_{tail} and failed.", "own_key"
    yield f"It printed -----BEGIN {'RSA'} PRIVATE KEY----- by mistake.", "private_key"
    yield f"It sent Bearer {tail} and was refused.", "bearer"
    yield f"The export had password={tail} in it.", "password_assigned"
    yield f"The password is {tail} now.", "password_said"
    yield f"The tool returned zq_{tail} as its result.", "vendor_token"
    yield f"The answer went to somebody@{'mail'}-host.com instead.", "email"
