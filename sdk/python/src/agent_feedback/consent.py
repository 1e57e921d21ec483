"""What customers chose, as this process knows it: the response path reads memory only.

A customer that is not known yet gets the question's envelope; a thread asks the service in the background, so that
the next response knows.
"""

import http.client
import json
import logging
import os
import threading
import time
import weakref
from collections import OrderedDict
from typing import NamedTuple

from agent_feedback import files
from agent_feedback.options import Options
from agent_feedback.transport import Transport

MOST_AT_ONCE = 50
"""Subjects in one question to the service."""

UNDECIDED_S = 2.0
"""How long it is taken as known that a customer has not chosen."""

logger = logging.getLogger("agent_feedback")


class Choice(NamedTuple):
    """What one customer chose, and how often; `until` is when this is asked again, on the monotonic clock."""

    state: str
    revision: int
    until: float


UNKNOWN = Choice("unknown", 0, 0.0)


class ConsentStates:
    """The choices that one process knows."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._path = files.read("contract.json")["paths"]["consentState"]
        self._reset()
        this = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _reset(this))

    def _reset(self) -> None:
        self._known: OrderedDict[str, Choice] = OrderedDict()
        self._asked: dict[str, None] = {}
        self._lock = threading.Lock()
        self._is_asking = False

    def find(self, subject: str) -> Choice:
        """Return what is known of a subject, and have it asked for if that is nothing or old."""
        with self._lock:
            choice = self._known.get(subject, UNKNOWN)
            if choice.until > time.monotonic():
                self._known.move_to_end(subject)
                return choice
            self._asked[subject] = None
            if not self._is_asking:
                self._is_asking = True
                threading.Thread(target=self._ask, name="agent-feedback-consent", daemon=True).start()
        return choice

    def _ask(self) -> None:
        transport = Transport(self._options.endpoint, self._options.timeout)
        while subjects := self._next():
            try:
                self._learn(self._fetch(transport, subjects))
            except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
                logger.debug("consent could not be read (%s)", type(error).__name__)
        transport.close()

    def _next(self) -> list[str]:
        """Take the subjects to ask for; with none left the thread ends, and a later miss starts another."""
        with self._lock:
            subjects = list(self._asked)[:MOST_AT_ONCE]
            for subject in subjects:
                del self._asked[subject]
            self._is_asking = bool(subjects)
        return subjects

    def _fetch(self, transport: Transport, subjects: list[str]) -> dict[str, tuple[str, int]]:
        body = json.dumps({"subjects": subjects}).encode()
        answer = transport.post(self._path, body, {"Authorization": f"Bearer {self._options.api_key.reveal()}"})
        if answer.status != 200:
            raise ValueError(answer.status)
        return {row["subject"]: (row["state"], row["revision"]) for row in json.loads(answer.body)["subjects"]}

    def _learn(self, states: dict[str, tuple[str, int]]) -> None:
        soon = time.monotonic() + UNDECIDED_S
        until = time.monotonic() + self._options.consent_cache_ttl
        with self._lock:
            for subject, (state, revision) in states.items():
                # Who has not chosen yet may be choosing right now.
                is_open = state == "unknown"
                self._known[subject] = Choice(state, revision, min(until, soon) if is_open else until)
                self._known.move_to_end(subject)
            while len(self._known) > self._options.consent_cache_size:
                self._known.popitem(last=False)


def _reset(states: "weakref.ref[ConsentStates]") -> None:
    found = states()
    if found is not None:
        found._reset()
