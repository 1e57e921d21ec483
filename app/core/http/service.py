"""The class of the app."""

from collections.abc import Callable
from typing import Any

from flask import Flask


class Service(Flask):
    """A Flask app whose views are all plain functions, which saves a check for each of them."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function unchanged, since no view is asynchronous."""
        return func
