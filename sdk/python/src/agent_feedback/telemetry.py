"""The telemetry queue: bounded, emptied by a background thread, and never in the way of a response."""

import atexit
import json
import logging
import os
import threading
import time
import weakref
from collections import Counter, deque
from contextlib import suppress
from typing import Any, NamedTuple

from agent_feedback import protocol_files
from agent_feedback.errors import ServiceUnavailable
from agent_feedback.http import HttpClient, HttpResponse, backoff_s
from agent_feedback.options import Options
from agent_feedback.refusals import exceeded_quota, refused_indexes

BATCH_SIZE = 50
FIRST_BACKOFF_S = 0.2
MAX_BACKOFF_S = 5.0
UNAUTHORIZED_PAUSE_S = 60.0
"""After a 401 nothing is sent for this long: the key does not become valid by asking."""

_WARNINGS = {
    "quota": "telemetry is refused until the next UTC day (quota %s of the environment); the product is not affected",
    "failure": "telemetry could not be delivered (%s); the product is not affected",
    "drop": "telemetry events were dropped (%s); the product is not affected",
}

logger = logging.getLogger("agent_feedback")

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode

Event = dict[str, Any]


class QueuedEvent(NamedTuple):
    """An event as JSON, and how many requests with it have failed."""

    text: bytes
    failures: int = 0


Batch = list[QueuedEvent]


class TelemetryQueue:
    """Sends events in batches from a background thread.

    `put` never blocks and never raises. A full queue drops its oldest event. `counters` accounts for every event:
    `queued` were put, `sent` were accepted by the service, and `dropped_<reason>` were not: `queue_full`,
    `undelivered` (after `max_attempts`), `refused` (by the service), `unreadable` (no JSON) and `shutdown`.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._http = HttpClient(options.endpoint)
        self._path = protocol_files.read("contract.json")["paths"]["telemetry"]
        self._warnings = dict(_WARNINGS)
        self._reset()
        queue = weakref.ref(self)
        if hasattr(os, "register_at_fork"):
            # A forked worker starts with an empty queue: the parent sends what it had queued.
            os.register_at_fork(after_in_child=lambda: _call(queue, "_reset"))
        atexit.register(lambda: _call(queue, "shutdown"))

    def _reset(self) -> None:
        self.counters: Counter[str] = Counter()
        self._queue: deque[QueuedEvent] = deque()
        self._in_flight = 0
        self._condition = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_closing = False
        self._flushes = 0
        self._paused_until = 0.0

    def put(self, event: Event) -> None:
        """Queue an event."""
        text = _as_json(event)
        with self._condition:
            self.counters["queued"] += 1
            if text is None:
                reason: str | None = "unreadable"
            elif self._is_closing:
                reason = "shutdown"
            else:
                reason = self._append(text)
            if reason:
                self.counters[f"dropped_{reason}"] += 1
        if reason:
            self._warn("drop", reason)

    def flush(self, timeout: float | None = None) -> bool:
        """Send all queued events; return whether all were sent or dropped within `timeout` seconds.

        While a 401 pauses sending it returns at once.
        """
        with self._condition:
            if self._queue and not self._ensure_thread():
                return False
            self._flushes += 1
            self._condition.notify_all()
            try:
                self._condition.wait_for(
                    lambda: self._is_empty() or (self._is_paused() and not self._in_flight),
                    self._options.shutdown_timeout if timeout is None else timeout,
                )
                return self._is_empty()
            finally:
                self._flushes -= 1

    def shutdown(self, timeout: float | None = None) -> int:
        """Send all queued events and stop; return how many events were lost meanwhile."""
        with self._condition:
            if self._is_closing:
                return 0
            dropped_before = self._count_dropped()
        self.flush(timeout)
        with self._condition:
            self._is_closing = True
            unsent_count = len(self._queue)
            self._queue.clear()
            self.counters["dropped_shutdown"] += unsent_count
            # The answer to a batch in flight comes too late to be counted.
            lost_count = self._count_dropped() - dropped_before + self._in_flight
            self._condition.notify_all()
        if unsent_count:
            self._warn("drop", "shutdown")
        return lost_count

    def _is_empty(self) -> bool:
        return not self._queue and not self._in_flight

    def _is_paused(self) -> bool:
        return time.monotonic() < self._paused_until

    def _append(self, text: bytes) -> str | None:
        """Append an event; return the reason for which the oldest one was dropped, if it was. Needs the lock."""
        is_full = len(self._queue) >= self._options.max_queue_size
        if is_full:
            self._queue.popleft()
        self._queue.append(QueuedEvent(text))
        self._ensure_thread()
        # The thread waits for the first event, or for a batch to be full; it looks again before it waits.
        if len(self._queue) in (1, BATCH_SIZE):
            self._condition.notify_all()
        return "queue_full" if is_full else None

    def _ensure_thread(self) -> bool:
        """Start the thread if it does not run; return whether it runs now. Needs the lock."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="agent-feedback", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # the system has no more threads; the next event tries again
                self._thread = None
        return self._thread is not None

    def _run(self) -> None:
        failures = 0
        while batch := self._take_batch():
            delay_s = self._send(batch)
            failures = 0 if delay_s is None else failures + 1
            with self._condition:
                self._in_flight = 0
                self._condition.notify_all()
                if delay_s is not None:
                    backoff = backoff_s(failures, FIRST_BACKOFF_S, MAX_BACKOFF_S)
                    self._condition.wait_for(lambda: self._is_closing, max(delay_s, backoff))
        self._http.close()

    def _take_batch(self) -> Batch:
        """Wait for a batch that is full or old enough; an empty one means that the queue was closed."""
        with self._condition:
            self._condition.wait_for(lambda: self._queue or self._is_closing)
            self._condition.wait_for(
                lambda: len(self._queue) >= BATCH_SIZE or self._is_closing or self._flushes,
                self._options.flush_interval,
            )
            batch = [self._queue.popleft() for _ in range(min(BATCH_SIZE, len(self._queue)))]
            self._in_flight = len(batch)
            return batch

    def _send(self, batch: Batch) -> float | None:
        """Send a batch, without the events that the service refuses by name.

        Return None when every event is sent or dropped, or the least delay in seconds before the next request.
        """
        while batch:
            try:
                response = self._post(batch)
            except Exception as error:  # the thread has to survive whatever it is
                self._warn("failure", str(error) if isinstance(error, ServiceUnavailable) else type(error).__name__)
                self._requeue(batch)
                return 0.0
            if 200 <= response.status < 300:
                with self._condition:
                    self.counters["sent"] += len(batch)
                return None
            if quota := exceeded_quota(response):
                self._warn("quota", quota)
                self._drop("refused", len(batch), is_told=True)
                return None
            self._warn("failure", f"status {response.status}")
            if response.status in (408, 429) or response.status >= 500:
                # A limit that says when it ends is no failure of the events: they wait for as long.
                is_limited = response.status == 429 and response.retry_after_s > 0
                self._requeue(batch, failures=0 if is_limited else 1)
                return response.retry_after_s
            batch = self._drop_refused(batch, response)
            if response.status == 401:
                self._paused_until = time.monotonic() + UNAUTHORIZED_PAUSE_S
                return UNAUTHORIZED_PAUSE_S
        return None

    def _post(self, batch: Batch) -> HttpResponse:
        body = b'{"events":[%b]}' % b",".join(event.text for event in batch)
        return self._http.post(self._path, body, self._options.api_key.reveal(), self._options.timeout)

    def _drop_refused(self, batch: Batch, response: HttpResponse) -> Batch:
        """Drop the events that a refusal names, or else the whole batch; return what remains of it."""
        indexes = refused_indexes(response, len(batch))
        remaining_events = [event for index, event in enumerate(batch) if index not in indexes] if indexes else []
        self._drop("refused", len(batch) - len(remaining_events))
        with self._condition:
            self._in_flight = len(remaining_events)
        return remaining_events

    def _requeue(self, batch: Batch, failures: int = 1) -> None:
        """Queue a batch again, before all others, without the events that were tried often enough."""
        retries = [QueuedEvent(event.text, event.failures + failures) for event in batch]
        retries = [event for event in retries if event.failures < self._options.max_attempts]
        with self._condition:
            space = 0 if self._is_closing else max(self._options.max_queue_size - len(self._queue), 0)
            # The batch is older than the queue, and its own youngest events are its last.
            queued_retries = retries[len(retries) - min(space, len(retries)) :]
            self._queue.extendleft(reversed(queued_retries))
            reason = "shutdown" if self._is_closing else "queue_full"
        self._drop("undelivered", len(batch) - len(retries))
        self._drop(reason, len(retries) - len(queued_retries))

    def _drop(self, reason: str, count: int, *, is_told: bool = False) -> None:
        if count:
            with self._condition:
                self.counters[f"dropped_{reason}"] += count
            if not is_told:
                self._warn("drop", reason)

    def _count_dropped(self) -> int:
        return sum(count for name, count in self.counters.items() if name.startswith("dropped_"))

    def _warn(self, kind: str, reason: str) -> None:
        """Warn once of each kind; never under the lock, since a log may be slow."""
        message = self._warnings.pop(kind, None)
        if message:
            with suppress(Exception):
                logger.warning(message, reason)


def _as_json(event: Event) -> bytes | None:
    # At once and not when it is sent: an event that cannot be serialized must not cost its batch.
    try:
        return _encode(event).encode()
    except Exception:
        return None


def _call(reference: "weakref.ref[TelemetryQueue]", method: str) -> None:
    queue = reference()
    if queue is not None:
        getattr(queue, method)()


def timestamp(seconds: float) -> str:
    """Return an instant, given in seconds since 1970, as ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1000):03d}Z"
