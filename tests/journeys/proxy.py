"""The shipped configuration of nginx in front of the service, with TLS."""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.conftest import ROOT
from tests.journeys.nginx import running_process, user_line
from tests.journeys.stack import free_port

NAME = "localhost"
SHIPPED = ROOT / "deploy" / "nginx.conf"

# What the header of the shipped file asks for, and folders that a test may write to.
CONFIG = """
daemon off;
{user}
pid nginx.pid;
worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
    access_log access.log;
    client_body_temp_path temp;
    proxy_temp_path temp;
    fastcgi_temp_path temp;
    uwsgi_temp_path temp;
    scgi_temp_path temp;
    include service.conf;
}}
"""


@dataclass(frozen=True)
class Proxy:
    """A running nginx; `plain_url` is the one without TLS, which redirects."""

    url: str
    plain_url: str
    tls: ssl.SSLContext
    """Trusts its certificate."""
    certificate: Path


@contextmanager
def running_proxy(folder: Path, service_url: str) -> Iterator[Proxy]:
    """Run nginx in front of the service, with the shipped configuration and a certificate of its own."""
    (folder / "temp").mkdir(parents=True)
    port, plain_port = free_port(), free_port()
    certificate = make_certificate(folder)
    changes = {
        "server 127.0.0.1:8000;": f"server {urlsplit(service_url).netloc};",
        "listen 80;": f"listen 127.0.0.1:{plain_port};",
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "/etc/letsencrypt/live/feedback.example.com/fullchain.pem": f'"{certificate}"',
        "/etc/letsencrypt/live/feedback.example.com/privkey.pem": f'"{folder / "key.pem"}"',
        "feedback.example.com": NAME,
    }
    config = SHIPPED.read_text()
    for shipped, changed in changes.items():
        assert shipped in config
        config = config.replace(shipped, changed)
    (folder / "service.conf").write_text(config)
    with running_process(folder, CONFIG.format(user=user_line()), dict(os.environ)):
        trusting = ssl.create_default_context(cafile=str(certificate))
        yield Proxy(f"https://{NAME}:{port}", f"http://{NAME}:{plain_port}", trusting, certificate)


def make_certificate(folder: Path) -> Path:
    """Make a certificate for this machine, with its key in key.pem beside it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(private)
    path = folder / "certificate.pem"
    path.write_bytes(certificate.public_bytes(encoding))
    return path
