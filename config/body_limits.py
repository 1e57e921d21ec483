"""How large the body of a request may be. The web server buffers no more, and the endpoints accept no more."""

AGENT_BODY_BYTES = 64 * 1024
BATCH_BODY_BYTES = 1024 * 1024

BATCH_PATH_END = "/batches"
"""The paths of the endpoints that take batches end with this."""


def body_limit(path: str) -> int:
    """Return the largest body in bytes that the endpoint at a path takes."""
    return BATCH_BODY_BYTES if path.endswith(BATCH_PATH_END) else AGENT_BODY_BYTES
