"""The counters of all processes, on a Redis or Valkey."""

import hmac
from collections.abc import Sequence
from typing import NamedTuple

from limits.storage import RedisStorage

from config.redis_library import NoBackoff, Retry, redis

TIMEOUT_S = 0.2
"""Of a connection attempt, and of each answer."""

DIGEST_BYTES = 18


class Addition(NamedTuple):
    """Units to add to a counter, and after how many seconds the server may forget it."""

    key: str
    expiry_s: int
    units: int


class CounterServer:
    """Adds to counters by the storage of the `limits` library: many counters in one round trip.

    Keys are stored as keyed digests, so that the server does not hold the addresses of clients.
    """

    def __init__(self, counters_url: str, digest_key: bytes) -> None:
        self._digest_key = digest_key
        self._storage = RedisStorage(
            storage_url(counters_url),
            key_prefix="agent-feedback-limits",
            socket_timeout=TIMEOUT_S,
            socket_connect_timeout=TIMEOUT_S,
            retry=Retry(NoBackoff(), 0),  # type: ignore[arg-type]  # limits passes every option on to redis-py
        )

    def add(self, additions: Sequence[Addition]) -> list[int]:
        """Add to each counter and return their new totals; raise what the client raises if the server is away."""
        storage = self._storage
        client: redis.Redis = storage.storage
        with client.pipeline(transaction=False) as pipeline:
            for addition in additions:
                key = storage.prefixed_key(self._digest(addition.key))
                storage.lua_incr_expire([key], [addition.expiry_s, addition.units], client=pipeline)
            return [int(total) for total in pipeline.execute()]

    def _digest(self, key: str) -> str:
        return hmac.digest(self._digest_key, key.encode(), "sha256")[:DIGEST_BYTES].hex()


def storage_url(counters_url: str) -> str:
    """Return the URL of the counters as the storage spells it: Celery has its own scheme for Unix sockets."""
    scheme, separator, rest = counters_url.partition("://")
    if scheme != "redis+socket":
        return counters_url
    return f"redis+unix{separator}{rest.replace('virtual_host=', 'db=')}"
