"""The shipped configuration of nginx in front of the service, with TLS."""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.certificates import create_authority
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
    folder: Path
    """Where it writes its logs."""


@contextmanager
def running_proxy(folder: Path, service_url: str) -> Iterator[Proxy]:
    """Run nginx in front of the service, with the shipped configuration and a certificate of its own."""
    (folder / "temp").mkdir(parents=True)
    port, plain_port = free_port(), free_port()
    authority = create_authority(folder / "certificates", NAME)
    changes = {
        "server 127.0.0.1:8000;": f"server {urlsplit(service_url).netloc};",
        "listen 80;": f"listen 127.0.0.1:{plain_port};",
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "/etc/letsencrypt/live/feedback.example.com/fullchain.pem": f'"{authority.server_certificate}"',
        "/etc/letsencrypt/live/feedback.example.com/privkey.pem": f'"{authority.server_key}"',
        "/var/log/nginx/error.log": f'"{folder / "service-error.log"}"',
        "feedback.example.com": NAME,
    }
    config = SHIPPED.read_text()
    for shipped, changed in changes.items():
        assert shipped in config
        config = config.replace(shipped, changed)
    (folder / "service.conf").write_text(config)
    with running_process(folder, CONFIG.format(user=user_line()), dict(os.environ)):
        trusting = ssl.create_default_context(cafile=str(authority.certificate))
        urls = f"https://{NAME}:{port}", f"http://{NAME}:{plain_port}"
        yield Proxy(*urls, trusting, authority.certificate, folder)
