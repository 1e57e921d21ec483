"""How Celery talks to the broker: Redis or Valkey, or RabbitMQ.

A message only notifies of rows that are in the database. So none has to survive the broker, and a queue may forget.
"""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

PUBLISH_TIMEOUT_S = 0.4
"""Of a connection attempt and of each answer, where a message is sent."""

WORKER_TIMEOUT_S = 5

HEARTBEAT_S = 20
"""How soon a worker notices that RabbitMQ is gone without a word."""

MAX_QUEUE_LENGTH = 1_000
"""Of RabbitMQ, which drops the oldest: while no worker runs, one message of a job tells as much as a thousand."""

TRANSIENT = 1


def is_rabbitmq(broker_url: str) -> bool:
    """Tell the kind of broker by its URL."""
    return broker_url.startswith("amqp")


def tls_options(broker_url: str) -> dict[str, str] | None:
    """Return what makes amqps:// check the name in a certificate; by itself it only checks who has signed it."""
    parts = urlsplit(broker_url)
    return {"server_hostname": parts.hostname or ""} if parts.scheme == "amqps" else None


def publisher_configuration(broker_url: str, queues: Iterable[str]) -> dict[str, Any]:
    """Return the configuration of what only sends messages; it gives up soon and reports each failure."""
    options: dict[str, Any] = {"socket_timeout": PUBLISH_TIMEOUT_S, "socket_connect_timeout": PUBLISH_TIMEOUT_S}
    if is_rabbitmq(broker_url):
        options = {"confirm_publish": True, "write_timeout": PUBLISH_TIMEOUT_S}
    return {
        "broker_transport_options": options,
        "broker_connection_retry": False,
        "broker_connection_timeout": PUBLISH_TIMEOUT_S,
        **_rabbitmq(broker_url, queues),
    }


def worker_configuration(broker_url: str, queues: Iterable[str]) -> dict[str, Any]:
    """Return the configuration of worker and beat; they reconnect for as long as it takes."""
    options: dict[str, Any] = {
        # A job finds its work in the database, and a sweep finds what a killed worker left. So a message is gone once
        # a worker has received it, and there is nothing to acknowledge: an acknowledgement on a connection that the
        # broker has lost ends the worker (AttributeError in kombu 5.7.0, transport/redis.py, Channel._connparams).
        "ack_emulation": False,
        "socket_timeout": WORKER_TIMEOUT_S,
        "socket_connect_timeout": WORKER_TIMEOUT_S,
    }
    if is_rabbitmq(broker_url):
        options = {"confirm_publish": True}
    return {
        "broker_transport_options": options,
        "broker_connection_timeout": WORKER_TIMEOUT_S,
        "broker_heartbeat": HEARTBEAT_S,
        # Before the job, as without acknowledgements: the job of a worker that dies is found by its sweep.
        "task_acks_late": False,
        **_rabbitmq(broker_url, queues),
    }


def _rabbitmq(broker_url: str, names: Iterable[str]) -> dict[str, Any]:
    """Return what only RabbitMQ is told; it refuses a queue that web and worker declare with different arguments."""
    if not is_rabbitmq(broker_url):
        return {}
    # Most commands send no message, and the library takes a tenth of their start.
    from kombu import Queue  # noqa: PLC0415  # see the line above

    queues = [Queue(name, routing_key=name, max_length=MAX_QUEUE_LENGTH) for name in sorted(names)]
    return {
        "task_queues": queues,
        "task_default_delivery_mode": TRANSIENT,
        "broker_use_ssl": tls_options(broker_url),
    }
