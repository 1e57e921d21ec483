"""Check the connections to database and broker, with errors for the operator who has set the URL."""

import psycopg2
from kombu import Connection
from sqlalchemy.engine import make_url

CONNECT_TIMEOUT_S = 3


def database_error(database_url: str, setting: str = "DATABASE_URL") -> str | None:
    """Connect to the database that a setting names once; return None, or why that failed."""
    url = make_url("postgresql://" + database_url.partition("://")[2])
    try:
        psycopg2.connect(
            url.render_as_string(hide_password=False), connect_timeout=CONNECT_TIMEOUT_S, application_name="ping"
        ).close()
    except psycopg2.OperationalError as error:
        address = _server_address(url.host or str(url.query.get("host", "localhost")), url.port or 5432)
        return f"PostgreSQL at {address} {_reason(str(error))}; is {setting} right?"
    return None


def broker_error(broker_url: str) -> str | None:
    """Connect to the broker once; return None, or why that failed."""
    timeouts = {"socket_timeout": CONNECT_TIMEOUT_S, "socket_connect_timeout": CONNECT_TIMEOUT_S}
    # Kombu fails in other ways too, for example with TypeError for an unknown option in the URL.
    try:
        with Connection(broker_url, transport_options=timeouts) as connection:
            address = _server_address(connection.hostname or "localhost", connection.port or 6379)
            connection.connect()
    except Exception as error:
        return f"Redis at {address} {_reason(str(error))}; is REDIS_URL right?"
    return None


def _server_address(host: str, port: int) -> str:
    """Return the address of a server, without user and password."""
    path = host.rpartition("@")[2].removeprefix("socket://")
    return path if path.startswith("/") else f"{host}:{port}"


def _reason(message: str) -> str:
    """Return the message of a client library without the server's name, on one line."""
    for substring, reason in (
        ("refused", "refuses connections"),
        ("No such file", "does not exist"),
        ("timeout", "does not answer"),
        ("timed out", "does not answer"),
        ("resolve", "has a name that cannot be resolved"),
        ("translate host name", "has a name that cannot be resolved"),
        ("not known", "has a name that cannot be resolved"),
    ):
        if substring.lower() in message.lower():
            return reason
    last_line = message.strip().splitlines()[-1] if message.strip() else "an unknown error"
    return "reports: " + last_line.rpartition("FATAL:")[2].strip().rstrip(".")
