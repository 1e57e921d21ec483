"""Handing a batch to the service until it has taken it, or has said why it does not."""

import http.client
import json
import random
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from agent_feedback import files
from agent_feedback.company_key import CompanyKey
from agent_feedback.evidence.stopping import Stop
from agent_feedback.transport import Answer, Transport

TIMEOUT_S = 30.0
"""A batch of 500 is written before the answer."""

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 60.0
_MOST_DOUBLINGS = 10

_CODE = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")

_MEANING = {
    "token_not_allowed": "the service's allowlist is older than this program's; update the service, or leave the token "
    "out with --exclude",
    "host_not_allowed": "the service's allowlist is older than this program's; update the service, or leave the host "
    "out with --exclude",
}
_USUAL = {
    401: "the company key is not accepted",
    404: "there is no such endpoint; is AGENT_FEEDBACK_URL the address of the service?",
}


class Refused(Exception):
    """The service does not take the batch, and would not take it a second time."""


class Undelivered(Exception):
    """The service could not be reached, or could not take the batch for now."""


class Receipt(NamedTuple):
    """What became of a batch."""

    accepted: int = 0
    duplicates: int = 0
    expired: int = 0


Deliver = Callable[[bytes, int], Receipt]
"""Hands over a body with so many events; raises `Refused`, `Undelivered` or `Stopped`."""


class Delivery:
    """Delivers batches one by one."""

    def __init__(self, endpoint: str, key: CompanyKey, stop: Stop, attempts: int) -> None:
        self._transport = Transport(endpoint, TIMEOUT_S)
        self._path = files.read("contract.json")["paths"]["evidence"]
        self._key, self._stop, self._attempts = key, stop, attempts

    def __call__(self, body: bytes, count: int) -> Receipt:
        """Deliver a batch; `attempts` of zero means to try for ever."""
        failures = 0
        while True:
            self._stop.check()
            answer, reason = self._post(body)
            if answer and not _is_passing(answer.status):
                return _receipt(answer, count)
            failures += 1
            if failures == self._attempts:
                raise Undelivered(f"the service could not take a batch ({reason}); nothing of it is lost: run again")
            backoff = min(FIRST_PAUSE_S * 2 ** min(failures - 1, _MOST_DOUBLINGS), LONGEST_PAUSE_S)
            asked = (answer.retry_after if answer else None) or 0.0
            self._stop.wait(max(asked, backoff * random.uniform(0.5, 1.0)))

    def close(self) -> None:
        """Give the connection up."""
        self._transport.close()

    def _post(self, body: bytes) -> tuple[Answer | None, str]:
        try:
            answer = self._transport.post(self._path, body, {"Authorization": f"Bearer {self._key.reveal()}"})
        except (OSError, http.client.HTTPException) as error:
            return None, type(error).__name__
        return answer, f"status {answer.status}"


def _is_passing(status: int) -> bool:
    return status in (408, 429) or status >= 500


def _receipt(answer: Answer, count: int) -> Receipt:
    content = _content(answer.body)
    if answer.status != 200:
        raise Refused(_sentence(answer.status, content))
    counts = [number for name in Receipt._fields if type(number := content.get(name)) is int and number >= 0]
    # Whatever else answers 200, such as a proxy's page, has stored nothing.
    if len(counts) != len(Receipt._fields) or sum(counts) != count:
        raise Refused("what answered is not the evidence endpoint; is AGENT_FEEDBACK_URL the address of the service?")
    return Receipt(*counts)


def _sentence(status: int, content: dict[str, Any]) -> str:
    codes = [content.get("code")]
    problems = content.get("errors")
    if isinstance(problems, list):
        codes += [problem.get("code") for problem in problems if isinstance(problem, dict)]
    known = list(dict.fromkeys(code for code in codes if isinstance(code, str) and _CODE.match(code)))
    meaning = next((_MEANING[code] for code in known if code in _MEANING), _USUAL.get(status, ""))
    if 300 <= status < 400:
        meaning = "redirects are not followed; name the address itself"
    text = f"the service refused a batch: {status} {', '.join(known)}".rstrip()
    return f"{text} ({meaning})" if meaning else text


def _content(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
