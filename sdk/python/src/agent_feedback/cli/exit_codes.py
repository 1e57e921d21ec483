"""How commands end: the exit codes of `agent-feedback agent` and `agent-feedback doctor`."""

DONE = 0
REFUSED = 1
UNUSABLE = 2
UNAVAILABLE = 3
NO_ENVELOPE = 4
NOT_CONFIRMED = 5
STOPPED = 130
PIPE_CLOSED = 141


class Failure(Exception):
    """A command ends with this message and this exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code
