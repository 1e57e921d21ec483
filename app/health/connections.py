"""Check the connection to the database, with an error for the operator who has set the URL."""

import psycopg2
from sqlalchemy.engine import make_url

from config.broker_connection import CONNECT_TIMEOUT_S, failure_reason, server_address


def database_error(database_url: str, setting: str = "DATABASE_URL") -> str | None:
    """Connect to the database that a setting names once; return None, or why that failed."""
    url = make_url("postgresql://" + database_url.partition("://")[2])
    try:
        psycopg2.connect(
            url.render_as_string(hide_password=False), connect_timeout=CONNECT_TIMEOUT_S, application_name="ping"
        ).close()
    except psycopg2.OperationalError as error:
        address = server_address(url.host or str(url.query.get("host", "localhost")), url.port or 5432)
        return f"PostgreSQL at {address} {failure_reason(str(error))}; is {setting} right?"
    return None
