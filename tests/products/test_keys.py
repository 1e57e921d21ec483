"""How keys are made and kept."""

import re
import uuid

import pytest
from cryptography.fernet import InvalidToken

from app.core.database import session, transaction
from app.core.purposes import Pepper, PepperRing
from app.core.seal import Seal
from app.products import keys
from app.products.models import Key
from app.products.rules import KeyKind, read_duration
from tests.factories import Company


def test_a_product_key_carries_its_environment_as_scope() -> None:
    environment_id = uuid.uuid4()
    new_key = keys.mint(KeyKind.PRODUCT, environment_id)
    _, _, key_id, scope, secret = new_key.text.split("_", 4)
    assert (key_id, scope, len(secret)) == (new_key.id, environment_id.hex, 43)
    assert keys.read_id(new_key.text) == new_key.id


@pytest.mark.parametrize("kind", [KeyKind.COMPANY, KeyKind.READ])
def test_other_keys_have_their_own_shapes(kind: KeyKind) -> None:
    new_key = keys.mint(kind, uuid.uuid4())
    assert re.fullmatch(rf"af_{kind}_{new_key.id}_[A-Za-z0-9_-]{{43}}", new_key.text)
    assert keys.read_id(new_key.text) == new_key.id


@pytest.mark.parametrize(
    ("text", "has_id"),
    [
        ("af_live_" + "0" * 32 + "_" + "s" * 20, True),
        ("af_live_" + "0" * 32 + "_" + "s" * 19, True),
        ("af_live_" + "0" * 32, True),
        ("af_company_" + "0" * 32 + "_é", True),
        ("af_live_" + "A" * 32 + "_" + "s" * 20, False),
        ("af_live_" + "0" * 31 + "_" + "s" * 20, False),
        ("af_live_" + "0" * 33 + "_" + "s" * 20, False),
        ("af_test_" + "0" * 32 + "_" + "s" * 20, False),
        ("-af_live_" + "0" * 32 + "_" + "s" * 20, False),
    ],
)
def test_the_id_is_read_however_the_secret_is_cut_or_mistyped(text: str, has_id: bool) -> None:
    assert keys.read_id(text) == ("0" * 32 if has_id else None)


def test_a_digest_needs_the_pepper() -> None:
    text = keys.mint(KeyKind.PRODUCT, uuid.uuid4()).text
    ring, other_ring = PepperRing([b"pepper"]), PepperRing([b"another pepper", b"and another"])
    digest = Pepper(b"pepper").digest_key(text)
    assert keys.matches_digest(digest, text, ring)
    assert keys.matches_digest(digest, text, PepperRing([b"newer pepper", b"pepper"]))
    assert not keys.matches_digest(digest, text, other_ring)
    assert not keys.matches_digest(digest, text + "x", ring)


def test_a_sealed_secret_opens_with_any_configured_secret_and_seals_with_the_first() -> None:
    old = Seal(["old secret"]).encrypt(b"signing secret")
    seal = Seal(["new secret", "old secret"])
    assert seal.decrypt(old) == b"signing secret"
    assert Seal(["new secret"]).decrypt(seal.encrypt(b"signing secret")) == b"signing secret"
    with pytest.raises(InvalidToken):
        Seal(["new secret"]).decrypt(old)


def test_the_database_holds_neither_a_key_nor_its_signing_secret(company: Company) -> None:
    with transaction():
        key_row = session().get_one(Key, company.product_key.split("_")[2])
        columns = b"|".join(str(getattr(key_row, column.name)).encode() for column in Key.__table__.columns)
        sealed_secret = key_row.sealed_secret or b""
    secret = keys.signing_secret(company.product_key)
    assert company.product_key.split("_")[-1].encode() not in columns
    assert sealed_secret
    assert secret not in sealed_secret
    assert secret.hex().encode() not in columns


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("15m", 900), ("24h", 86_400), ("30d", 2_592_000), ("0s", None), ("1w", None)]
)
def test_durations_read_as_people_write_them(text: str, seconds: int | None) -> None:
    duration = read_duration(text)
    assert (duration.total_seconds() if duration else None) == seconds
