"""The settings of the service, read once from environment variables.

Every other module is given a `Settings`; none reads the environment itself.
"""

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from limits import RateLimitItem
from marshmallow import EXCLUDE, ValidationError, fields, validate

from config.allowlist import ALLOWLIST, Allowlist, BadAllowlist, read_allowlist
from config.fields import IS_BROKER, IS_POSTGRES, IS_REDIS, Contact, LogLevel, WebUrl
from config.limits import LimitName, LimitSettingsSchema, QuotaName, limit_variable, quota_variable
from config.observability import (
    MetricsAccess,
    ObservabilitySchema,
    exports_reviews,
    has_traces,
    metrics_access,
    observability_errors,
    unsafe_tokens,
)
from config.secret_rings import Secret, read_ring, ring_errors, unsafe_secrets

GIVE_UP = 3
"""The exit code at which gunicorn ends instead of starting its workers again and again."""

OIDC_SETTINGS = (
    "AGENT_FEEDBACK_OIDC_ISSUER",
    "AGENT_FEEDBACK_OIDC_CLIENT_ID",
    "AGENT_FEEDBACK_OIDC_CLIENT_SECRET",
)

RUNNING_COPY = "running.json"
"""Where a running `bin/dev` writes its environment down, inside its data directory."""


class Stage(StrEnum):
    """The stage of a deployment."""

    DEVELOPMENT = "development"
    PRODUCTION = "production"


class BadSettings(Exception):
    """The environment variables are invalid; the message lists every error."""

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__("The service cannot start:\n" + "\n".join(f"  - {mistake}" for mistake in mistakes))
        self.mistakes = mistakes


class _EnvironmentSchema(ObservabilitySchema, LimitSettingsSchema):  # type: ignore[misc, valid-type]  # made from the names of the limits
    """The environment variables that the service knows."""

    class Meta:
        unknown = EXCLUDE

    AGENT_FEEDBACK_ENV = fields.Enum(Stage, by_value=True, load_default=Stage.PRODUCTION)
    DATABASE_URL = fields.String(required=True, validate=IS_POSTGRES)
    AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL = fields.String(load_default=None, validate=IS_POSTGRES)
    REDIS_URL = fields.String(load_default=None, validate=IS_REDIS)
    AGENT_FEEDBACK_BROKER_URL = fields.String(load_default=None, validate=IS_BROKER)
    AGENT_FEEDBACK_PUBLIC_URL = WebUrl(required=True, schemes=("http", "https"))
    AGENT_FEEDBACK_APP_URL = WebUrl(load_default=None, schemes=("http", "https"))
    AGENT_FEEDBACK_SERVICE_NAME = fields.String(load_default="Agent Feedback", validate=validate.Length(1, 60))
    AGENT_FEEDBACK_KEY_PEPPER = fields.String(required=True)
    AGENT_FEEDBACK_SEALING_KEYS = fields.String(required=True)
    AGENT_FEEDBACK_LOG_LEVEL = LogLevel(load_default="INFO")
    AGENT_FEEDBACK_DATA_DIR = fields.String(load_default=".data")
    AGENT_FEEDBACK_POOL_SIZE = fields.Integer(load_default=4, validate=validate.Range(1, 100))
    AGENT_FEEDBACK_PREPARED_STATEMENTS = fields.Boolean(load_default=True)
    AGENT_FEEDBACK_TRUSTED_PROXIES = fields.Integer(load_default=0, validate=validate.Range(0, 10))
    AGENT_FEEDBACK_OIDC_ISSUER = WebUrl(load_default=None, schemes=("http", "https"))
    AGENT_FEEDBACK_OIDC_CLIENT_ID = fields.String(load_default=None)
    AGENT_FEEDBACK_OIDC_CLIENT_SECRET = fields.String(load_default=None)
    AGENT_FEEDBACK_REQUEST_DEADLINE_S = fields.Integer(load_default=10, validate=validate.Range(1, 120))
    AGENT_FEEDBACK_SECURITY_CONTACT = Contact(load_default=None)
    AGENT_FEEDBACK_SECURITY_POLICY = WebUrl(load_default=None, schemes=("https",))
    AGENT_FEEDBACK_SWEEP_INTERVAL_S = fields.Integer(load_default=60, validate=validate.Range(2, 300))
    AGENT_FEEDBACK_WEBHOOKS_ALLOW_PRIVATE = fields.Boolean(load_default=False)


@dataclass(frozen=True, slots=True)
class OidcProvider:
    """An OpenID provider, at which users may sign in."""

    issuer: str
    client_id: str
    client_secret: Secret


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one copy of the service."""

    stage: Stage
    database_url: str
    """With the driver named: postgresql+psycopg2://…"""
    migrations_database_url: str
    """The same database, as the role that owns the tables."""
    broker_url: str
    """Redis, Valkey or RabbitMQ."""
    counters_url: str | None
    """The Redis or Valkey on which processes share the counters of limits; without it each counts for itself."""
    feedback_url: str
    """{base_url} of the specification: outcomes, telemetry, discovery; without a trailing slash."""
    app_url: str
    """{app_url} of the specification: the company's own endpoints; without a trailing slash."""
    service_name: str
    key_peppers: tuple[Secret, ...]
    """Newest first: the newest signs and digests, every one recognises."""
    sealing_secrets: tuple[Secret, ...]
    """Newest first: the newest encrypts, every one decrypts."""
    log_level: str
    data_dir: Path
    pool_size: int
    """Connections in the pool of a process: one for each thread, which has another for prepared statements."""
    has_prepared_statements: bool
    """False behind a connection pooler in transaction mode: nothing is kept in a session of the database."""
    trusted_proxies: int
    """How many proxies in front each add the address of their caller to X-Forwarded-For."""
    request_deadline_s: int
    """The headers and the body of a request have to arrive within it."""
    sweep_interval_s: int
    """The period of the jobs that process rows whose notification was lost."""
    webhooks_allow_private: bool
    """Whether webhooks may go to private addresses and by http, as in development."""
    exports_reviews: bool
    """Whether each review is sent to the OpenTelemetry collector that the standard variables name."""
    exports_notes: bool
    """Whether it is sent with its note."""
    oidc: OidcProvider | None
    """At which users may sign in, beside their passwords."""
    limits: Mapping[LimitName, RateLimitItem | None]
    """How many requests are allowed in which time; None for no limit."""
    quotas: Mapping[QuotaName, int]
    """How many of something an environment may add on a UTC day; 0 for no quota."""
    metrics: MetricsAccess | None
    """Who may read `/metrics`; None for nobody, and then nothing is counted."""
    has_traces: bool
    """Whether traces are sent to a collector, as the standard variables of OpenTelemetry say."""
    security_contact: str | None
    """Where a vulnerability is reported, as `mailto:` or `https:` URL; None leaves security.txt out."""
    security_policy: str | None
    """The https URL of how reports are handled."""
    allowlist: Allowlist
    """What evidence may name; a file of the release, not of the environment."""

    @property
    def is_development(self) -> bool:
        """Whether this copy runs on somebody's own machine."""
        return self.stage is Stage.DEVELOPMENT

    @property
    def has_https(self) -> bool:
        """Whether browsers reach this copy over HTTPS only."""
        return not self.is_development and self.feedback_url.startswith("https://")

    @property
    def copy_id(self) -> str:
        """Eight hex digits of the public URL: cookies ignore ports, so those of two copies on a host need two names."""
        return hashlib.sha256(self.feedback_url.encode()).hexdigest()[:8]

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> "Settings":
        """Read the settings, or raise `BadSettings` with everything that is wrong."""
        environment = join_running_copy(os.environ if environ is None else environ)
        try:
            values: dict[str, Any] = _EnvironmentSchema().load(
                {name: text for name, text in environment.items() if text}
            )
        except ValidationError as error:
            values, mistakes = dict(error.valid_data), _words(error)  # type: ignore[arg-type]  # a dict after a dict was loaded
        else:
            mistakes = []
        if not environment.get("REDIS_URL") and not environment.get("AGENT_FEEDBACK_BROKER_URL"):
            mistakes.append("REDIS_URL is not set")
        mistakes += [*_incomplete_oidc(environment), *ring_errors(values), *_unsafe(values)]
        mistakes += observability_errors(values, environment)
        try:
            allowlist = read_allowlist(ALLOWLIST.read_text())
        except BadAllowlist as error:
            mistakes += [f"{ALLOWLIST.name}: {mistake}" for mistake in error.errors]
        if mistakes:
            raise BadSettings(sorted(mistakes))
        return cls._of(values, allowlist)

    @classmethod
    def _of(cls, values: dict[str, Any], allowlist: Allowlist) -> "Settings":
        feedback_url = values["AGENT_FEEDBACK_PUBLIC_URL"].rstrip("/")
        return cls(
            stage=values["AGENT_FEEDBACK_ENV"],
            database_url=_with_driver(values["DATABASE_URL"]),
            migrations_database_url=_with_driver(
                values["AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL"] or values["DATABASE_URL"]
            ),
            broker_url=values["AGENT_FEEDBACK_BROKER_URL"] or values["REDIS_URL"],
            counters_url=values["REDIS_URL"],
            feedback_url=feedback_url,
            app_url=(values["AGENT_FEEDBACK_APP_URL"] or feedback_url).rstrip("/"),
            service_name=values["AGENT_FEEDBACK_SERVICE_NAME"],
            key_peppers=read_ring(values["AGENT_FEEDBACK_KEY_PEPPER"]),
            sealing_secrets=read_ring(values["AGENT_FEEDBACK_SEALING_KEYS"]),
            log_level=values["AGENT_FEEDBACK_LOG_LEVEL"],
            data_dir=Path(values["AGENT_FEEDBACK_DATA_DIR"]),
            pool_size=values["AGENT_FEEDBACK_POOL_SIZE"],
            has_prepared_statements=values["AGENT_FEEDBACK_PREPARED_STATEMENTS"],
            trusted_proxies=values["AGENT_FEEDBACK_TRUSTED_PROXIES"],
            request_deadline_s=values["AGENT_FEEDBACK_REQUEST_DEADLINE_S"],
            sweep_interval_s=values["AGENT_FEEDBACK_SWEEP_INTERVAL_S"],
            webhooks_allow_private=values["AGENT_FEEDBACK_WEBHOOKS_ALLOW_PRIVATE"],
            exports_reviews=exports_reviews(values),
            exports_notes=values["AGENT_FEEDBACK_OTEL_REVIEW_NOTES"],
            oidc=_oidc_provider(values),
            limits={name: values[limit_variable(name)] for name in LimitName},
            quotas={name: values[quota_variable(name)] for name in QuotaName},
            metrics=metrics_access(values),
            has_traces=has_traces(values),
            security_contact=values["AGENT_FEEDBACK_SECURITY_CONTACT"],
            security_policy=values["AGENT_FEEDBACK_SECURITY_POLICY"],
            allowlist=allowlist,
        )


def settings_or_exit() -> Settings:
    """Read the settings, or end the process with what is wrong: the frames that led here would only hide it."""
    try:
        return Settings.from_env()
    except BadSettings as error:
        sys.stderr.write(f"\n{error}\n\n")
        sys.exit(GIVE_UP)


def join_running_copy(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Add the environment of the `bin/dev` that runs on this data directory, if it is the one that is meant.

    So the command line finds the embedded servers, and the secrets of a development copy on a real server.
    """
    path = Path(environ.get("AGENT_FEEDBACK_DATA_DIR", ".data")) / RUNNING_COPY
    if environ.get("AGENT_FEEDBACK_ENV") == Stage.PRODUCTION or not path.is_file():
        return environ
    running: dict[str, str] = json.loads(path.read_text())
    if environ.get("DATABASE_URL", running["DATABASE_URL"]) != running["DATABASE_URL"]:
        return environ
    return {**running, **environ}


def _words(error: ValidationError) -> list[str]:
    messages: dict[str, Any] = error.normalized_messages()  # type: ignore[no-untyped-call]  # marshmallow gives it no types
    hints = {"DATABASE_URL": ", and no bin/dev is running on AGENT_FEEDBACK_DATA_DIR"}
    return [
        f"{name} is not set{hints.get(name, '')}"
        if "Missing data" in texts[0]
        else f"{name}: {_decapitalized(texts[0].rstrip('.'))}"
        for name, texts in messages.items()
    ]


def _decapitalized(sentence: str) -> str:
    """Return a sentence that can stand after a colon; the values that it names stay as they are."""
    return sentence[:1].lower() + sentence[1:]


def _oidc_provider(values: dict[str, Any]) -> OidcProvider | None:
    issuer, client_id, client_secret = (values[name] for name in OIDC_SETTINGS)
    return OidcProvider(issuer, client_id, Secret(client_secret)) if issuer else None


def _incomplete_oidc(environment: Mapping[str, str]) -> list[str]:
    missing = [name for name in OIDC_SETTINGS if not environment.get(name)]
    if len(missing) in (0, len(OIDC_SETTINGS)):
        return []
    return [f"{name} is not set, while other settings of OpenID Connect are; set all three or none" for name in missing]


def _unsafe(values: dict[str, Any]) -> list[str]:
    """Return the errors of settings that only development may have."""
    if values.get("AGENT_FEEDBACK_ENV", Stage.PRODUCTION) is Stage.DEVELOPMENT:
        return []
    mistakes = [
        f"{name} must be an https URL in production"
        for name in ("AGENT_FEEDBACK_PUBLIC_URL", "AGENT_FEEDBACK_APP_URL", "AGENT_FEEDBACK_OIDC_ISSUER")
        if (values.get(name) or "https://").partition("://")[0] != "https"
    ]
    return [*mistakes, *unsafe_secrets(values), *unsafe_tokens(values)]


def _with_driver(url: str) -> str:
    return "postgresql+psycopg2://" + url.partition("://")[2]
