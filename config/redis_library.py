"""redis-py, imported without OpenTelemetry.

It imports OpenTelemetry's SDK wherever that is installed, to offer metrics of its own that nobody here uses: a quarter
of its time to import, in every process. So its import finds none; traces import it later, where they are wanted.
"""

import sys

_is_blocked = "opentelemetry" not in sys.modules
if _is_blocked:
    sys.modules["opentelemetry"] = None  # type: ignore[assignment]  # Python's way to say that a module cannot be imported
try:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry
finally:
    if _is_blocked:
        del sys.modules["opentelemetry"]

__all__ = ["NoBackoff", "Retry", "redis"]
