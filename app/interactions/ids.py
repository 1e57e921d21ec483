"""Interaction ids of this service's own demonstrations, made as every SDK makes them."""

import os
import time
import uuid

_TIME_BITS, _RANDOM_BITS = 48, 80


def new_interaction_id() -> uuid.UUID:
    """Return a UUID of version 4 that begins with the Unix time in milliseconds, so that indexes grow at their end."""
    milliseconds = time.time_ns() // 1_000_000 % 2**_TIME_BITS
    randomness = int.from_bytes(os.urandom(_RANDOM_BITS // 8), "big")
    return uuid.UUID(int=milliseconds << _RANDOM_BITS | randomness, version=4)
