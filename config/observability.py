"""The settings of metrics, of traces and of reviews as OpenTelemetry events."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from marshmallow import Schema, fields, validate

from config.fields import WebUrl
from config.secret_rings import Secret, weaknesses

PORT, TOKEN = "AGENT_FEEDBACK_METRICS_PORT", "AGENT_FEEDBACK_METRICS_TOKEN"

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")

LOG_ENDPOINTS = ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""The standard variables that name a collector of log records, as which reviews are sent."""

TRACE_DEFAULTS = {
    "OTEL_SERVICE_NAME": "agent-feedback",
    # Baggage is whatever a caller likes to send, and would travel on to the broker.
    "OTEL_PROPAGATORS": "tracecontext",
    # A platform asks for these every few seconds.
    "OTEL_PYTHON_FLASK_EXCLUDED_URLS": "/healthz$,/readyz$,/metrics$",
    # Of one export, retries included: a worker that ends waits for its last one.
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "3",
}
"""Standard variables of OpenTelemetry whose defaults are others here; the libraries read them themselves."""


MAX_EXPORT_TIMEOUT_S = 50
"""The longest time-out of an export: seconds, as OpenTelemetry's Python reads it, and not milliseconds."""


def _export_timeout() -> fields.Float:
    error = "must be seconds, more than 0 and at most {max}"
    return fields.Float(
        load_default=None, validate=validate.Range(0, MAX_EXPORT_TIMEOUT_S, min_inclusive=False, error=error)
    )


class ObservabilitySchema(Schema):
    """The environment variables of metrics, traces and exported reviews."""

    AGENT_FEEDBACK_METRICS_PORT = fields.Integer(load_default=None, validate=validate.Range(1, 65535))
    AGENT_FEEDBACK_METRICS_HOST = fields.String(load_default="127.0.0.1")
    AGENT_FEEDBACK_METRICS_TOKEN = fields.String(load_default=None)
    OTEL_EXPORTER_OTLP_ENDPOINT = WebUrl(load_default=None, schemes=("http", "https"))
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = WebUrl(load_default=None, schemes=("http", "https"))
    OTEL_EXPORTER_OTLP_PROTOCOL = fields.String(load_default=None)
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL = fields.String(load_default=None)
    OTEL_EXPORTER_OTLP_TIMEOUT = _export_timeout()
    OTEL_EXPORTER_OTLP_LOGS_TIMEOUT = _export_timeout()
    OTEL_TRACES_EXPORTER = fields.String(load_default="otlp")
    OTEL_SDK_DISABLED = fields.String(load_default="false")
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT = WebUrl(load_default=None, schemes=("http", "https"))
    OTEL_LOGS_EXPORTER = fields.String(load_default="otlp")
    AGENT_FEEDBACK_OTEL_REVIEWS = fields.Boolean(load_default=None)
    AGENT_FEEDBACK_OTEL_REVIEW_NOTES = fields.Boolean(load_default=False)


@dataclass(frozen=True, slots=True)
class MetricsAccess:
    """Who may read the metrics: whoever reaches the port, and whoever has the token; at least one is not None."""

    port: int | None
    token: Secret | None


def metrics_access(values: Mapping[str, Any]) -> MetricsAccess | None:
    """Return who may read the metrics, None for nobody."""
    port, token = values[PORT], (values[TOKEN] or "").strip()
    return MetricsAccess(port, Secret(token) if token else None) if port or token else None


def has_traces(values: Mapping[str, Any]) -> bool:
    """Tell whether traces are sent: to which collector, how many and by which name say the standard variables."""
    is_disabled = values["OTEL_SDK_DISABLED"].strip().lower() == "true" or values["OTEL_TRACES_EXPORTER"] == "none"
    return any(values[name] for name in ENDPOINTS) and not is_disabled


def exports_reviews(values: Mapping[str, Any]) -> bool:
    """Tell whether reviews are sent as events: to the collector that is named, unless a setting says no."""
    if values["AGENT_FEEDBACK_OTEL_REVIEWS"] is not None:
        return bool(values["AGENT_FEEDBACK_OTEL_REVIEWS"])
    is_disabled = values["OTEL_SDK_DISABLED"].strip().lower() == "true" or values["OTEL_LOGS_EXPORTER"] == "none"
    return any(values[name] for name in LOG_ENDPOINTS) and not is_disabled


def set_trace_defaults() -> None:
    """Set the defaults of OpenTelemetry's variables, which its libraries read from the environment of the process."""
    is_set_otherwise = {
        "OTEL_SERVICE_NAME": "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", ""),
        "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": bool(os.environ.get("OTEL_EXPORTER_OTLP_TIMEOUT")),
    }
    for name, text in TRACE_DEFAULTS.items():
        if not os.environ.get(name) and not is_set_otherwise.get(name):
            os.environ[name] = text


def observability_errors(values: Mapping[str, Any], environment: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with these settings of any deployment."""
    port = values.get(PORT)
    if port is not None and str(port) == environment.get("PORT", "8000"):
        yield f"{PORT} must not be PORT"
    for name in PROTOCOLS:
        if values.get(name) not in (None, "http/protobuf"):
            yield f"{name}: the service sends http/protobuf only"
    if values.get("OTEL_TRACES_EXPORTER", "otlp") not in ("otlp", "none"):
        yield "OTEL_TRACES_EXPORTER: the service knows otlp and none"
    if values.get("AGENT_FEEDBACK_OTEL_REVIEWS") and not any(map(environment.get, LOG_ENDPOINTS)):
        yield f"AGENT_FEEDBACK_OTEL_REVIEWS is true, and {' or '.join(LOG_ENDPOINTS)} names no collector"


def unsafe_tokens(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the token in production; no error repeats it."""
    if values.get(TOKEN):
        yield from weaknesses(TOKEN, values[TOKEN].strip())
