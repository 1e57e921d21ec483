"""The queue between a product's responses and the service: bounded, in the background, and never in the way."""

import atexit
import http.client
import json
import logging
import os
import random
import threading
import time
import weakref
from collections import Counter, deque
from typing import Any

from agent_feedback import files
from agent_feedback.options import Options
from agent_feedback.transport import Answer, Transport

BATCH = 50
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 5.0

logger = logging.getLogger("agent_feedback")

Event = dict[str, Any]
Entry = tuple[Event, int]
"""An event and how often it has been tried."""


class TelemetryQueue:
    """Sends events in batches from a thread of its own.

    `put` never blocks and never raises. A full queue drops its oldest event. `counters` tells what became of all.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._path = files.read("contract.json")["paths"]["telemetry"]
        self.counters: Counter[str] = Counter()
        self._has_warned = {"failure": False, "drop": False}
        self._reset()
        # A forked worker starts with a queue of its own; what the parent had waiting is the parent's to send.
        this = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _call(this, "_reset"))
        atexit.register(lambda: _call(this, "shutdown"))

    def _reset(self) -> None:
        self._waiting: deque[Entry] = deque()
        self._in_flight = 0
        self._news = threading.Condition(threading.Lock())
        self._thread: threading.Thread | None = None
        self._is_closing = False
        self._is_flushing = False

    def put(self, event: Event) -> None:
        """Take an event."""
        with self._news:
            if len(self._waiting) >= self._options.max_queue_size:
                self._waiting.popleft()
                self._dropped("queue_full", 1)
            self._waiting.append((event, 0))
            self.counters["queued"] += 1
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="agent-feedback", daemon=True)
                self._thread.start()
            if len(self._waiting) == 1 or len(self._waiting) >= BATCH:
                self._news.notify_all()

    def flush(self, timeout: float | None = None) -> bool:
        """Send what waits; returns whether all of it was dealt with in time (in seconds)."""
        with self._news:
            self._is_flushing = True
            self._news.notify_all()
            is_done = self._news.wait_for(
                lambda: not self._waiting and not self._in_flight,
                self._options.shutdown_timeout if timeout is None else timeout,
            )
            self._is_flushing = False
        return is_done

    def shutdown(self, timeout: float | None = None) -> int:
        """Send what waits and stop; returns how many events were lost."""
        if self._thread is not None and self._thread.is_alive():
            self.flush(timeout)
        with self._news:
            self._is_closing = True
            lost = len(self._waiting)
            self._waiting.clear()
            if lost:
                self._dropped("shutdown", lost)
            self._news.notify_all()
        return lost

    def _run(self) -> None:
        transport = Transport(self._options.endpoint, self._options.timeout)
        failures = 0
        while True:
            batch = self._take()
            if not batch:
                transport.close()
                return
            pause = self._send(transport, batch)
            failures = failures + 1 if pause is not None else 0
            with self._news:
                self._in_flight = 0
                self._news.notify_all()
                if pause is not None and not self._is_closing:
                    backoff = min(FIRST_PAUSE_S * 2**failures, LONGEST_PAUSE_S) * random.uniform(0.5, 1.0)
                    self._news.wait_for(lambda: self._is_closing, max(pause, backoff))

    def _take(self) -> list[Entry]:
        """Wait for a batch to be full or old enough; nothing means that the queue was closed."""
        with self._news:
            self._news.wait_for(lambda: self._waiting or self._is_closing)
            if not self._is_closing:
                self._news.wait_for(
                    lambda: len(self._waiting) >= BATCH or self._is_closing or self._is_flushing,
                    self._options.flush_interval,
                )
            batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            self._in_flight = len(batch)
            return batch

    def _send(self, transport: Transport, batch: list[Entry]) -> float | None:
        """Send a batch; returns None when it is dealt with, or the least pause in seconds before the next try."""
        answer: Answer | None = None
        try:
            body = json.dumps({"events": [event for event, _ in batch]}).encode()
            headers = {"Authorization": f"Bearer {self._options.api_key.reveal()}"}
            answer = transport.post(self._path, body, headers)
        except (OSError, http.client.HTTPException) as error:
            reason = type(error).__name__
        else:
            if 200 <= answer.status < 300:
                with self._news:
                    self.counters["sent"] += len(batch)
                return None
            reason = f"status {answer.status}"
        self._warn("failure", "telemetry could not be delivered (%s); the product is not affected", reason)
        if answer is not None and answer.status not in (408, 429) and answer.status < 500:
            with self._news:
                self._dropped("refused", len(batch))
            return None
        self._put_back(batch)
        return (answer.retry_after or 0.0) if answer else 0.0

    def _put_back(self, batch: list[Entry]) -> None:
        with self._news:
            again = [(event, tries + 1) for event, tries in batch if tries + 1 < self._options.max_attempts]
            if len(again) < len(batch):
                self._dropped("undelivered", len(batch) - len(again))
            self._waiting.extendleft(reversed(again))
            while len(self._waiting) > self._options.max_queue_size:
                self._waiting.popleft()
                self._dropped("queue_full", 1)

    def _dropped(self, reason: str, count: int) -> None:
        self.counters[f"dropped_{reason}"] += count
        self._warn("drop", "telemetry events were dropped (%s); the product is not affected", reason)

    def _warn(self, kind: str, message: str, reason: str) -> None:
        if not self._has_warned[kind]:
            self._has_warned[kind] = True
            logger.warning(message, reason)


def _call(queue: "weakref.ref[TelemetryQueue]", method: str) -> None:
    found = queue()
    if found is not None:
        getattr(found, method)()


def timestamp(moment: float) -> str:
    """Return an instant, given in seconds since 1970, as ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment % 1 * 1000):03d}Z"
