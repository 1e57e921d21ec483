"""Certificates for one test, and a server that speaks TLS in front of one that does not."""

import datetime
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

POSTGRES_SSL_REQUEST = bytes.fromhex("0000000804d2162f")
"""What libpq sends before it begins TLS; the server answers with one byte."""


@dataclass(frozen=True)
class Authority:
    """A certificate authority with one certificate for a server."""

    certificate: Path
    server_certificate: Path
    server_key: Path


def create_authority(folder: Path, hostname: str) -> Authority:
    """Create an authority, and a certificate of this hostname that it has signed."""
    folder.mkdir()
    ca_key, server_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Authority of {hostname}")])
    server_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hostname)])
    ca = _builder(ca_name, ca_name, ca_key).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    server = _builder(server_name, ca_name, server_key).add_extension(
        x509.SubjectAlternativeName([x509.DNSName(hostname)]), critical=False
    )
    files = Authority(folder / "ca.pem", folder / "server.pem", folder / "server.key")
    files.certificate.write_bytes(ca.sign(ca_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    files.server_certificate.write_bytes(server.sign(ca_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    files.server_key.write_bytes(
        server_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return files


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
    )


@contextmanager
def tls_server(authority: Authority, target: Path, *, is_postgres: bool = False) -> Iterator[int]:
    """Accept TLS on a port, which is returned, and pass everything on to a Unix socket.

    The servers' wheels are built without TLS.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.server_certificate, authority.server_key)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    client = listener.accept()[0]
                    threading.Thread(target=_serve, args=(context, client, target, is_postgres), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]


def _serve(context: ssl.SSLContext, client: socket.socket, target: Path, is_postgres: bool) -> None:
    with suppress(OSError), client, socket.socket(socket.AF_UNIX) as server:
        if is_postgres:
            if client.recv(8, socket.MSG_WAITALL) != POSTGRES_SSL_REQUEST:
                return
            client.sendall(b"S")
        with context.wrap_socket(client, server_side=True) as encrypted:
            server.connect(str(target))
            answers = threading.Thread(target=_copy, args=(server, encrypted), daemon=True)
            answers.start()
            _copy(encrypted, server)
            answers.join()


def _copy(source: socket.socket, destination: socket.socket) -> None:
    with suppress(OSError):
        while content := source.recv(65_536):
            destination.sendall(content)
    with suppress(OSError):
        destination.shutdown(socket.SHUT_WR)
