"""A client that sends telemetry and reviews, and records exactly what was accepted with 2xx."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import requests
from agent_feedback.interaction_id import new_interaction_id

from tests.factories import NOTE, Company, bearer, event


@dataclass
class Sender:
    """Sends to one service, and records every response."""

    url: str
    company: Company
    accepted_events: list[str] = field(default_factory=list)
    accepted_reviews: dict[str, str] = field(default_factory=dict)
    """Interaction to review id."""
    statuses: list[tuple[str, int, float]] = field(default_factory=list)
    """What, status (0 for no response), seconds."""

    def send_batch(self, size: int = 5) -> int:
        """Send a batch of events; returns the status, 0 if there was no response."""
        batch = [event() for _ in range(size)]
        status = self._post("telemetry", "/api/v2/telemetry/batches", self.company.product_key, {"events": batch})[0]
        if status == 202:
            self.accepted_events += [str(sent_event["interactionId"]) for sent_event in batch]
        return status

    def send_review(self, interaction_id: str | None = None) -> int:
        """Send a review; returns the status, 0 if there was no response."""
        interaction_id = interaction_id or new_interaction_id()
        body = {"outcome": "success", "note": NOTE}
        status, response = self._post("outcome", "/api/v2/outcomes", self.company.capability(interaction_id), body)
        if status == 200:
            self.accepted_reviews[interaction_id] = response["review"]["id"]
        return status

    def _post(self, kind: str, path: str, token: str, body: object) -> tuple[int, dict[str, dict[str, str]]]:
        started_at = time.monotonic()
        try:
            response = requests.post(self.url + path, json=body, headers=bearer(token), timeout=10)
            status, content = response.status_code, response.json()
        except (requests.RequestException, ValueError):
            status, content = 0, {}
        self.statuses.append((kind, status, time.monotonic() - started_at))
        return status, content

    @contextmanager
    def in_background(self) -> Iterator[None]:
        """Send both kinds again and again while the block runs; reviews are for interactions just sent."""
        is_over = threading.Event()

        def run() -> None:
            while not is_over.is_set():
                self.send_batch()
                self.send_review(self.accepted_events[-1] if self.accepted_events else None)

        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            is_over.set()
            for thread in threads:
                thread.join()
