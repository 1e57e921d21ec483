"""How gunicorn serves the web process."""

import os
import resource
from typing import Any

from config import web_metrics

bind = [f"{os.environ.get('AGENT_FEEDBACK_HOST', '0.0.0.0')}:{os.environ.get('PORT', '8000')}"]

# The figures below are those of `python -m bench.web_limits` on two busy cores, 2026-11-21.

# One process a core; four threads each wait for the database while another works. The pools of a process have as many
# connections as it has threads, and PostgreSQL allows a hundred by default. Of 16 clients at once, 2, 4 and 8 threads
# answer 266, 489 and 669 reviews a second with a p99 of 132, 113 and 95 ms: where PostgreSQL has connections to spare,
# a larger AGENT_FEEDBACK_POOL_SIZE serves crowds better. No thread ever waits for a client.
worker_class = "config.web_worker.WebWorker"
workers = int(os.environ.get("WEB_CONCURRENCY") or os.cpu_count() or 2)
threads = int(os.environ.get("AGENT_FEEDBACK_POOL_SIZE", "4"))

# The app is loaded once, before the workers are forked: one that replaces another answers within milliseconds, and all
# share its memory. SIGHUP replaces the workers by some of the same release; docs/operations.md says how another starts.
preload_app = True

# Agents and backends send many small requests; a kept connection saves each of them a handshake.
keepalive = 15

# The worker sends what a client does not take at once; a file sent by the kernel would wait for the client.
sendfile = False

# A silent connection costs about 1 KiB and a file descriptor, of which a process has 1,024 by default. Beyond the limit
# the one whose time is up first makes room.
file_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
worker_connections = 800 if file_limit == resource.RLIM_INFINITY else max(50, min(800, file_limit - 200))

# 500 connections that are opened at once are all answered after 0.6 s, so a queue of 2,048 bridges two seconds.
backlog = 2048

# A worker whose main loop is stuck for this long is replaced; single requests have limits of their own.
timeout = 30
# Longer than any request may wait for the database.
graceful_timeout = 10

# A worker that grew or leaks is replaced; not all at the same moment. It asks for its successor before it leaves.
max_requests = 200_000
max_requests_jitter = 20_000

# The heartbeat of a worker must not wait for a disk.
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None

# Nobody talks to a running gunicorn here.
control_socket_disable = True

# What is counted is kept in memory, in files that all workers read; nothing of this exists where nobody may read it.
if web_metrics.is_open(os.environ):
    bind += web_metrics.list_binds(os.environ)
    web_metrics.prepare_folder(worker_tmp_dir)
    pre_fork, post_fork, on_exit = web_metrics.give_slot, web_metrics.take_slot, web_metrics.remove_folder

# The service writes its own log, one JSON line a request.
accesslog = None
errorlog = "-"
# Its warnings repeat what a broken client sent.
loglevel = "error"


def count_workers(server: Any) -> int:
    """Return how many workers there have to be: as many as configured, beside those that are leaving."""
    leaving_workers = [worker for worker in server.WORKERS.values() if worker.is_leaving]
    return int(server.cfg.workers) + len(leaving_workers)


def nworkers_changed(server: Any, new_value: int, _old_value: int | None) -> None:
    """Correct the number of workers after SIGTTIN, by which a leaving worker asks for its successor."""
    # Two signals that arrive together are one, so they are not counted; nor does an operator's SIGTTIN change anything.
    wanted = count_workers(server)
    if new_value != wanted:
        server.num_workers = wanted


def child_exit(server: Any, worker: Any) -> None:
    """Correct the number of workers after one has ended, and free its files of metrics."""
    server.num_workers = count_workers(server)
    if web_metrics.is_open(os.environ):
        web_metrics.free_slot(server, worker)
