"""One log line for each request."""

import contextlib
import logging
import os
from datetime import UTC, datetime

from flask import Request, Response

from app.core.wire.serialization import dumps

STANDARD_ERROR = 2

logger = logging.getLogger("agent_feedback.access")


def write_access_line(request: Request, response: Response, request_id: str, seconds: float) -> None:
    """Write the log line of a request without the logging library, which is slower than the rest of the handling."""
    # The platform asks for our health every few seconds; that is news only when it is bad.
    if not logger.isEnabledFor(logging.INFO) or (request.blueprint == "health" and response.status_code < 500):
        return
    line = {
        "at": datetime.now(UTC),
        "level": "info",
        "logger": logger.name,
        "message": "request",
        "requestId": request_id,
        "method": request.method,
        # The rule, not the path: a path may hold anything that somebody typed.
        "route": request.url_rule.rule if request.url_rule else None,
        "status": response.status_code,
        "durationMs": round(seconds * 1000, 2),
    }
    # Nobody may be reading any more; what was stored is answered all the same.
    with contextlib.suppress(OSError):
        os.write(STANDARD_ERROR, dumps(line) + b"\n")
