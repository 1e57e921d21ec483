"""The calls for customer context over TLS, to a server with a certificate of its own."""

import ipaddress
import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from agent_feedback import CustomerContext, CustomerReferences, ServiceUnavailable
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.sdk.endpoint import COMPANY_KEY, HANG_UP, Endpoint, Reply, serving
from tests.sdk.shop import json_reply

RETRIEVAL = json_reply({"retrievalId": "r1", "items": []})


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def secure(certificate: Path) -> Iterator[Endpoint]:
    """A service behind TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving(Endpoint(default_reply=RETRIEVAL), context) as service:
        yield service


@pytest.fixture
def is_trusted(monkeypatch: pytest.MonkeyPatch, certificate: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))


@pytest.mark.usefixtures("is_trusted")
def test_calls_share_a_connection_and_open_another_when_it_was_closed(secure: Endpoint) -> None:
    context = CustomerContext(COMPANY_KEY, endpoint=secure.url, timeout=10)
    for _ in range(3):
        assert context.context(purpose="p", customer=CustomerReferences("u"), raise_errors=True).retrieval_id == "r1"
    assert secure.connections == 1
    secure.replies = [Reply(HANG_UP)]
    assert context.context(purpose="p", customer=CustomerReferences("u"), raise_errors=True).retrieval_id == "r1"
    assert secure.connections == 2
    context.close()


@pytest.mark.usefixtures("is_trusted")
def test_a_slow_service_costs_no_more_than_the_time_out(secure: Endpoint) -> None:
    secure.default_reply = RETRIEVAL._replace(drip_s=0.1)
    started_at = time.monotonic()
    with pytest.raises(ServiceUnavailable, match="TimeoutError"):
        CustomerContext(COMPANY_KEY, endpoint=secure.url, timeout=0.5).context(
            purpose="p", customer=CustomerReferences("u"), raise_errors=True
        )
    # All of it, byte by byte, would take longer.
    assert time.monotonic() - started_at < 5


def test_a_service_that_nobody_vouches_for_gets_nothing(secure: Endpoint) -> None:
    context = CustomerContext(COMPANY_KEY, endpoint=secure.url, timeout=10)
    with pytest.raises(ServiceUnavailable, match="SSLCertVerificationError"):
        context.context(purpose="p", customer=CustomerReferences("u"), raise_errors=True)
    assert not secure.requests
