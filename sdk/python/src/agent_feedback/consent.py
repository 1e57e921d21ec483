"""The cache of customers' consent decisions: the response path reads memory only.

A miss returns an unknown decision at once, and a background thread asks the service for the next response.
"""

import json
import logging
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from agent_feedback import protocol_files
from agent_feedback.errors import ServiceRefused
from agent_feedback.http.circuit_breaker import CircuitBreaker
from agent_feedback.http.client import HttpClient
from agent_feedback.options import Options
from agent_feedback.process_hooks import call_after_fork

_BOUNDS: dict[str, int] = protocol_files.read("contract.json")["consentCache"]

MAX_SUBJECTS = _BOUNDS["maxSubjects"]
"""Subjects in one request, as the service allows."""

UNDECIDED_TTL_S = _BOUNDS["undecidedTtlMs"] / 1000
"""How long the absence of a decision is cached: the customer may be deciding right now."""

MAX_REFRESHES = _BOUNDS["maxRefreshes"]
"""Requests at a time."""

PAUSE_S = _BOUNDS["pauseMs"] / 1000
"""Without requests after a failure."""
UNAUTHORIZED_PAUSE_S: float = protocol_files.read("contract.json")["telemetry"]["unauthorizedPauseMs"] / 1000
"""Without requests after a 401: the key does not become valid by asking."""

STATES = ("unknown", "approved", "declined")

logger = logging.getLogger("agent_feedback")


class CachedDecision(NamedTuple):
    """One customer's decision and its revision; `expires_at` is on the monotonic clock."""

    state: str
    revision: int
    expires_at: float


UNKNOWN = CachedDecision("unknown", 0, 0.0)


class ConsentCache:
    """The decisions that this process has cached, at most `consent_cache_size`."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._http = HttpClient(options.endpoint)
        self._path = protocol_files.read("contract.json")["paths"]["consentState"]
        self._reset()
        call_after_fork(self._reset)

    def _reset(self) -> None:
        self._decisions: OrderedDict[str, CachedDecision] = OrderedDict()
        self._breaker = CircuitBreaker(PAUSE_S)
        self._pending: dict[str, None] = {}
        self._requested: set[str] = set()
        self._threads = 0
        self._lock = threading.Lock()

    def find(self, subject: str) -> CachedDecision:
        """Return the cached decision of a subject, expired or unknown as it may be, and refresh it if it is."""
        with self._lock:
            decision = self._decisions.get(subject, UNKNOWN)
            if decision.expires_at > time.monotonic():
                self._decisions.move_to_end(subject)
                return decision
            if subject not in self._requested and not self._breaker.is_open():
                # A subject that finds no place among as many as can be cached is asked for at a later miss.
                if len(self._pending) < self._options.consent_cache_size:
                    self._pending[subject] = None
                self._start_thread()
        return decision

    def _start_thread(self) -> None:
        """Start a thread for what is pending unless enough of them run. Needs the lock."""
        if self._threads < MAX_REFRESHES:
            thread = threading.Thread(target=self._refresh, name="agent-feedback-consent", daemon=True)
            # Without a thread, as when the system has no more of them, the next miss tries again.
            with suppress(RuntimeError):
                thread.start()
                self._threads += 1

    def _refresh(self) -> None:
        """Ask for all pending subjects, batch by batch."""
        while subjects := self._take_pending():
            try:
                self._store(self._fetch(subjects))
            except Exception as error:  # whatever it is: a thread that ends here would count as running forever
                is_unauthorized = isinstance(error, ServiceRefused) and error.status == 401
                self._pause(UNAUTHORIZED_PAUSE_S if is_unauthorized else 0.0)
                logger.debug("consent could not be read (%s)", type(error).__name__)
            finally:
                with self._lock:
                    self._requested.difference_update(subjects)
        self._http.close()

    def _pause(self, at_least_s: float) -> None:
        """Ask no more for a while: neither for new subjects nor for those that are pending."""
        with self._lock:
            self._breaker.open(at_least_s)
            # Nothing is pending while the breaker is open, so the other threads end without looking at it.
            self._pending.clear()

    def _take_pending(self) -> list[str]:
        """Return the next subjects to ask for; without any the thread ends, and a later miss starts another."""
        with self._lock:
            subjects = list(islice(self._pending, MAX_SUBJECTS))
            for subject in subjects:
                del self._pending[subject]
            self._requested.update(subjects)
            if not subjects:
                self._threads -= 1
        return subjects

    def _fetch(self, subjects: list[str]) -> dict[str, tuple[str, int]]:
        body = json.dumps({"subjects": subjects}).encode()
        response = self._http.post(self._path, body, self._options.api_key.reveal(), self._options.timeout)
        if response.status != 200:
            raise ServiceRefused(response.status)
        return _read_states(subjects, json.loads(response.body)["subjects"])

    def _store(self, states: dict[str, tuple[str, int]]) -> None:
        now = time.monotonic()
        ttl_s = self._options.consent_cache_ttl
        with self._lock:
            self._breaker.close()
            for subject, (state, revision) in states.items():
                expires_at = now + (min(ttl_s, UNDECIDED_TTL_S) if state == "unknown" else ttl_s)
                self._decisions[subject] = CachedDecision(state, revision, expires_at)
                self._decisions.move_to_end(subject)
            while len(self._decisions) > self._options.consent_cache_size:
                self._decisions.popitem(last=False)


def _read_states(subjects: list[str], rows: list[Any]) -> dict[str, tuple[str, int]]:
    """Return state and revision of every subject that was asked for: unknown where the answer has none to be used."""
    states = dict.fromkeys(subjects, ("unknown", 0))
    for row in filter(_is_decision, rows):
        if row["subject"] in states:
            states[row["subject"]] = (row["state"], row["revision"])
    return states


def _is_decision(row: Any) -> bool:
    """Tell whether a row names a subject, a state that there is and a revision; a boolean is no number."""
    if not isinstance(row, dict) or not isinstance(row.get("subject"), str):
        return False
    revision = row.get("revision")
    return row.get("state") in STATES and type(revision) is int and revision >= 0
