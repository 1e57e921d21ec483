"""The settings of metrics and traces."""

import os

import pytest

from config.observability import set_trace_defaults
from config.settings import Settings
from tests.config.test_settings import VALID_SETTINGS, find_errors


def test_metrics_are_closed_unless_a_port_or_a_token_opens_them() -> None:
    assert Settings.from_env(VALID_SETTINGS).metrics is None
    token = "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4OTk5"
    settings = Settings.from_env({**VALID_SETTINGS, "AGENT_FEEDBACK_METRICS_TOKEN": f" {token}\n"})
    assert settings.metrics
    assert (settings.metrics.port, settings.metrics.token.reveal()) == (None, token)  # type: ignore[union-attr]  # it is set
    assert token not in repr(settings)
    settings = Settings.from_env({**VALID_SETTINGS, "AGENT_FEEDBACK_METRICS_PORT": "9464"})
    assert settings.metrics
    assert (settings.metrics.port, settings.metrics.token) == (9464, None)


@pytest.mark.parametrize("token", ["development-" + "0123456789" * 4, "changeme", "0" * 40])
def test_production_refuses_a_weak_token_of_the_metrics_without_repeating_it(token: str) -> None:
    mistakes = find_errors(AGENT_FEEDBACK_METRICS_TOKEN=token, AGENT_FEEDBACK_KEY_PEPPER="changeme")
    assert [mistake.partition(" ")[0] for mistake in mistakes] == [
        "AGENT_FEEDBACK_KEY_PEPPER",
        "AGENT_FEEDBACK_METRICS_TOKEN",
    ]
    assert token not in mistakes[1]
    Settings.from_env({**VALID_SETTINGS, "AGENT_FEEDBACK_ENV": "development", "AGENT_FEEDBACK_METRICS_TOKEN": token})


@pytest.mark.parametrize("port", ["0", "65536", "many", "8000"])
def test_the_port_of_the_metrics_is_one_that_is_free_for_them(port: str) -> None:
    assert find_errors(AGENT_FEEDBACK_METRICS_PORT=port)[0].startswith("AGENT_FEEDBACK_METRICS_PORT")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://collector.example/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_SDK_DISABLED": "True"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_TRACES_EXPORTER": "none"}, False),
    ],
)
def test_traces_are_sent_where_a_collector_is_named(variables: dict[str, str], expected: bool) -> None:
    assert Settings.from_env({**VALID_SETTINGS, **variables}).has_traces is expected


def test_what_the_traces_cannot_do_is_an_error() -> None:
    mistakes = find_errors(
        OTEL_EXPORTER_OTLP_ENDPOINT="collector", OTEL_EXPORTER_OTLP_PROTOCOL="grpc", OTEL_TRACES_EXPORTER="zipkin"
    )
    assert [mistake.partition(":")[0] for mistake in mistakes] == [
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_PROTOCOL",
        "OTEL_TRACES_EXPORTER",
    ]


@pytest.mark.parametrize("timeout", ["0", "50.1", "10000", "soon"])
def test_a_timeout_of_an_export_is_less_than_its_lease(timeout: str) -> None:
    mistakes = find_errors(OTEL_EXPORTER_OTLP_TIMEOUT=timeout, OTEL_EXPORTER_OTLP_LOGS_TIMEOUT=timeout)
    assert [mistake.partition(":")[0] for mistake in mistakes] == [
        "OTEL_EXPORTER_OTLP_LOGS_TIMEOUT",
        "OTEL_EXPORTER_OTLP_TIMEOUT",
    ]


@pytest.mark.parametrize(("timeout", "traces_timeout"), [(None, "3"), ("7", None)])
def test_the_time_of_traces_is_not_that_of_reviews(
    monkeypatch: pytest.MonkeyPatch, timeout: str | None, traces_timeout: str | None
) -> None:
    environ = {"OTEL_EXPORTER_OTLP_TIMEOUT": timeout} if timeout else {}
    monkeypatch.setattr(os, "environ", environ)
    set_trace_defaults()
    assert (environ.get("OTEL_EXPORTER_OTLP_TIMEOUT"), environ.get("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")) == (
        timeout,
        traces_timeout,
    )
