"""The queue between a product's responses and the service: bounded, in the background, and never in the way."""

import atexit
import json
import logging
import os
import random
import threading
import time
import weakref
from collections import Counter, deque
from contextlib import suppress
from typing import Any

from agent_feedback import files
from agent_feedback.options import Options
from agent_feedback.transport import Answer, Transport

BATCH = 50
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 5.0
_MOST_DOUBLINGS = 10

logger = logging.getLogger("agent_feedback")

Event = dict[str, Any]
Entry = tuple[bytes, int]
"""An event as JSON, and how often it has been tried."""


class TelemetryQueue:
    """Sends events in batches from a thread of its own.

    `put` never blocks and never raises. A full queue drops its oldest event. `counters` tells what became of all:
    `queued` were put, `sent` arrived, and `dropped_<reason>` did not.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._path = files.read("contract.json")["paths"]["telemetry"]
        self._warnings = {
            "failure": "telemetry could not be delivered (%s); the product is not affected",
            "drop": "telemetry events were dropped (%s); the product is not affected",
        }
        self._reset()
        this = weakref.ref(self)
        if hasattr(os, "register_at_fork"):
            # A forked worker starts with a queue of its own; what the parent had waiting is the parent's to send.
            os.register_at_fork(after_in_child=lambda: _call(this, "_reset"))
        atexit.register(lambda: _call(this, "shutdown"))

    def _reset(self) -> None:
        self.counters: Counter[str] = Counter()
        self._waiting: deque[Entry] = deque()
        self._in_flight = 0
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_closing = False
        self._flushes = 0

    def put(self, event: Event) -> None:
        """Take an event."""
        text = _as_json(event)
        with self._news:
            self.counters["queued"] += 1
            if text is None:
                lost: str | None = "unreadable"
            elif self._is_closing:
                lost = "shutdown"
            else:
                lost = self._append(text)
            if lost:
                self.counters[f"dropped_{lost}"] += 1
        if lost:
            self._warn("drop", lost)

    def flush(self, timeout: float | None = None) -> bool:
        """Send what waits; returns whether all of it was dealt with in time (in seconds)."""
        with self._news:
            if self._waiting and not self._has_thread():
                return False
            self._flushes += 1
            self._news.notify_all()
            try:
                return self._news.wait_for(
                    lambda: not self._waiting and not self._in_flight,
                    self._options.shutdown_timeout if timeout is None else timeout,
                )
            finally:
                self._flushes -= 1

    def shutdown(self, timeout: float | None = None) -> int:
        """Send what waits and stop; returns how many events were lost in the course of it."""
        with self._news:
            if self._is_closing:
                return 0
            lost_before = self._lost()
        self.flush(timeout)
        with self._news:
            self._is_closing = True
            left = len(self._waiting)
            self._waiting.clear()
            self.counters["dropped_shutdown"] += left
            # Nobody will know what becomes of a batch that is still on its way.
            lost = self._lost() - lost_before + self._in_flight
            self._news.notify_all()
        if left:
            self._warn("drop", "shutdown")
        return lost

    def _append(self, text: bytes) -> str | None:
        """Let an event wait; returns why another one had to go, if so. The caller holds the lock."""
        is_full = len(self._waiting) >= self._options.max_queue_size
        if is_full:
            self._waiting.popleft()
        self._waiting.append((text, 0))
        self._has_thread()
        if len(self._waiting) == 1 or len(self._waiting) >= BATCH:
            self._news.notify_all()
        return "queue_full" if is_full else None

    def _has_thread(self) -> bool:
        """Start the thread if it does not run; returns whether it runs now."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="agent-feedback", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # no more threads to be had; the next event tries again
                self._thread = None
        return self._thread is not None

    def _run(self) -> None:
        transport = Transport(self._options.endpoint, self._options.timeout)
        failures = 0
        while batch := self._take():
            pause = self._send(transport, batch)
            failures = 0 if pause is None else min(failures + 1, _MOST_DOUBLINGS)
            with self._news:
                self._in_flight = 0
                self._news.notify_all()
                if pause is not None:
                    backoff = min(FIRST_PAUSE_S * 2 ** (failures - 1), LONGEST_PAUSE_S) * random.uniform(0.5, 1.0)
                    self._news.wait_for(lambda: self._is_closing, max(pause, backoff))
        transport.close()

    def _take(self) -> list[Entry]:
        """Wait for a batch to be full or old enough; nothing means that the queue was closed."""
        with self._news:
            self._news.wait_for(lambda: self._waiting or self._is_closing)
            self._news.wait_for(
                lambda: len(self._waiting) >= BATCH or self._is_closing or self._flushes,
                self._options.flush_interval,
            )
            batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            self._in_flight = len(batch)
            return batch

    def _send(self, transport: Transport, batch: list[Entry]) -> float | None:
        """Send a batch; returns None when it is dealt with, or the least pause in seconds before the next try."""
        answer: Answer | None = None
        try:
            body = b'{"events":[%b]}' % b",".join(text for text, _ in batch)
            headers = {"Authorization": f"Bearer {self._options.api_key.reveal()}"}
            answer = transport.post(self._path, body, headers)
        except Exception as error:  # whatever it is, the thread has to live on
            reason = type(error).__name__
        else:
            reason = f"status {answer.status}"
        if answer and 200 <= answer.status < 300:
            with self._news:
                self.counters["sent"] += len(batch)
            return None
        self._warn("failure", reason)
        if answer and answer.status not in (408, 429) and answer.status < 500:
            self._drop("refused", len(batch))
            return None
        self._put_back(batch)
        return (answer.retry_after or 0.0) if answer else 0.0

    def _put_back(self, batch: list[Entry]) -> None:
        again = [(text, tries + 1) for text, tries in batch if tries + 1 < self._options.max_attempts]
        with self._news:
            room = 0 if self._is_closing else max(self._options.max_queue_size - len(self._waiting), 0)
            # These are the oldest that there are; of themselves the last are the youngest.
            kept = again[len(again) - min(room, len(again)) :]
            self._waiting.extendleft(reversed(kept))
            reason = "shutdown" if self._is_closing else "queue_full"
        self._drop("undelivered", len(batch) - len(again))
        self._drop(reason, len(again) - len(kept))

    def _drop(self, reason: str, count: int) -> None:
        if count:
            with self._news:
                self.counters[f"dropped_{reason}"] += count
            self._warn("drop", reason)

    def _lost(self) -> int:
        return sum(count for name, count in self.counters.items() if name.startswith("dropped_"))

    def _warn(self, kind: str, reason: str) -> None:
        """Warn once of each kind; never under the lock, since a log may be slow."""
        message = self._warnings.pop(kind, None)
        if message:
            with suppress(Exception):
                logger.warning(message, reason)


def _as_json(event: Event) -> bytes | None:
    # At once, and not when it is sent: so one that cannot be read does not take its whole batch with it.
    try:
        return json.dumps(event, separators=(",", ":"), allow_nan=False).encode()
    except Exception:
        return None


def _call(queue: "weakref.ref[TelemetryQueue]", method: str) -> None:
    found = queue()
    if found is not None:
        getattr(found, method)()


def timestamp(moment: float) -> str:
    """Return an instant, given in seconds since 1970, as ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment % 1 * 1000):03d}Z"
