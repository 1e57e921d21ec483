"""How gunicorn serves the web process."""

import os
import socket
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gunicorn.arbiter import Arbiter

bind = f"{os.environ.get('AGENT_FEEDBACK_HOST', '0.0.0.0')}:{os.environ.get('PORT', '8000')}"

# One process a core; four threads each wait for the database while another works. The pools of a process have as many
# connections as it has threads.
worker_class = "config.web_worker.WebWorker"
workers = int(os.environ.get("WEB_CONCURRENCY") or os.cpu_count() or 2)
threads = int(os.environ.get("AGENT_FEEDBACK_POOL_SIZE", "4"))

# Agents and backends send many small requests; a kept connection saves each of them a handshake.
keepalive = 15

# A worker whose main loop is stuck for this long is replaced; single requests have limits of their own.
timeout = 30
graceful_timeout = 5

# A worker that grew or leaks is replaced; not all at the same moment.
max_requests = 200_000
max_requests_jitter = 20_000

# The heartbeat of a worker must not wait for a disk.
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None

# Nobody talks to a running gunicorn here.
control_socket_disable = True

# The service writes its own log, one JSON line a request.
accesslog = None
errorlog = "-"
# Its warnings repeat what a broken client sent.
loglevel = "error"

CLIENT_TIMEOUT_S = 10


def when_ready(server: "Arbiter") -> None:
    """Limit the time that a client may pause within a request, which would otherwise occupy a thread for ever.

    Accepted sockets inherit the limit from the listening one.
    """
    for listener in server.LISTENERS:
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", CLIENT_TIMEOUT_S, 0))
