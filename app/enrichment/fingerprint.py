"""Keyed digests of a body's members, so that a changed retry can be told which of them differ without storing them."""

import hmac
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

import msgspec

DIGEST_BYTES = 8
"""Of each member: enough that two values never agree by chance; what they stand for is only guessed with the key."""


def digest_members(key: bytes, members: Iterable[Any]) -> bytes:
    """Return the digests of members in their order, 8 bytes each.

    Stored digests are compared by position: members keep their order, and new ones go last.
    """
    return b"".join(
        hmac.digest(key, f"{position}:".encode() + msgspec.json.encode(member), "sha256")[:DIGEST_BYTES]
        for position, member in enumerate(members)
    )


def digest_members_under(keys: Iterable[bytes], members: Sequence[Any]) -> list[bytes]:
    """Return the digests of members under each key."""
    return [digest_members(key, members) for key in keys]


def differing_positions(stored_digests: bytes, digests: Iterable[bytes]) -> list[int]:
    """Return the positions of the members whose digests differ, or that only one of the two has.

    `digests` are those of the members under each key that the stored ones may be under. Under another key every digest
    differs, so the right one is that with the fewest differences.
    """
    return min((_differing_positions(stored_digests, candidate) for candidate in digests), key=len)


def _differing_positions(stored_digests: bytes, digests: bytes) -> list[int]:
    pairs = zip_longest(_split(stored_digests), _split(digests))
    return [position for position, (first, second) in enumerate(pairs) if first != second]


def _split(digests: bytes) -> Iterator[bytes]:
    return (digests[start : start + DIGEST_BYTES] for start in range(0, len(digests), DIGEST_BYTES))
