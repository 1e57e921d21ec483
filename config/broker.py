"""Check the connection to the broker, with an error for the operator who has set the URL."""

from kombu import Connection

CONNECT_TIMEOUT_S = 3


def broker_error(broker_url: str) -> str | None:
    """Connect to the broker once; return None, or why that failed."""
    timeouts = {"socket_timeout": CONNECT_TIMEOUT_S, "socket_connect_timeout": CONNECT_TIMEOUT_S}
    # Kombu fails in other ways too, for example with TypeError for an unknown option in the URL.
    try:
        with Connection(broker_url, transport_options=timeouts) as connection:
            address = server_address(connection.hostname or "localhost", connection.port or 6379)
            connection.connect()
    except Exception as error:
        return f"Redis at {address} {failure_reason(str(error))}; is REDIS_URL right?"
    return None


def server_address(host: str, port: int) -> str:
    """Return the address of a server, without user and password."""
    path = host.rpartition("@")[2].removeprefix("socket://")
    return path if path.startswith("/") else f"{host}:{port}"


def failure_reason(message: str) -> str:
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
