"""The key cache of a process.

A key is looked up at most once a second in each process: no cache outlives a revocation by more than that.
"""

import contextlib
import logging
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from cachetools import TTLCache
from cryptography.fernet import InvalidToken
from flask import Flask, current_app

from app.core import clock
from app.core.database import PreparedStatement
from app.core.purposes import Pepper
from app.core.seal import Seal
from app.products.rules import KeyKind, Mode
from config.settings import Settings

CACHE_TTL_S = 0.8
EXISTING_TTL_S = 3600.0
"""How long an id is known to be a key's, although the key itself is looked up again."""
MAX_LOOKUP_S = 0.2
"""What took longer to read is not cached: it may be out of date by as much."""
MAX_CACHED_KEYS = 10_000
"""Also bounds what guessing at key ids can make a process remember."""

LAST_USED_PRECISION = timedelta(minutes=1)

logger = logging.getLogger(__name__)


class KeyRow(NamedTuple):
    """A key as it is stored, with its environment and product."""

    kind: str
    has_company_right: bool
    digest: memoryview
    pepper_id: memoryview | None
    sealed_secret: memoryview | None
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    refused_at: datetime | None
    environment_id: uuid.UUID
    environment_name: str
    mode: str
    product_id: uuid.UUID
    product_name: str
    workspace_id: uuid.UUID


FIND_KEY = PreparedStatement(
    "find_key",
    """
    SELECT k.kind, k.has_company_right, k.digest, k.pepper_id, k.sealed_secret, k.expires_at, k.revoked_at,
           k.last_used_at, k.refused_at, e.id AS environment_id, e.name AS environment_name, e.mode, p.id AS product_id,
           p.name AS product_name, p.workspace_id
    FROM keys k JOIN environments e ON e.id = k.environment_id JOIN products p ON p.id = e.product_id
    WHERE k.id = :key_id::text
    """,
    row=KeyRow,
)

RECORD_USE = PreparedStatement(
    "record_key_use",
    """
    UPDATE keys SET last_used_at = :now::timestamptz
    WHERE id = :key_id::text AND (last_used_at IS NULL OR last_used_at < :last_used_before::timestamptz)
    """,
)

RECORD_REFUSAL = PreparedStatement(
    "record_key_refusal",
    """
    UPDATE keys SET refused_at = :now::timestamptz
    WHERE id = :key_id::text AND (refused_at IS NULL OR refused_at < :refused_before::timestamptz)
    """,
)

# Only what was compared: another process may have renewed it under another pepper meanwhile.
RENEW_DIGEST = PreparedStatement(
    "renew_key_digest",
    """
    UPDATE keys SET digest = :new_digest::bytea, pepper_id = :pepper_id::bytea
    WHERE id = :key_id::text AND digest = :digest::bytea
    """,
)


@dataclass(frozen=True, slots=True)
class CallerEnvironment:
    """The environment that a caller speaks for, as of a second ago at most."""

    id: uuid.UUID
    name: str
    mode: Mode
    product_id: uuid.UUID
    product_name: str
    workspace_id: uuid.UUID


@dataclass(frozen=True, slots=True)
class CachedKey:
    """A key as it was looked up."""

    id: str
    kind: KeyKind
    has_company_right: bool
    digest: bytes
    pepper_id: bytes | None
    """The pepper of the digest; None where it was not recorded yet."""
    signing_secret: bytes | None
    """What capabilities are signed with; None of other keys, and where no sealing secret opens it."""
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    refused_at: datetime | None
    environment: CallerEnvironment

    def is_valid(self, now: datetime) -> bool:
        """Tell whether the key is accepted at this time."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class KeyCache:
    """The keys of one process, each for `CACHE_TTL_S` seconds; an unknown id is remembered too."""

    def __init__(self, settings: Settings, timer: Callable[[], float] = time.monotonic) -> None:
        self.seal = Seal([secret.reveal() for secret in settings.sealing_secrets])
        self._cache: TTLCache[str, CachedKey | None] = TTLCache(MAX_CACHED_KEYS, CACHE_TTL_S, timer)
        self._existing: TTLCache[str, bool] = TTLCache(MAX_CACHED_KEYS, EXISTING_TTL_S, timer)
        self._lock = threading.Lock()

    def find(self, key_id: str) -> CachedKey | None:
        """Return a key by its id, or None."""
        # One look at the timer: between a test for membership and the reading, the entry could expire.
        with contextlib.suppress(KeyError), self._lock:
            return self._cache[key_id]
        started_at = time.monotonic()
        key = self._look_up(key_id)
        if time.monotonic() - started_at < MAX_LOOKUP_S:
            with self._lock:
                self._cache[key_id] = key
                if key is not None:
                    self._existing[key_id] = True
        return key

    def has_seen(self, key_id: str) -> bool:
        """Tell whether an id is cached or was a key's within the last hour; looking up any other may be guessing."""
        with self._lock:
            return key_id in self._cache or key_id in self._existing

    def record_use(self, key: CachedKey) -> None:
        """Record to the minute that a verified key was used."""
        now = clock.now()
        if key.last_used_at is not None and now - key.last_used_at < LAST_USED_PRECISION:
            return
        RECORD_USE.first(key_id=key.id, now=now, last_used_before=now - LAST_USED_PRECISION)
        with self._lock:
            self._cache.pop(key.id, None)

    def record_refusal(self, key: CachedKey) -> None:
        """Record to the minute that a key was presented and not accepted, so that its owner can be told."""
        now = clock.now()
        if key.refused_at is not None and now - key.refused_at < LAST_USED_PRECISION:
            return
        RECORD_REFUSAL.first(key_id=key.id, now=now, refused_before=now - LAST_USED_PRECISION)
        with self._lock:
            self._cache.pop(key.id, None)

    def renew_digest(self, key: CachedKey, text: str, pepper: Pepper) -> None:
        """Store the digest of a verified key under the newest pepper, unless it is that already."""
        if key.pepper_id == pepper.id:
            return
        RENEW_DIGEST.first(key_id=key.id, digest=key.digest, new_digest=pepper.digest_key(text), pepper_id=pepper.id)
        with self._lock:
            self._cache.pop(key.id, None)

    def clear(self) -> None:
        """Forget every key."""
        with self._lock:
            self._cache.clear()
            self._existing.clear()

    def _look_up(self, key_id: str) -> CachedKey | None:
        row = FIND_KEY.first(key_id=key_id)
        if row is None:
            return None
        return CachedKey(
            id=key_id,
            kind=KeyKind(row.kind),
            has_company_right=row.has_company_right,
            digest=bytes(row.digest),
            pepper_id=None if row.pepper_id is None else bytes(row.pepper_id),
            signing_secret=self._open(key_id, row.sealed_secret),
            expires_at=row.expires_at,
            revoked_at=row.revoked_at,
            last_used_at=row.last_used_at,
            refused_at=row.refused_at,
            environment=CallerEnvironment(
                id=row.environment_id,
                name=row.environment_name,
                mode=Mode(row.mode),
                product_id=row.product_id,
                product_name=row.product_name,
                workspace_id=row.workspace_id,
            ),
        )

    def _open(self, key_id: str, sealed_secret: memoryview | None) -> bytes | None:
        """Open a signing secret; a key whose secret no sealing secret opens still authenticates its own requests."""
        if sealed_secret is None:
            return None
        try:
            return self.seal.decrypt(bytes(sealed_secret))
        except InvalidToken:
            logger.error("a key was sealed with a secret that is not configured", extra={"keyId": key_id})
            return None


def install(app: Flask, settings: Settings) -> None:
    """Give the app its key cache."""
    app.extensions["key_cache"] = KeyCache(settings)


def key_cache() -> KeyCache:
    """Return the key cache of the current app."""
    cache: KeyCache = current_app.extensions["key_cache"]
    return cache
