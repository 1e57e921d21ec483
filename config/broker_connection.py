"""Check the connections to the broker and the counters, with errors for the operator who has set the URL."""

from kombu import Connection

from config.broker import is_rabbitmq, tls_options
from config.settings import Settings

CONNECT_TIMEOUT_S = 3


def broker_error(broker_url: str, setting: str = "REDIS_URL") -> str | None:
    """Connect once to Redis or RabbitMQ at the URL that a setting names; return None, or why that failed."""
    name, port = ("RabbitMQ", 5672) if is_rabbitmq(broker_url) else ("Redis", 6379)
    options = {"socket_timeout": CONNECT_TIMEOUT_S, "socket_connect_timeout": CONNECT_TIMEOUT_S}
    # Kombu fails in other ways too, for example with TypeError for an unknown option in the URL.
    try:
        with Connection(
            broker_url,
            connect_timeout=CONNECT_TIMEOUT_S,
            ssl=tls_options(broker_url) or False,
            transport_options={} if is_rabbitmq(broker_url) else options,
        ) as connection:
            address = server_address(connection.hostname or "localhost", connection.port or port)
            connection.connect()
    except Exception as error:
        return f"{name} at {address} {failure_reason(str(error))}; is {setting} right?"
    return None


def server_errors(settings: Settings) -> list[str]:
    """Connect once to the broker and to the server of the counters; return why that failed."""
    urls = {settings.broker_url: "AGENT_FEEDBACK_BROKER_URL"}
    if settings.counters_url is not None:
        urls[settings.counters_url] = "REDIS_URL"
    return [error for url, setting in urls.items() if (error := broker_error(url, setting))]


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
