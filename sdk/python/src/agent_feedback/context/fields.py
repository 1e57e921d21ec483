"""The company's own catalog of fields."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from agent_feedback.context.calls import CallOptions, ContextCall, ContextClient, JsonObject


class FieldDefinition(NamedTuple):
    """A field of the company's own, with its category and allowed values; None leaves the default of the service."""

    label: str
    type: str
    allowed_values: Sequence[str]
    targeted_advertising_safe: bool | None = None
    operations: Sequence[str] | None = None
    enabled: bool | None = None

    def as_members(self) -> JsonObject:
        """Return the members of a body."""
        return {
            "label": self.label,
            "type": self.type,
            "allowedValues": list(self.allowed_values),
            "targetedAdvertisingSafe": self.targeted_advertising_safe,
            "operations": None if self.operations is None else list(self.operations),
            "enabled": self.enabled,
        }


class ContextFields:
    """The company's own fields, which replace the built-in catalog. Scripts that manage them use `raise_errors`."""

    def __init__(self, client: ContextClient, path: str) -> None:
        self._client, self._path = client, path

    def put(
        self, key: str, definition: FieldDefinition, *, raise_errors: bool = False, timeout: float | None = None
    ) -> JsonObject | None:
        """Create or replace a field, and return it."""
        body = definition.as_members()
        return self._client.call(
            ContextCall("PUT", self._field_path(key), body), dict, None, CallOptions(raise_errors, timeout)
        )

    def list(self, *, raise_errors: bool = False, timeout: float | None = None) -> JsonObject | None:
        """Return the fields, and whether the built-in catalog is still in use."""
        return self._client.call(ContextCall("GET", self._path), dict, None, CallOptions(raise_errors, timeout))

    def delete(self, key: str, *, raise_errors: bool = False, timeout: float | None = None) -> JsonObject | None:
        """Remove a field, and return its last definition; requests that contain it keep it."""
        return self._client.call(
            ContextCall("DELETE", self._field_path(key)), dict, None, CallOptions(raise_errors, timeout)
        )

    def _field_path(self, key: str) -> str:
        return f"{self._path}/{quote(key, safe='')}"
