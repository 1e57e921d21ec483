"""Deliver batches to the service, with retries while it is unavailable."""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from agent_feedback import protocol_files
from agent_feedback.errors import ServiceError, ServiceRefused, ServiceUnavailable
from agent_feedback.evidence.stop_signal import StopSignal
from agent_feedback.http.client import HttpClient, HttpResponse, backoff_s
from agent_feedback.keys import CompanyKey

TIMEOUT_S = 30.0
"""The service answers after it has stored the batch."""

FIRST_BACKOFF_S = 0.5
MAX_BACKOFF_S = 60.0

_CODE = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")

_MEANING_OF_CODE = {
    "token_not_allowed": "the service's allowlist is older than this program's; update the service, or leave the token "
    "out with --exclude",
    "quota_exceeded": "the environment's quota of evidence is used up; nothing is lost: run again after midnight UTC",
    "host_not_allowed": "the service's allowlist is older than this program's; update the service, or leave the host "
    "out with --exclude",
}
_MEANING_OF_STATUS = {
    401: "the company key is not accepted",
    404: "there is no such endpoint; is AGENT_FEEDBACK_URL the address of the service?",
}


class BatchRefused(ServiceError):
    """The service has refused a batch and would do so again."""


class BatchUndelivered(ServiceError):
    """The service could not be reached, or not accept a batch for now."""


class Receipt(NamedTuple):
    """How many events of a batch were stored, known already, or too old."""

    accepted: int = 0
    duplicates: int = 0
    expired: int = 0


Deliver = Callable[[bytes, int], Receipt]
"""Delivers a body with so many events; raises `BatchRefused`, `BatchUndelivered` or `Stopped`."""


class Delivery:
    """Delivers batches one by one; `max_attempts` of 0 retries without end."""

    def __init__(self, endpoint: str, key: CompanyKey, stop: StopSignal, max_attempts: int) -> None:
        self._http = HttpClient(endpoint)
        self._path = protocol_files.read("contract.json")["paths"]["evidence"]
        self._key, self._stop, self._max_attempts = key, stop, max_attempts

    def __call__(self, body: bytes, count: int) -> Receipt:
        """Deliver a batch, waiting between attempts."""
        failures = 0
        while True:
            self._stop.check()
            response, reason = self._post(body)
            if response and not _is_temporary(response.status):
                return _read_receipt(response, count)
            failures += 1
            if failures == self._max_attempts:
                raise BatchUndelivered(
                    f"the service could not take a batch ({reason}); nothing of it is lost: run again"
                )
            retry_after_s = response.retry_after_s if response else 0.0
            self._stop.wait(max(retry_after_s, backoff_s(failures, FIRST_BACKOFF_S, MAX_BACKOFF_S)))

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def _post(self, body: bytes) -> tuple[HttpResponse | None, str]:
        """Return the answer, or None, and the reason of a failure."""
        try:
            response = self._http.post(self._path, body, self._key.reveal(), TIMEOUT_S)
        except ServiceUnavailable as error:
            return None, str(error)
        return response, f"status {response.status}"


def _is_temporary(status: int) -> bool:
    return status in (408, 429) or status >= 500


def _read_receipt(response: HttpResponse, count: int) -> Receipt:
    content = _parse(response.body)
    if response.status != 200:
        raise BatchRefused(_describe(ServiceRefused(response.status, content)))
    counts = [number for name in Receipt._fields if type(number := content.get(name)) is int and number >= 0]
    # Anything else with status 200, such as a proxy's page, has stored nothing.
    if len(counts) != len(Receipt._fields) or sum(counts) != count:
        raise BatchRefused(
            "what answered is not the evidence endpoint; is AGENT_FEEDBACK_URL the address of the service?"
        )
    return Receipt(*counts)


def _describe(error: ServiceRefused) -> str:
    """Return a refusal as a sentence with its codes and what they mean to the operator."""
    codes = [error.code, *(entry.get("code") for entry in error.errors)]
    slugs = list(dict.fromkeys(code for code in codes if isinstance(code, str) and _CODE.match(code)))
    meanings = [_MEANING_OF_CODE[slug] for slug in slugs if slug in _MEANING_OF_CODE]
    meaning = meanings[0] if meanings else _MEANING_OF_STATUS.get(error.status, "")
    if 300 <= error.status < 400:
        meaning = "redirects are not followed; name the address itself"
    text = f"the service refused a batch: {error.status} {', '.join(slugs)}".rstrip()
    return f"{text} ({meaning})" if meaning else text


def _parse(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
