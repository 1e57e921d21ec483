"""Database and broker over TLS: the certificate and its name are verified."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis
from sqlalchemy import make_url, text

from app import create_app
from app.core import jobs
from app.core.database import PreparedStatement, session, transaction
from app.core.errors import DatabaseUnavailable
from app.core.limits.counters import SharedCounters
from app.core.limits.rules import Cost, limit_policy
from app.core.limits.server import Addition, CounterServer
from app.health.connections import database_error
from config.broker_connection import broker_error
from config.limits import parse_limit
from config.settings import Settings
from tests.certificates import Authority, create_authority, tls_server
from tests.conftest import Servers, environment

CURRENT_ROLE = PreparedStatement("current_role_name", "SELECT current_user::text")


@dataclass(frozen=True)
class Ports:
    """Where the servers listen with a certificate of `localhost`."""

    database: int
    broker: int


@pytest.fixture(scope="module")
def authorities(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Authority]:
    folder = tmp_path_factory.mktemp("certificates")
    return {name: create_authority(folder / name, name) for name in ("localhost", "elsewhere")}


@pytest.fixture(scope="module")
def ports(servers: Servers, authorities: dict[str, Authority]) -> Iterator[Ports]:
    if not servers.has_roles:
        pytest.skip("named servers have certificates of their own")
    postgres = Path(str(make_url(servers.database_url).query["host"])) / ".s.PGSQL.5432"
    broker = Path(servers.broker_url.removeprefix("redis+socket://"))
    authority = authorities["localhost"]
    with (
        tls_server(authority, postgres, is_postgres=True) as database_port,
        tls_server(authority, broker) as broker_port,
    ):
        yield Ports(database_port, broker_port)


def database_url(settings: Settings, ports: Ports, authority: Authority, host: str = "localhost") -> str:
    url = make_url(settings.database_url).set(
        drivername="postgresql",
        host=host,
        port=ports.database,
        query={"sslmode": "verify-full", "sslrootcert": str(authority.certificate), "gssencmode": "disable"},
    )
    return url.render_as_string(hide_password=False)


def broker_url(ports: Ports, authority: Authority, host: str = "localhost") -> str:
    return f"rediss://{host}:{ports.broker}/0?ssl_cert_reqs=required&ssl_ca_certs={authority.certificate}"


def test_the_service_works_over_tls(
    servers: Servers, settings: Settings, ports: Ports, authorities: dict[str, Authority]
) -> None:
    authority = authorities["localhost"]
    environ = environment(servers, database_url(settings, ports, authority))
    app = create_app(Settings.from_env({**environ, "REDIS_URL": broker_url(ports, authority)}), serves_http=False)
    with app.app_context():
        with transaction():
            assert session().scalar(text("SELECT current_user")) == make_url(settings.database_url).username
        assert CURRENT_ROLE.first() == (make_url(settings.database_url).username,)
        assert jobs.job_notifier().is_broker_reachable()
    app.extensions["database"].dispose()


WRONG = [("elsewhere", "localhost"), ("localhost", "127.0.0.1")]
"""An authority that did not sign the certificate, and a name that the certificate does not have."""


@pytest.mark.parametrize(("authority", "host"), WRONG)
def test_a_database_with_another_certificate_is_refused(
    servers: Servers, settings: Settings, ports: Ports, authorities: dict[str, Authority], authority: str, host: str
) -> None:
    url = database_url(settings, ports, authorities[authority], host)
    assert "certificate" in str(database_error(url))
    app = create_app(Settings.from_env(environment(servers, url)), serves_http=False)
    with app.app_context(), pytest.raises(DatabaseUnavailable):
        CURRENT_ROLE.all()


@pytest.mark.parametrize(("authority", "host"), WRONG)
def test_a_broker_with_another_certificate_is_refused(
    servers: Servers, settings: Settings, ports: Ports, authorities: dict[str, Authority], authority: str, host: str
) -> None:
    assert broker_error(broker_url(ports, authorities["localhost"])) is None
    url = broker_url(ports, authorities[authority], host)
    assert "certificate" in str(broker_error(url)).lower()
    environ = environment(servers, settings.database_url.replace("+psycopg2", ""))
    app = create_app(Settings.from_env({**environ, "REDIS_URL": url}), serves_http=False)
    with app.app_context():
        assert not jobs.job_notifier().is_broker_reachable()


@pytest.mark.parametrize(
    ("authority", "host", "is_refused"), [("localhost", "localhost", False), *((*wrong, True) for wrong in WRONG)]
)
def test_rabbitmq_with_another_certificate_is_refused(
    ports: Ports,
    authorities: dict[str, Authority],
    monkeypatch: pytest.MonkeyPatch,
    authority: str,
    host: str,
    is_refused: bool,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authorities[authority].certificate))
    # What answers is no RabbitMQ, which is another error, after the time-out.
    if not is_refused:
        monkeypatch.setattr("app.health.connections.CONNECT_TIMEOUT_S", 1)
    error = broker_error(f"amqps://guest:guest@{host}:{ports.broker}//")
    assert error is not None
    assert ("certificate" in error) is is_refused


@pytest.fixture
def digest_key(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A key of the counters of one test, which wait long enough for a handshake on a busy machine."""
    monkeypatch.setattr("app.core.limits.server.TIMEOUT_S", 5.0)
    return secrets.token_bytes(32)


COST = Cost(limit_policy("key", parse_limit("3/day"), is_first_unit_shared=True), "anybody")


def test_limits_are_shared_over_tls(ports: Ports, authorities: dict[str, Authority], digest_key: bytes) -> None:
    url = broker_url(ports, authorities["localhost"])
    one, other = (SharedCounters(CounterServer(url, digest_key)) for _ in range(2))
    assert [one.spend(COST) for _ in range(3)] == [None] * 3
    assert one.spend(COST) is not None
    assert other.spend(COST) is None
    other.share()
    assert other.spend(COST) is not None


@pytest.mark.parametrize(("authority", "host"), WRONG)
def test_nothing_is_refused_or_told_to_a_broker_with_another_certificate(
    ports: Ports,
    authorities: dict[str, Authority],
    digest_key: bytes,
    authority: str,
    host: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = CounterServer(broker_url(ports, authorities[authority], host), digest_key)
    with pytest.raises(redis.ConnectionError, match=r"(?i)certificate"):
        server.add([Addition("key", 60, 1)])
    counters = SharedCounters(server)
    assert [counters.spend(COST) for _ in range(9)] == [None] * 9
    assert "limits are not shared" in caplog.text
