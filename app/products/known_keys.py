"""The keys that a process knows right now.

A key is looked up at most once a second in each process: no cache outlives a revocation by more than that.
"""

import logging
import threading
import time
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from cachetools import TTLCache
from cryptography.fernet import InvalidToken
from flask import Flask, current_app

from app.core import clock
from app.core.database import HotStatement
from app.products import keys
from app.products.rules import KeyKind, Mode
from config.settings import Settings

KNOWN_FOR_S = 0.8
SLOW_LOOK_UP_S = 0.2
MOST_KNOWN = 10_000
"""Also bounds what guessing at key ids can make a process remember."""

USE_IS_NOTED_EVERY = timedelta(minutes=1)

_FIND = HotStatement(
    "find_key",
    ["text"],
    """
    SELECT k.kind, k.has_company_right, k.digest, k.sealed_secret, k.expires_at, k.revoked_at, k.last_used_at,
           e.id, e.name, e.mode, p.id, p.name, p.workspace_id
    FROM keys k JOIN environments e ON e.id = k.environment_id JOIN products p ON p.id = e.product_id
    WHERE k.id = $1
    """,
)

_NOTE_USE = HotStatement(
    "note_key_use",
    ["text", "timestamptz", "timestamptz"],
    "UPDATE keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $3)",
)


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CallingEnvironment:
    """The environment that a caller speaks for, as of a second ago at most."""

    id: uuid.UUID
    name: str
    mode: Mode
    product_id: uuid.UUID
    product_name: str
    workspace_id: uuid.UUID


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A key as it was looked up."""

    id: str
    kind: KeyKind
    has_company_right: bool
    digest: bytes
    signing_secret: bytes | None
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    environment: CallingEnvironment

    def is_valid(self, now: datetime) -> bool:
        """Tell whether the key opens anything at this time."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class KnownKeys:
    """The keys that one process knows."""

    def __init__(self, settings: Settings) -> None:
        self.pepper = settings.key_pepper.reveal().encode()
        self.seal = keys.Seal([secret.reveal() for secret in settings.sealing_secrets])
        self._cache: TTLCache[str, KnownKey | None] = TTLCache(MOST_KNOWN, KNOWN_FOR_S)
        self._lock = threading.Lock()

    def find(self, key_id: str) -> KnownKey | None:
        """Return a key by its id, if there is one."""
        with self._lock:
            if key_id in self._cache:
                return self._cache[key_id]
        began = time.monotonic()
        found = self._look_up(key_id)
        # What took long to read may be out of date by as much; the promise is a second in all.
        if time.monotonic() - began < SLOW_LOOK_UP_S:
            with self._lock:
                self._cache[key_id] = found
        return found

    def note_use(self, key: KnownKey) -> None:
        """Remember that a verified key was used, to the minute."""
        now = clock.now()
        if key.last_used_at is not None and now - key.last_used_at < USE_IS_NOTED_EVERY:
            return
        _NOTE_USE.run(key.id, now, now - USE_IS_NOTED_EVERY)
        with self._lock:
            self._cache.pop(key.id, None)

    def forget(self) -> None:
        """Look every key up again."""
        with self._lock:
            self._cache.clear()

    def _look_up(self, key_id: str) -> KnownKey | None:
        rows = _FIND.run(key_id)
        if not rows:
            return None
        kind, has_right, digest, sealed, expires_at, revoked_at, used_at, *environment = rows[0]
        environment_id, name, mode, product_id, product_name, workspace_id = environment
        return KnownKey(
            id=key_id,
            kind=KeyKind(kind),
            has_company_right=has_right,
            digest=bytes(digest),
            signing_secret=self._open(key_id, sealed),
            expires_at=expires_at,
            revoked_at=revoked_at,
            last_used_at=used_at,
            environment=CallingEnvironment(
                id=environment_id,
                name=name,
                mode=Mode(mode),
                product_id=product_id,
                product_name=product_name,
                workspace_id=workspace_id,
            ),
        )

    def _open(self, key_id: str, sealed: memoryview | None) -> bytes | None:
        """Open a signing secret; without it a key still opens what needs no capability."""
        if sealed is None:
            return None
        try:
            return self.seal.open(bytes(sealed))
        except InvalidToken:
            logger.error("a key was sealed with a secret that is not in the ring", extra={"keyId": key_id})
            return None


def install(app: Flask, settings: Settings) -> None:
    """Give the app its known keys."""
    app.extensions["known_keys"] = KnownKeys(settings)


def known_keys() -> KnownKeys:
    """Return the keys that the current process knows."""
    found: KnownKeys = current_app.extensions["known_keys"]
    return found
