"""A company's own questions."""

from collections.abc import Sequence
from urllib.parse import quote

from agent_feedback.context_calls import Content, ContextCalls, How, Question


class Fields:
    """The company's own questions; they replace the built-in catalog. Meant for scripts: see `raise_errors`."""

    def __init__(self, calls: ContextCalls, path: str) -> None:
        self._calls, self._path = calls, path

    def put(
        self,
        key: str,
        *,
        label: str,
        type: str,
        allowed_values: Sequence[str],
        targeted_advertising_safe: bool | None = None,
        operations: Sequence[str] | None = None,
        enabled: bool | None = None,
        raise_errors: bool = False,
        timeout: float | None = None,
    ) -> Content | None:
        """Create or replace a question, and return it."""
        body = {
            "label": label,
            "type": type,
            "allowedValues": list(allowed_values),
            "targetedAdvertisingSafe": targeted_advertising_safe,
            "operations": None if operations is None else list(operations),
            "enabled": enabled,
        }
        return self._calls.call(Question("PUT", self._at(key), body), dict, None, How(raise_errors, timeout))

    def list(self, *, raise_errors: bool = False, timeout: float | None = None) -> Content | None:
        """Return the questions, and whether the built-in catalog is still in use."""
        return self._calls.call(Question("GET", self._path), dict, None, How(raise_errors, timeout))

    def delete(self, key: str, *, raise_errors: bool = False, timeout: float | None = None) -> Content | None:
        """Remove a question, and return what it was; requests that were made with it keep it."""
        return self._calls.call(Question("DELETE", self._at(key)), dict, None, How(raise_errors, timeout))

    def _at(self, key: str) -> str:
        return f"{self._path}/{quote(key, safe='')}"
