"""Sealing stored values again while the service runs."""

from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from app.core.database import session, transaction
from app.core.seal import Seal
from app.products import redigest
from app.products import service as products
from app.products.models import Key
from app.products.rules import KeyKind
from app.secrets import sealing
from app.secrets.sealing import ResealedColumn
from tests.accounts.fixtures import Device
from tests.factories import Company, event, send_events, send_review, sign_in
from tests.secrets.app_secrets import AppSecrets, rotation


@pytest.fixture
def app_secrets(app: Flask) -> Iterator[AppSecrets]:
    with rotation(app) as secrets:
        yield secrets


def sealed_secrets() -> dict[str, bytes]:
    with transaction():
        rows = session().execute(select(Key.id, Key.sealed_secret).where(Key.sealed_secret.is_not(None)))
        return {key_id: bytes(sealed) for key_id, sealed in rows}


def create_keys(company: Company, count: int) -> list[str]:
    with transaction():
        return [products.create_key(company.environment_id, KeyKind.PRODUCT).text for _ in range(count)]


def reseal_keys() -> list[ResealedColumn]:
    """Seal every value again; return what was done to the secrets of keys."""
    return [column for column in sealing.reseal() if column.name == "keys.sealed_secret"]


def test_every_batch_is_sealed_again_and_a_second_run_changes_nothing(
    client: FlaskClient, company: Company, app_secrets: AppSecrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "BATCH_SIZE", 2)
    monkeypatch.setattr(redigest, "BATCH_SIZE", 2)
    create_keys(company, 4)
    app_secrets.configure(sealing_secrets=[app_secrets.new_sealing_secret, app_secrets.old_sealing_secret])
    assert [column.resealed for column in reseal_keys()] == [5]
    first = sealed_secrets()
    assert all(Seal([app_secrets.new_sealing_secret]).can_decrypt(sealed) for sealed in first.values())
    assert [(column.resealed, column.current) for column in reseal_keys()] == [(0, 5)]
    assert sealed_secrets() == first
    app_secrets.configure([app_secrets.new_pepper, app_secrets.old_pepper])
    assert (redigest.redigest_product_keys(), redigest.redigest_product_keys()) == (5, 0)
    assert send_events(client, company, event()).status_code == 202


def test_a_run_that_was_interrupted_goes_on(
    company: Company, app_secrets: AppSecrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "BATCH_SIZE", 2)
    create_keys(company, 5)
    app_secrets.configure(sealing_secrets=[app_secrets.new_sealing_secret, app_secrets.old_sealing_secret])
    encrypt, calls = Seal.encrypt, iter(range(100))

    def encrypt_and_die(seal: Seal, secret: bytes) -> bytes:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return encrypt(seal, secret)

    with monkeypatch.context() as patch:
        patch.setattr(Seal, "encrypt", encrypt_and_die)
        with pytest.raises(KeyboardInterrupt):
            sealing.reseal()
    assert [(column.resealed, column.current) for column in reseal_keys()] == [(4, 6)]


def test_a_value_that_was_replaced_meanwhile_stays(
    company: Company, app_secrets: AppSecrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    app_secrets.configure(sealing_secrets=[app_secrets.new_sealing_secret, app_secrets.old_sealing_secret])
    encrypt, other = Seal.encrypt, Seal([app_secrets.new_sealing_secret]).encrypt(b"other")

    def replace_and_encrypt(seal: Seal, secret: bytes) -> bytes:
        with transaction():
            session().execute(update(Key).where(Key.sealed_secret.is_not(None)).values(sealed_secret=other))
        return encrypt(seal, secret)

    with monkeypatch.context() as patch:
        patch.setattr(Seal, "encrypt", replace_and_encrypt)
        sealing.reseal()
    assert list(sealed_secrets().values()) == [other]


def test_a_value_that_no_secret_opens_is_counted_and_stays(
    app: Flask, company: Company, app_secrets: AppSecrets
) -> None:
    before = sealed_secrets()
    app_secrets.configure([app_secrets.new_pepper, app_secrets.old_pepper], [app_secrets.new_sealing_secret])
    assert [(column.resealed, column.unreadable) for column in reseal_keys()] == [(0, 1)]
    assert redigest.redigest_product_keys() == 0
    assert sealed_secrets() == before
    output = app.test_cli_runner().invoke(args=["secrets", "rotate"]).output
    assert "no configured secret opens 1 values" in output


def test_a_key_that_was_sealed_again_still_signs(
    client: FlaskClient, company: Company, app_secrets: AppSecrets
) -> None:
    capability = company.capability()
    app_secrets.configure(sealing_secrets=[app_secrets.new_sealing_secret, app_secrets.old_sealing_secret])
    sealing.reseal()
    app_secrets.configure(sealing_secrets=[app_secrets.new_sealing_secret])
    assert send_review(client, capability).status_code in (200, 201)


def test_a_second_factor_that_was_sealed_again_still_signs_in(
    client: FlaskClient, company: Company, device: Device, app_secrets: AppSecrets
) -> None:
    app_secrets.configure(sealing_secrets=[app_secrets.new_sealing_secret, app_secrets.old_sealing_secret])
    sealing.reseal()
    app_secrets.configure(sealing_secrets=[app_secrets.new_sealing_secret])
    assert sign_in(client, company, json={"code": device.code()}).status_code == 200
