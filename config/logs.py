"""Logging: JSON lines on standard error, ours and the libraries'."""

import logging
import time
import traceback
from typing import Any

import orjson

# `data` is Celery's, and holds the text of a task's exception.
_STANDARD_ATTRIBUTES = {"data", *logging.makeLogRecord({}).__dict__, "message", "asctime"}

_QUIET_LIBRARIES = ("werkzeug", "flit_core")
"""Those that tell of what went well: of each request, which has a line of ours, and of each file of the wheel."""


class JsonFormatter(logging.Formatter):
    """Format a record as one JSON object, with an exception's type and frames, since its message may repeat a value."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
        }
        line.update({name: value for name, value in record.__dict__.items() if name not in _STANDARD_ATTRIBUTES})
        if record.exc_info and record.exc_info[0]:
            line["exception"] = record.exc_info[0].__name__
            line["frames"] = [
                f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(record.exc_info[2])
            ]
        return orjson.dumps(line, option=orjson.OPT_UTC_Z).decode()


def _message(record: logging.LogRecord) -> str:
    """Return a record's message; of a failed task without its exception, which may repeat a value."""
    message = record.getMessage()
    is_about_a_task = record.name in ("celery.app.trace", "celery.worker.request")
    has_succeeded = "%(return_value)s" in str(record.msg)
    return message.split(": ")[0] if is_about_a_task and not has_succeeded else message


def install_logging(level: str) -> None:
    """Write every logger's records of a level and above as JSON lines to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.captureWarnings(True)
    for name in _QUIET_LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)
