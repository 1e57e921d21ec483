"""Which agents, assistants and verifying vendors evidence may name: `allowlist.toml`, read and checked."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from config.fields import WebUrl

ALLOWLIST = Path(__file__).with_name("allowlist.toml")

FETCH_CLASSES = ("crawling", "search", "user_fetch", "other_crawl")
USER_FETCH = "user_fetch"
SCHEMA_VERSIONS = (1,)
"""Versions of the evidence batch, in their order."""

_OTHER_METHODS = ("published_ip_range", "forward_confirmed_reverse_dns")
"""Network evidence that no vendor stands behind."""

_NAME = validate.Regexp(r"^[a-z][a-z0-9-]{0,31}\Z", error="must be a lowercase name")
_TOKEN = validate.Regexp(r"^[A-Za-z][A-Za-z0-9-]{1,63}\Z", error="must be one product token")
_HOST = validate.Regexp(r"^([a-z0-9-]{1,63}\.)+[a-z]{2,63}\Z", error="must be one hostname in lower case")


class BadAllowlist(Exception):
    """The file cannot be used; lists everything that is wrong with it."""

    def __init__(self, errors: list[str]) -> None:
        super().__init__("\n".join(errors))
        self.errors = errors


@dataclass(frozen=True, slots=True)
class Agent:
    """A bot that evidence may name by its token."""

    token: str
    provider: str
    fetch_class: str
    schema_version: int
    is_assistant_visit: bool
    """Whether a fetch of it may be entry_name the visit of an assistant."""
    source: str
    """Where its provider documents it."""
    checked_on: date
    """When it was last looked up there."""


@dataclass(frozen=True, slots=True)
class Referrer:
    """A referrer hostname of an assistant."""

    host: str
    provider: str
    schema_version: int
    source: str
    checked_on: date


@dataclass(frozen=True, slots=True)
class Allowlist:
    """Everything that may be named, by its exact name."""

    agents: Mapping[str, Agent]
    referrers: Mapping[str, Referrer]
    network_methods: Mapping[str, int]
    """Each with the version of the batch that may name it first."""

    def of(self, version: int) -> "Allowlist":
        """Return what a batch of this version may name."""
        return Allowlist(
            {token: agent for token, agent in self.agents.items() if agent.schema_version <= version},
            {host: referrer for host, referrer in self.referrers.items() if referrer.schema_version <= version},
            {method: first for method, first in self.network_methods.items() if first <= version},
        )


class _Day(fields.Field[date]):
    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> date:
        if type(value) is not date:
            raise ValidationError("must be a date, such as 2026-01-31")
        return value


class _EntrySchema(Schema):
    provider = fields.String(required=True, validate=_NAME)
    schema_version = fields.Integer(required=True, strict=True, validate=validate.OneOf(SCHEMA_VERSIONS))
    source = WebUrl(required=True, schemes=("https",))
    checked = _Day(required=True)


class _AgentSchema(_EntrySchema):
    token = fields.String(required=True, validate=_TOKEN)
    fetch_class = fields.String(required=True, data_key="class", validate=validate.OneOf(FETCH_CLASSES))
    assistant_visit = fields.Boolean(load_default=None, truthy={True}, falsy={False})


class _ReferrerSchema(_EntrySchema):
    host = fields.String(required=True, validate=_HOST)


class _VendorSchema(_EntrySchema):
    class Meta:
        exclude = ("provider",)

    vendor = fields.String(required=True, validate=_NAME)


_SECTIONS: dict[str, tuple[str, Schema]] = {
    "agents": ("token", _AgentSchema()),
    "referrers": ("host", _ReferrerSchema()),
    "vendors": ("vendor", _VendorSchema()),
}

Entries = dict[str, list[dict[str, Any]]]


def read_allowlist(text: str) -> Allowlist:
    """Read the text of the file, or raise `BadAllowlist` with everything that is wrong with it."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadAllowlist([f"it is not TOML: {error}"]) from None
    entries: Entries = {}
    errors = [f"{name}: no such section" for name in content if name not in _SECTIONS]
    for name in _SECTIONS:
        section = content.get(name)
        if not isinstance(section, list) or not section:
            errors.append(f"{name}: no entries")
            continue
        entries[name], section_errors = _load(name, section)
        errors += section_errors
    if errors:
        raise BadAllowlist(errors)
    return _build_allowlist(entries)


def _load(name: str, section: Sequence[Any]) -> tuple[list[dict[str, Any]], list[str]]:
    key, schema = _SECTIONS[name]
    entries, errors, names = [], [], set()
    for number, entry in enumerate(section, 1):
        entry_name = str(entry.get(key, "")) if isinstance(entry, dict) else ""
        label = f"{name} {number}" + (f" ({entry_name})" if entry_name else "")
        try:
            entries.append(schema.load(entry))
        except ValidationError as error:
            errors += [f"{label}: {words}" for words in _words(error)]
        else:
            errors += [f"{label}: {words}" for words in _contradictions(entries[-1])]
        if entry_name and entry_name in names:
            errors.append(f"{label}: is there twice")
        names.add(entry_name)
    return entries, errors


def _words(error: ValidationError) -> Iterator[str]:
    messages: dict[str, Any] = error.normalized_messages()  # type: ignore[no-untyped-call]  # marshmallow gives it no types
    for field, texts in messages.items():
        yield f"{field}: {texts[0].rstrip('.').lower()}"


def _contradictions(entry: dict[str, Any]) -> Iterator[str]:
    """Say where a class calls a visit what is said to be none, or the reverse."""
    is_visit = entry.get("assistant_visit")
    if is_visit is not None and is_visit is not (entry["fetch_class"] == USER_FETCH):
        yield f"assistant_visit: contradicts class {entry['fetch_class']}"


def _build_allowlist(entries: Entries) -> Allowlist:
    methods = {f"{entry['vendor']}_verified_bot": entry["schema_version"] for entry in entries["vendors"]}
    return Allowlist(
        agents={
            entry["token"]: Agent(
                entry["token"],
                entry["provider"],
                entry["fetch_class"],
                entry["schema_version"],
                is_assistant_visit=entry["fetch_class"] == USER_FETCH,
                source=entry["source"],
                checked_on=entry["checked"],
            )
            for entry in entries["agents"]
        },
        referrers={
            entry["host"]: Referrer(
                entry["host"], entry["provider"], entry["schema_version"], entry["source"], entry["checked"]
            )
            for entry in entries["referrers"]
        },
        network_methods={**methods, **dict.fromkeys(_OTHER_METHODS, SCHEMA_VERSIONS[0])},
    )
