"""An invalid option raises an error that names it when the client is created."""

import socket
import threading
from functools import partial
from typing import Any

import pytest
from agent_feedback import AgentFeedback, CustomerContext, CustomerReferences, InvalidOption
from agent_feedback.options import MAX_TIME_S

from tests.sdk.endpoint import COMPANY_KEY, KEY

URL = "https://feedback.example.com"


def test_the_environment_sets_key_address_and_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_KEY", f" {KEY}\n")
    monkeypatch.setenv("AGENT_FEEDBACK_URL", f"{URL}/base/ ")
    monkeypatch.setenv("AGENT_FEEDBACK_MODE", " ask_once ")
    options = AgentFeedback(None, endpoint=None, mode=None).options
    assert (options.api_key.reveal(), options.endpoint, options.mode) == (KEY, URL + "/base", "ask_once")
    assert options.is_enabled


def test_an_argument_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_KEY", "nonsense")
    monkeypatch.setenv("AGENT_FEEDBACK_URL", "nonsense")
    monkeypatch.setenv("AGENT_FEEDBACK_MODE", "nonsense")
    assert AgentFeedback(KEY, endpoint=URL, mode="never_ask").options.endpoint == URL


def test_an_argument_is_trimmed() -> None:
    options = AgentFeedback(f" {KEY}\n", endpoint=f" {URL}/ ", mode=" ask_once ").options
    assert (options.api_key.reveal(), options.endpoint, options.mode) == (KEY, URL, "ask_once")


@pytest.mark.parametrize("name", ["api_key", "endpoint", "company_key", "mode"])
def test_an_empty_argument_is_refused_and_does_not_fall_back(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_KEY", KEY)
    monkeypatch.setenv("AGENT_FEEDBACK_URL", URL)
    monkeypatch.setenv("AGENT_FEEDBACK_COMPANY_KEY", COMPANY_KEY)
    monkeypatch.setenv("AGENT_FEEDBACK_MODE", "ask_once")
    with pytest.raises(InvalidOption, match=f"^{name}"):
        AgentFeedback(**{name: " "})


def test_an_empty_variable_is_an_absent_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_COMPANY_KEY", " ")
    monkeypatch.setenv("AGENT_FEEDBACK_MODE", " ")
    options = AgentFeedback(KEY, endpoint=URL).options
    assert (options.company_key, options.mode) == (None, "never_ask")


def test_without_a_key_and_an_address_the_kill_switch_leaves_everything_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_ENABLED", "false")
    feedback, app = AgentFeedback(company_key=COMPANY_KEY, mode="ask_once"), object()
    assert feedback.wsgi(app) is feedback.asgi(app) is feedback.mcp(app) is app  # type: ignore[arg-type]  # any object
    interaction = feedback.start("/orders", customer_ref="account_42")
    interaction.finish(status_code=200)
    assert interaction.envelope() == {}
    for context in (feedback.customer_context, CustomerContext()):
        context.ask({}, purpose="product_personalization")
        assert not context.context(purpose="product_personalization", customer=CustomerReferences("user_42"))
    assert not feedback.telemetry.counters
    assert feedback.shutdown() == 0


@pytest.mark.parametrize(
    "settings",
    [{"api_key": "nonsense"}, {"endpoint": "nonsense"}, {"company_key": "nonsense"}, {"mode": "nonsense"}],
    ids=str,
)
def test_the_kill_switch_tolerates_nothing_malformed(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_ENABLED", "false")
    with pytest.raises(InvalidOption, match=f"^{next(iter(settings))}"):
        AgentFeedback(**settings)


@pytest.mark.parametrize("text", ["false", "FALSE", " no ", "0", "off"])
def test_the_kill_switch(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_ENABLED", text)
    assert not AgentFeedback(KEY, endpoint=URL).options.is_enabled


@pytest.mark.parametrize(
    "key",
    [
        "af_live_",
        KEY[:-30],
        KEY.upper(),
        KEY + "\u00e9",
        KEY.replace("_conf", " conf"),
        "af_company_" + "0" * 32 + "_" + "s" * 43,
        b"af_live",
        12,
    ],
    ids=repr,
)
def test_a_malformed_key_is_refused_without_being_shown(key: Any) -> None:
    with pytest.raises(InvalidOption, match=r"^api_key \(or AGENT_FEEDBACK_KEY\): a product key looks like") as error:
        AgentFeedback(key, endpoint=URL)
    assert "conformance" not in str(error.value)
    assert error.value.__cause__ is None


@pytest.mark.parametrize("key", [None, "", " "])
def test_a_missing_key_is_not_called_malformed(key: str | None) -> None:
    with pytest.raises(InvalidOption, match=r"^api_key \(or AGENT_FEEDBACK_KEY\): the product key is missing$"):
        AgentFeedback(key, endpoint=URL)


def test_a_key_is_described_with_its_three_parts() -> None:
    with pytest.raises(InvalidOption, match=r"af_live_<32 hex digits>_<32 hex digits>_<secret>$"):
        AgentFeedback("af_live_short", endpoint=URL)


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        5,
        b"https://feedback.example.com",
        "feedback.example.com",
        "ftp://feedback.example.com",
        "https://",
        "https://:443",
        "http://feedback.example.com",
        "https://user:word@feedback.example.com",
        "https://feedback.example.com?a=1",
        "https://feedback.example.com#a",
        "https://feedback.example.com:99999",
        "https://feedback.example.com:port",
        "https://[::1",
        "https://feedback.example.com/a b",
        "https://f\u00e9.example.com",
    ],
)
def test_a_malformed_address_is_refused(url: Any) -> None:
    with pytest.raises(InvalidOption, match=r"^endpoint \(or AGENT_FEEDBACK_URL\): an https URL"):
        AgentFeedback(KEY, endpoint=url)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000", "http://localhost", "http://[::1]:1", "https://a.example:1/b"]
)
def test_an_address_of_this_machine_needs_no_https(url: str) -> None:
    assert AgentFeedback(KEY, endpoint=url).options.endpoint == url


def test_a_malformed_mode_in_the_environment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_MODE", "sometimes")
    with pytest.raises(InvalidOption, match=r"^mode: one of never_ask, ask_once, ask_always, off is needed$"):
        AgentFeedback(KEY, endpoint=URL)


@pytest.mark.parametrize(
    ("name", "value", "requirement"),
    [
        ("mode", "sometimes", "one of never_ask"),
        ("mode", "", "one of never_ask"),
        ("mode", 5, "one of never_ask"),
        ("cache_mode", "shared", "one of safe, private"),
        ("include", "/api/**", "a list of path patterns"),
        ("include", ["api/**"], "a list of path patterns"),
        ("exclude", [1], "a list of path patterns"),
        ("exclude", None, "a list of path patterns"),
        ("customer_ref", "account_42", "a function"),
        ("session_ref", 1, "a function"),
        ("runtime_hint", {}, "a function"),
        ("flush_interval", 0, "seconds above zero"),
        ("flush_interval", "1", "seconds above zero"),
        ("timeout", float("nan"), "seconds above zero"),
        ("timeout", float("inf"), "seconds above zero"),
        ("shutdown_timeout", -1, "seconds above zero"),
        ("max_queue_size", 0, "a whole number above zero"),
        ("max_queue_size", 1.5, "a whole number above zero"),
        ("max_attempts", True, "a whole number above zero"),
        ("max_body_bytes", None, "a whole number above zero"),
    ],
)
def test_a_malformed_option_is_refused(name: str, value: Any, requirement: str) -> None:
    with pytest.raises(InvalidOption, match=f"^{name}: .*{requirement}"):
        AgentFeedback(KEY, endpoint=URL, **{name: value})


TIMES = ("flush_interval", "timeout", "shutdown_timeout", "consent_cache_ttl", "context_timeout", "relay_timeout")


@pytest.mark.parametrize("name", TIMES)
def test_a_time_is_one_that_the_system_can_wait(name: str) -> None:
    with pytest.raises(InvalidOption, match=f"^{name}: .* at most {MAX_TIME_S}"):
        AgentFeedback(KEY, endpoint=URL, **{name: 1e10})
    options = AgentFeedback(KEY, endpoint=URL, **{name: MAX_TIME_S}).options
    with socket.socket() as connection:
        connection.settimeout(getattr(options, name))
    assert getattr(options, name) < threading.TIMEOUT_MAX


class AsynchronousCallback:
    async def __call__(self, *arguments: object) -> None:
        """Do nothing."""


class Callback:
    def __call__(self, *arguments: object) -> None:
        """Do nothing."""


CALLBACKS = ("customer_ref", "session_ref", "runtime_hint", "operation", "should_instrument", "on_drop")


@pytest.mark.parametrize("name", CALLBACKS)
def test_an_asynchronous_callback_is_refused(name: str) -> None:
    async def find(*arguments: object) -> None:
        """Do nothing."""

    for callback in (find, partial(find, 1), AsynchronousCallback(), AsynchronousCallback().__call__):
        with pytest.raises(InvalidOption, match=f"^{name}: .*no asynchronous one"):
            AgentFeedback(KEY, endpoint=URL, **{name: callback})
    for function in (print, str, Callback(), Callback, partial(print), lambda source: None):
        assert getattr(AgentFeedback(KEY, endpoint=URL, **{name: function}).options, name) is function


@pytest.mark.parametrize("name", ["apiKey", "max_queue", "is_enabled", "company"])
def test_an_unknown_option_is_refused_and_the_known_ones_are_named(name: str) -> None:
    with pytest.raises(InvalidOption, match=f"^{name}: there is no such option; there are cache_mode, "):
        AgentFeedback(KEY, endpoint=URL, **{name: 1})


def test_the_endpoint_is_in_the_message_only_by_its_rule() -> None:
    with pytest.raises(InvalidOption) as error:
        AgentFeedback(KEY, endpoint="https://user:password@feedback.example.com")
    assert "password" not in str(error.value)
