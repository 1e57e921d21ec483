"""Reading the environment."""

import json
import re
from pathlib import Path

import pytest

from config.limits import DEFAULT_LIMITS, DEFAULT_QUOTAS, LimitName, QuotaName, limit_variable, quota_variable
from config.settings import BadSettings, Settings, _EnvironmentSchema
from tests.conftest import ROOT

VALID_SETTINGS = {
    "DATABASE_URL": "postgres://somebody@db.example/feedback",
    "REDIS_URL": "rediss://broker.example:6379/0",
    "AGENT_FEEDBACK_PUBLIC_URL": "https://feedback.example/",
    "AGENT_FEEDBACK_KEY_PEPPER": "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4MTIzNDU2",
    "AGENT_FEEDBACK_SEALING_KEYS": "bmV3LXNlY3JldC1uZXctc2VjcmV0LTEyMzQ1Njc4,b2xkLXNlY3JldC1vbGQtc2VjcmV0LTg3NjU0MzIx",
    "AGENT_FEEDBACK_DATA_DIR": "/nonexistent",
}


def find_errors(**changes: str) -> list[str]:
    with pytest.raises(BadSettings) as error_info:
        Settings.from_env({name: value for name, value in {**VALID_SETTINGS, **changes}.items() if value})
    return error_info.value.mistakes


def test_a_full_environment_is_read() -> None:
    settings = Settings.from_env(VALID_SETTINGS)
    assert settings.database_url == "postgresql+psycopg2://somebody@db.example/feedback"
    assert (settings.feedback_url, settings.app_url) == ("https://feedback.example", "https://feedback.example")
    assert len(settings.sealing_secrets) == 2
    assert [pepper.reveal() for pepper in settings.key_peppers] == [VALID_SETTINGS["AGENT_FEEDBACK_KEY_PEPPER"]]
    assert settings.trusted_proxies == 0
    assert not settings.is_development


def test_secrets_do_not_show_themselves() -> None:
    text = repr(Settings.from_env(VALID_SETTINGS))
    assert VALID_SETTINGS["AGENT_FEEDBACK_KEY_PEPPER"] not in text
    assert "bmV3" not in text


def test_everything_that_is_missing_is_said_at_once() -> None:
    with pytest.raises(BadSettings) as error_info:
        Settings.from_env({"AGENT_FEEDBACK_DATA_DIR": "/nonexistent"})
    assert error_info.value.mistakes == [
        "AGENT_FEEDBACK_KEY_PEPPER is not set",
        "AGENT_FEEDBACK_PUBLIC_URL is not set",
        "AGENT_FEEDBACK_SEALING_KEYS is not set",
        "DATABASE_URL is not set, and no bin/dev is running on AGENT_FEEDBACK_DATA_DIR",
        "REDIS_URL is not set",
    ]


def test_production_refuses_what_only_development_may_use_and_says_all_of_it() -> None:
    messages = find_errors(
        AGENT_FEEDBACK_KEY_PEPPER="development-" + "x" * 40,
        AGENT_FEEDBACK_SEALING_KEYS="changeme",
        AGENT_FEEDBACK_PUBLIC_URL="http://feedback.example",
    )
    assert len(messages) == 3
    assert any("development secret" in error for error in messages)
    assert any("too short" in error for error in messages)
    assert any("https" in error for error in messages)


def test_no_mistake_repeats_a_secret() -> None:
    secret = "development-do-not-repeat-me-1234567890"
    assert secret not in str(find_errors(AGENT_FEEDBACK_KEY_PEPPER=secret, DATABASE_URL="mysql://x"))


@pytest.mark.parametrize(
    ("redis_url", "broker_url", "broker", "counters"),
    [
        ("redis://a", "", "redis://a", "redis://a"),
        ("redis://a", "amqps://b", "amqps://b", "redis://a"),
        ("", "amqp://b", "amqp://b", None),
    ],
)
def test_the_broker_may_be_another_server_than_that_of_the_counters(
    redis_url: str, broker_url: str, broker: str, counters: str | None
) -> None:
    urls = {"REDIS_URL": redis_url, "AGENT_FEEDBACK_BROKER_URL": broker_url}
    settings = Settings.from_env({**VALID_SETTINGS, **urls})
    assert (settings.broker_url, settings.counters_url) == (broker, counters)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "mysql://db.example/x"),
        ("REDIS_URL", "amqp://broker.example"),
        ("AGENT_FEEDBACK_BROKER_URL", "kafka://broker.example"),
        ("AGENT_FEEDBACK_PREPARED_STATEMENTS", "perhaps"),
        ("AGENT_FEEDBACK_PUBLIC_URL", "feedback.example"),
        ("AGENT_FEEDBACK_PUBLIC_URL", "https://"),
        ("AGENT_FEEDBACK_PUBLIC_URL", "https://feedback.example:port"),
        ("AGENT_FEEDBACK_PUBLIC_URL", "https://feedback.example:99999"),
        ("AGENT_FEEDBACK_PUBLIC_URL", "https://feed back.example"),
        ("AGENT_FEEDBACK_PUBLIC_URL", "https://feedback.example/\n"),
        ("AGENT_FEEDBACK_APP_URL", "ftp://feedback.example"),
        ("AGENT_FEEDBACK_REQUEST_DEADLINE_S", "0"),
        ("AGENT_FEEDBACK_SECURITY_CONTACT", "security@example.com"),
        ("AGENT_FEEDBACK_SECURITY_CONTACT", "http://example.com/report"),
        ("AGENT_FEEDBACK_SECURITY_CONTACT", "mailto:security@example.com\nPolicy: https://evil.example"),
        ("AGENT_FEEDBACK_SECURITY_CONTACT", "mailto:nobody"),
        ("AGENT_FEEDBACK_SECURITY_POLICY", "http://example.com/policy"),
        ("AGENT_FEEDBACK_SWEEP_INTERVAL_S", "1"),
        ("AGENT_FEEDBACK_LOG_LEVEL", "CHATTY"),
        ("AGENT_FEEDBACK_ENV", "staging"),
        ("AGENT_FEEDBACK_POOL_SIZE", "many"),
        ("AGENT_FEEDBACK_TRUSTED_PROXIES", "-1"),
        ("AGENT_FEEDBACK_TRUSTED_PROXIES", "all"),
        ("AGENT_FEEDBACK_KEY_LIMIT", "many"),
        ("AGENT_FEEDBACK_ADDRESS_LIMIT", "600"),
        ("AGENT_FEEDBACK_CAPABILITY_LIMIT", "-1/minute"),
        ("AGENT_FEEDBACK_EVENTS_QUOTA", "-1"),
        ("AGENT_FEEDBACK_REVIEWS_QUOTA", "100/day"),
        ("AGENT_FEEDBACK_WEBHOOKS_ALLOW_PRIVATE", "perhaps"),
        ("AGENT_FEEDBACK_OTEL_REVIEWS", "true"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(name: str, value: str) -> None:
    assert any(error.startswith(name) for error in find_errors(**{name: value}))


def test_a_log_level_may_be_written_in_small_letters() -> None:
    assert Settings.from_env({**VALID_SETTINGS, "AGENT_FEEDBACK_LOG_LEVEL": "warning"}).log_level == "WARNING"


def test_the_values_that_a_setting_may_have_are_named_as_they_are_written() -> None:
    assert "AGENT_FEEDBACK_LOG_LEVEL: must be one of: DEBUG, INFO, WARNING, ERROR" in find_errors(
        AGENT_FEEDBACK_LOG_LEVEL="CHATTY"
    )


@pytest.mark.parametrize("name", ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"])
def test_reviews_are_exported_without_their_notes_to_a_collector_that_is_named(name: str) -> None:
    assert not Settings.from_env(VALID_SETTINGS).exports_reviews
    settings = Settings.from_env({**VALID_SETTINGS, name: "https://collector.example"})
    assert (settings.exports_reviews, settings.exports_notes) == (True, False)


@pytest.mark.parametrize(
    ("name", "value"),
    [("AGENT_FEEDBACK_OTEL_REVIEWS", "false"), ("OTEL_LOGS_EXPORTER", "none"), ("OTEL_SDK_DISABLED", "true")],
)
def test_reviews_are_not_exported_where_a_setting_says_no(name: str, value: str) -> None:
    environ = {**VALID_SETTINGS, "OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example", name: value}
    assert not Settings.from_env(environ).exports_reviews


OIDC = {
    "AGENT_FEEDBACK_OIDC_ISSUER": "https://id.example/realm",
    "AGENT_FEEDBACK_OIDC_CLIENT_ID": "feedback",
    "AGENT_FEEDBACK_OIDC_CLIENT_SECRET": "not to be shown",
}


def test_an_openid_provider_is_read_and_its_secret_hidden() -> None:
    settings = Settings.from_env(VALID_SETTINGS | OIDC)
    assert settings.oidc
    assert (settings.oidc.issuer, settings.oidc.client_id) == ("https://id.example/realm", "feedback")
    assert settings.oidc.client_secret.reveal() == "not to be shown"
    assert "not to be shown" not in repr(settings)
    assert Settings.from_env(VALID_SETTINGS).oidc is None


@pytest.mark.parametrize("name", OIDC)
def test_of_an_openid_provider_all_settings_are_needed_or_none(name: str) -> None:
    (mistake,) = find_errors(**{**OIDC, name: ""})
    assert mistake.startswith(f"{name} is not set")
    assert "all three or none" in mistake


def test_production_refuses_an_openid_provider_without_https() -> None:
    plain = {**OIDC, "AGENT_FEEDBACK_OIDC_ISSUER": "http://id.example"}
    assert find_errors(**plain) == ["AGENT_FEEDBACK_OIDC_ISSUER must be an https URL in production"]
    development = {"AGENT_FEEDBACK_ENV": "development", "AGENT_FEEDBACK_PUBLIC_URL": "http://127.0.0.1:8000"}
    assert Settings.from_env(VALID_SETTINGS | plain | development).oidc
    assert any(
        line.startswith("AGENT_FEEDBACK_OIDC_ISSUER: ")
        for line in find_errors(**{**OIDC, "AGENT_FEEDBACK_OIDC_ISSUER": "id.example"})
    )


def test_two_copies_on_one_host_have_two_ids() -> None:
    ids = {
        Settings.from_env(VALID_SETTINGS | {"AGENT_FEEDBACK_PUBLIC_URL": f"https://feedback.example:{port}"}).copy_id
        for port in (1, 2)
    }
    assert len(ids) == 2


@pytest.mark.parametrize("contact", ["mailto:security+reports@example.com", "https://example.com/report?kind=security"])
def test_a_contact_is_an_address_or_a_page(contact: str) -> None:
    settings = Settings.from_env({**VALID_SETTINGS, "AGENT_FEEDBACK_SECURITY_CONTACT": contact})
    assert settings.security_contact == contact


def test_one_secret_for_two_purposes_is_refused() -> None:
    assert any(
        "must differ" in error
        for error in find_errors(AGENT_FEEDBACK_SEALING_KEYS=VALID_SETTINGS["AGENT_FEEDBACK_KEY_PEPPER"])
    )


NEW_PEPPER = "bmV3LXBlcHBlci1uZXctcGVwcGVyLTEyMzQ1Njc4"


def test_a_pepper_is_replaced_by_a_ring() -> None:
    ring = f" {NEW_PEPPER}, {VALID_SETTINGS['AGENT_FEEDBACK_KEY_PEPPER']} ,"
    settings = Settings.from_env({**VALID_SETTINGS, "AGENT_FEEDBACK_KEY_PEPPER": ring})
    peppers = [pepper.reveal() for pepper in settings.key_peppers]
    assert peppers == [NEW_PEPPER, VALID_SETTINGS["AGENT_FEEDBACK_KEY_PEPPER"]]
    assert NEW_PEPPER not in repr(settings)


@pytest.mark.parametrize("name", ["AGENT_FEEDBACK_KEY_PEPPER", "AGENT_FEEDBACK_SEALING_KEYS"])
@pytest.mark.parametrize(
    ("ring", "error"),
    [
        (f"{NEW_PEPPER},{NEW_PEPPER}", "the same secret twice"),
        (f"{NEW_PEPPER},development-{NEW_PEPPER}", "a development secret"),
        (f"{NEW_PEPPER},short", "too short or too simple"),
        (" , ", "holds no secret"),
        (",".join(NEW_PEPPER + str(number) for number in range(6)), "more than 5 secrets"),
    ],
)
def test_every_secret_of_a_ring_is_checked(name: str, ring: str, error: str) -> None:
    (message,) = find_errors(**{name: ring})
    assert name in message
    assert error in message
    assert NEW_PEPPER not in message


def test_an_old_pepper_is_no_sealing_secret_either() -> None:
    old_sealing_secret = VALID_SETTINGS["AGENT_FEEDBACK_SEALING_KEYS"].split(",")[1]
    (message,) = find_errors(AGENT_FEEDBACK_KEY_PEPPER=f"{NEW_PEPPER},{old_sealing_secret}")
    assert "must differ" in message


def test_the_command_line_finds_a_running_copy(tmp_path: Path) -> None:
    running_settings = {
        **VALID_SETTINGS,
        "AGENT_FEEDBACK_ENV": "development",
        "DATABASE_URL": "postgresql://postgres@/x?host=/tmp/y",
    }
    (tmp_path / "running.json").write_text(json.dumps(running_settings))
    settings = Settings.from_env({"AGENT_FEEDBACK_DATA_DIR": str(tmp_path)})
    assert settings.is_development
    assert settings.database_url.endswith("host=/tmp/y")
    same_server = {"AGENT_FEEDBACK_DATA_DIR": str(tmp_path), "DATABASE_URL": running_settings["DATABASE_URL"]}
    assert Settings.from_env(same_server).is_development


def test_another_database_has_nothing_to_do_with_a_running_copy(tmp_path: Path) -> None:
    (tmp_path / "running.json").write_text(json.dumps({**VALID_SETTINGS, "AGENT_FEEDBACK_ENV": "development"}))
    other_settings = {
        **VALID_SETTINGS,
        "DATABASE_URL": "postgresql://else.example/x",
        "AGENT_FEEDBACK_DATA_DIR": str(tmp_path),
    }
    assert not Settings.from_env(other_settings).is_development


def test_limits_and_quotas_have_defaults_and_zero_is_none() -> None:
    settings = Settings.from_env(VALID_SETTINGS)
    assert str(settings.limits[LimitName.CAPABILITY]) == "120 per 1 minute"
    assert settings.quotas[QuotaName.EVENTS] == 500_000_000
    chosen = {"AGENT_FEEDBACK_KEY_LIMIT": "600/minute", "AGENT_FEEDBACK_ADDRESS_LIMIT": "0"}
    settings = Settings.from_env({**VALID_SETTINGS, **chosen, "AGENT_FEEDBACK_REVIEWS_QUOTA": "0"})
    assert str(settings.limits[LimitName.KEY]) == "600 per 1 minute"
    assert (settings.limits[LimitName.ADDRESS], settings.quotas[QuotaName.REVIEWS]) == (None, 0)


def test_a_limit_that_cannot_be_read_says_how_one_is_written() -> None:
    assert find_errors(AGENT_FEEDBACK_KEY_LIMIT="fast") == [
        "AGENT_FEEDBACK_KEY_LIMIT: must be a number of requests and a period of up to a day, such as 600/minute, "
        "or 0 for none"
    ]


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "deploy.md").read_text()
    gunicorn_names = re.findall(
        r'environ\.get\("(\w+)"', (ROOT / "config" / "gunicorn.py").read_text().replace("'", '"')
    )
    assert len(gunicorn_names) >= 4
    assert [name for name in (*_EnvironmentSchema().fields, *gunicorn_names) if f"`{name}`" not in page] == []


def test_every_limit_and_quota_stands_in_the_table_with_its_default() -> None:
    page = (ROOT / "docs" / "deploy.md").read_text()
    defaults = {limit_variable(name): text for name, text in DEFAULT_LIMITS.items()}
    defaults |= {quota_variable(name): str(number) for name, number in DEFAULT_QUOTAS.items()}
    assert [name for name, text in defaults.items() if f"| `{name}` | `{text}` |" not in page] == []
