"""Many clients that send reviews at their own pace, over kept connections and over a new one for each request."""

import http.client
import itertools
import json
import random
import select
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.factories import NOTE, Company, bearer

TIMEOUT_S = 20
MAX_ATTEMPTS = 5
BODY = json.dumps({"outcome": "success", "note": NOTE})


@dataclass(frozen=True)
class Attempt:
    """One request: when it began and ended, by the monotonic clock, and what came back."""

    began_at: float
    ended_at: float
    status: int
    """0 where the connection failed."""
    reason: str = ""

    @property
    def seconds(self) -> float:
        return self.ended_at - self.began_at


@dataclass
class Crowd:
    """Clients, every other of which keeps its connection. One that fails sends the same request again."""

    url: str
    company: Company
    size: int = 64
    pause_s: float = 0.8
    attempts: list[Attempt] = field(default_factory=list)
    reviews: dict[str, str] = field(default_factory=dict)
    """Interaction to the id of its review, of everything that was answered."""

    @contextmanager
    def running(self) -> Iterator["Crowd"]:
        """Send while the block runs; then every client ends with an answer."""
        is_over = threading.Event()
        threads = [threading.Thread(target=self._run, args=(number, is_over)) for number in range(self.size)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            is_over.set()
            for thread in threads:
                thread.join()

    def failures(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if attempt.status != 200]

    def longest_silence_s(self) -> float:
        """Return the longest time without any answer."""
        moments = sorted(attempt.ended_at for attempt in self.attempts if attempt.status == 200)
        return max(later - earlier for earlier, later in itertools.pairwise(moments))

    def _run(self, number: int, is_over: threading.Event) -> None:
        is_persistent = number % 2 == 0
        pace = random.Random(number)
        address = urlsplit(self.url)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=TIMEOUT_S)
        while not is_over.wait(self.pause_s * pace.uniform(0.5, 1.5)):
            interaction_id = str(uuid.uuid4())
            headers = bearer(self.company.capability(interaction_id))
            headers["Connection"] = "keep-alive" if is_persistent else "close"
            for _ in range(MAX_ATTEMPTS):
                if self._send(connection, interaction_id, headers):
                    break
        connection.close()

    def _send(self, connection: http.client.HTTPConnection, interaction_id: str, headers: dict[str, str]) -> bool:
        # As every pool of connections does: one that the server has closed is not used again.
        if connection.sock and select.select([connection.sock], [], [], 0)[0]:
            connection.close()
        began_at = time.monotonic()
        try:
            connection.request("POST", "/api/v2/outcomes", BODY, headers)
            response = connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            self.attempts.append(Attempt(began_at, time.monotonic(), 0, repr(error)))
            return False
        reason = "" if response.status == 200 else content.decode(errors="replace")
        self.attempts.append(Attempt(began_at, time.monotonic(), response.status, reason))
        if response.status == 200:
            self.reviews[interaction_id] = json.loads(content)["review"]["id"]
        return response.status == 200
