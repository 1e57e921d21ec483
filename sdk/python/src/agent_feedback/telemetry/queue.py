"""The telemetry queue: bounded, emptied by a background thread, and never in the way of a response."""

import json
import logging
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import Any

from agent_feedback import protocol_files
from agent_feedback.errors import ServiceUnavailable, ServiceUnreachable
from agent_feedback.http.client import HttpClient, HttpResponse, backoff_s
from agent_feedback.options import Options
from agent_feedback.process_hooks import call_after_fork, call_at_exit
from agent_feedback.telemetry.batch import Batch
from agent_feedback.telemetry.event_queue import BATCH_SIZE, EventQueue
from agent_feedback.telemetry.refusals import counted_events, exceeded_quota, refused_indexes

_CONTRACT: dict[str, Any] = protocol_files.read("contract.json")
_BOUNDS: dict[str, int] = _CONTRACT["telemetry"]

FIRST_BACKOFF_S = _BOUNDS["firstBackoffMs"] / 1000
MAX_BACKOFF_S = _BOUNDS["maxBackoffMs"] / 1000
UNAUTHORIZED_PAUSE_S = _BOUNDS["unauthorizedPauseMs"] / 1000
"""After a 401 nothing is sent for this long: the key does not become valid by asking."""

_WARNINGS = {
    "quota": "telemetry is refused until the next UTC day (quota %s of the environment); the product is not affected",
    "failure": "telemetry could not be delivered (%s); the product is not affected",
    "unreported": "telemetry has ended before the service was told of dropped events (%s)",
    "drop": "telemetry events were dropped (%s); the product is not affected",
}

_REFUSED_FOR_CONTENT = (400, 413, 415, 422)
"""An earlier try with the same content was refused as well, so it was not stored."""

logger = logging.getLogger("agent_feedback")

# An event that contains itself fails without the check as well, by recursion.
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False).encode

Event = dict[str, Any]


class TelemetryQueue:
    """Sends events in batches from a background thread.

    `put` never blocks and never raises. A full queue drops its oldest event. `counters` accounts for every event:
    `queued` were put, `sent` were accepted by the service, and `dropped_<reason>` were not: `queue_full`,
    `undelivered` (after `max_attempts`), `refused` (by the service), `unreadable` (no JSON) and `shutdown`. The next
    batch tells the service of what was dropped.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._http = HttpClient(options.endpoint)
        self._path = _CONTRACT["paths"]["telemetry"]
        self._warnings = dict(_WARNINGS)
        self._reset()
        # A forked worker starts with an empty queue: the parent sends what it had queued, and tells what it lost.
        call_after_fork(self._reset)
        call_at_exit(self.shutdown)

    @property
    def counters(self) -> Counter[str]:
        """Return the live counters of this process."""
        return self._events.counters

    def _reset(self) -> None:
        self._events = EventQueue(self._options.max_queue_size)
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
            if text is None or self._is_closing:
                reason: str | None = "unreadable" if text is None else "shutdown"
            else:
                reason = self._events.append(text)
                self._wake_thread()
            if reason:
                self._events.count_dropped(reason, 1)
        if reason:
            self._announce(reason, 1)

    def flush(self, timeout: float | None = None) -> bool:
        """Send all queued events; return whether all were sent or dropped within `timeout` seconds.

        While a 401 pauses sending it returns at once.
        """
        with self._condition:
            if self._events.events and not self._ensure_thread():
                return False
            self._flushes += 1
            self._condition.notify_all()
            try:
                self._condition.wait_for(
                    lambda: self._events.is_empty() or (self._is_paused() and not self._events.sending),
                    self._options.shutdown_timeout if timeout is None else timeout,
                )
                return self._events.is_empty()
            finally:
                self._flushes -= 1

    def shutdown(self, timeout: float | None = None) -> int:
        """Send all queued events and stop; return how many events were lost meanwhile.

        Losses of which the service was not told are logged: no batch follows that could tell it.
        """
        with self._condition:
            if self._is_closing:
                return 0
            dropped_before = self._events.total_dropped()
        self.flush(timeout)
        with self._condition:
            self._is_closing = True
            unsent_count = self._events.drop_unsent("shutdown")
            # The answer to a batch in flight comes too late to be counted.
            in_flight = len(self._events.sending.events) if self._events.sending else 0
            lost_count = self._events.total_dropped() - dropped_before + in_flight
            self._condition.notify_all()
        if unsent_count:
            self._announce("shutdown", unsent_count)
        if unreported_losses := self.unreported_losses():
            self._warn("unreported", ", ".join(f"{reason}={count}" for reason, count in unreported_losses.items()))
        return lost_count

    def unreported_losses(self) -> Counter[str]:
        """Return the dropped events by reason, without those of which the service has confirmed to have been told."""
        with self._condition:
            return self._events.unreported_losses()

    def _is_paused(self) -> bool:
        return time.monotonic() < self._paused_until

    def _wake_thread(self) -> None:
        """Wake the thread for the first event of a batch and for a full one. Needs the lock."""
        self._ensure_thread()
        # The thread waits for the first event, or for a batch to be full; it looks again before it waits.
        if len(self._events.events) in (1, BATCH_SIZE):
            self._condition.notify_all()

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
                self._condition.notify_all()
                if delay_s is not None:
                    backoff = backoff_s(failures, FIRST_BACKOFF_S, MAX_BACKOFF_S)
                    self._condition.wait_for(lambda: self._is_closing, max(delay_s, backoff))
        self._http.close()

    def _take_batch(self) -> Batch | None:
        """Wait for a batch that is full or old enough; None means that the queue was closed."""
        queue = self._events
        with self._condition:
            self._condition.wait_for(lambda: queue.waiting or queue.events or self._is_closing)
            if not queue.waiting:
                self._condition.wait_for(
                    lambda: len(queue.events) >= BATCH_SIZE or self._is_closing or self._flushes,
                    self._options.flush_interval - queue.age_s(),
                )
            return queue.take_batch()

    def _send(self, batch: Batch) -> float | None:
        """Send a batch, without the events that the service refuses by name.

        Return None when every event is sent or dropped, or the least delay in seconds before the next request.
        """
        remaining: Batch | None = batch
        while remaining:
            batch = remaining
            try:
                response = self._post(batch)
            except Exception as error:  # the thread has to survive whatever it is
                self._warn("failure", str(error) if isinstance(error, ServiceUnavailable) else type(error).__name__)
                if not isinstance(error, ServiceUnreachable):
                    batch.is_unanswered = batch.is_fixed = True
                self._retry(batch)
                return 0.0
            if 200 <= response.status < 300:
                with self._condition:
                    self._events.acknowledge(batch)
                return None
            if response.is_repetition:
                # The answer is to the repetition: the first request may have been stored all the same.
                batch.is_unanswered = batch.is_fixed = True
            if response.status in (408, 429) or response.status >= 500:
                return self._postpone(batch, response)
            remaining = self._drop_refused(batch, response)
            if response.status == 401:
                self._paused_until = time.monotonic() + UNAUTHORIZED_PAUSE_S
                return UNAUTHORIZED_PAUSE_S
        return None

    def _post(self, batch: Batch) -> HttpResponse:
        return self._http.post(
            self._path, batch.body(), self._options.api_key.reveal(), self._options.timeout, batch.headers()
        )

    def _postpone(self, batch: Batch, response: HttpResponse) -> float:
        """Keep a batch for which the service had no time; return the delay that it asks for."""
        self._warn("failure", f"status {response.status}")
        if response.status >= 500:
            # What failed may have been the answer, of the service or of what stands in front of it. A 503 says that it
            # was not, but the service cannot know when it loses its database.
            batch.is_unanswered, batch.is_fixed = True, batch.is_fixed or response.status != 503
        # A limit that says when it ends is no failure of the events: they wait for as long.
        is_limited = response.status == 429 and response.retry_after_s > 0
        self._retry(batch, failures=0 if is_limited else 1)
        return response.retry_after_s

    def _drop_refused(self, batch: Batch, response: HttpResponse) -> Batch | None:
        """Drop the events that a refusal names, or else the whole batch; return a batch of those that remain."""
        quota = exceeded_quota(response)
        self._warn("quota" if quota else "failure", quota or f"status {response.status}")
        indexes = refused_indexes(response, len(batch.events)) or range(len(batch.events))
        events = [event for index, event in enumerate(batch.events) if index not in indexes]
        if response.status in _REFUSED_FOR_CONTENT:
            batch.is_unanswered = False
        with self._condition:
            remaining = self._events.split(batch, events, counted_events(response, len(indexes)))
        self._announce("refused", len(indexes), is_told=quota is not None)
        return remaining

    def _retry(self, batch: Batch, failures: int = 1) -> None:
        """Keep a batch for its next try, or drop it if it was tried often enough."""
        is_tried_enough = batch.count_failures(failures) >= self._options.max_attempts
        reason, count = "undelivered" if is_tried_enough else "shutdown", len(batch.events)
        with self._condition:
            if is_tried_enough or self._is_closing:
                self._events.drop(batch, reason)
            else:
                reason, count = "queue_full", self._events.keep(batch)
        if count:
            self._announce(reason, count)

    def _announce(self, reason: str, count: int, *, is_told: bool = False) -> None:
        """Tell the company of dropped events; never under the lock."""
        if self._options.on_drop:
            with suppress(Exception):
                self._options.on_drop(reason, count)
        if not is_told:
            self._warn("drop", reason)

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
