"""Methods that are called when a process forks or ends, for as long as their object exists."""

import atexit
import os
from collections.abc import Callable
from typing import Any
from weakref import WeakMethod


def call_after_fork(method: Callable[[], Any]) -> None:
    """Call a method in every process that this one forks, before anything else; a system without forks never does."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_weak_call(method))


def call_at_exit(method: Callable[[], Any]) -> None:
    """Call a method when the interpreter ends."""
    atexit.register(_weak_call(method))


def _weak_call(method: Callable[[], Any]) -> Callable[[], None]:
    # Neither registry ever lets go of what it holds.
    reference = WeakMethod(method)

    def call() -> None:
        living_method = reference()
        if living_method is not None:
            living_method()

    return call
