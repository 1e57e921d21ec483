"""The numbers and names of this package are those of the protocol's contract."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from agent_feedback import (
    delivery,
    envelope,
    html_insert,
    instrumentation,
    operation,
    options,
    protocol_files,
    relay,
    runtime_hint,
)
from agent_feedback.context import action as context_action
from agent_feedback.context import interaction as context_interaction
from agent_feedback.context import observation
from agent_feedback.http import client as http

CONTRACT = protocol_files.read("contract.json")
OPTIONS: dict[str, dict[str, Any]] = CONTRACT["options"]


def snake(name: str) -> str:
    return re.sub("([A-Z])", lambda match: f"_{match[1].lower()}", name)


def default_of(option: dict[str, Any]) -> Any:
    default = option["default"]
    if option["type"] == "milliseconds":
        return default / 1000
    return tuple(default) if option["type"] == "patterns" else default


def test_there_are_the_options_of_the_contract_and_no_others() -> None:
    names = {snake(name) for name in OPTIONS}
    assert names == set(options.Options._fields) - {"is_enabled"}


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_an_option_has_the_default_of_the_contract(name: str) -> None:
    assert options.Options._field_defaults.get(snake(name)) == default_of(OPTIONS[name])


BOUNDED = {name: option for name, option in OPTIONS.items() if option["type"] in ("milliseconds", "integer")}


@pytest.mark.parametrize("name", sorted(BOUNDED))
def test_an_option_has_the_bounds_of_the_contract(name: str) -> None:
    is_valid, _ = options._RULES[snake(name)]
    if BOUNDED[name]["type"] == "integer":
        least = BOUNDED[name]["minimum"]
        assert (is_valid(least), is_valid(least - 1), is_valid(least + 0.5)) == (True, False, False)
    else:
        bound = BOUNDED[name]["exclusiveMinimum"]
        assert (is_valid(bound + 0.001), is_valid(bound), is_valid(float("inf"))) == (True, False, False)


def test_choices_are_those_of_the_contract() -> None:
    assert list(options.MODE_LABELS) == OPTIONS["mode"]["allowed"]
    assert set(options.CACHE_MODES) == set(OPTIONS["cacheMode"]["allowed"])
    assert OPTIONS["runtimeHint"]["allowed"] == [runtime_hint.USER_AGENT]
    assert list(options.LOOPBACK_HOSTS) == CONTRACT["loopbackHosts"]


def test_the_environment_has_the_names_of_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "apiKey": f"af_live_{'1' * 32}_{'s' * 43}",
        "companyKey": f"af_company_{'1' * 32}_{'s' * 43}",
        "endpoint": "https://feedback.example.com",
        "mode": "ask_once",
    }
    assert values.keys() == {name for name, option in OPTIONS.items() if "environment" in option}
    for name, value in values.items():
        monkeypatch.setenv(OPTIONS[name]["environment"], value)
    monkeypatch.setenv(CONTRACT["killSwitch"]["environment"], CONTRACT["killSwitch"]["off"][-1])
    read_options = options.read_options(None, None, {})
    assert (read_options.endpoint, read_options.mode) == (values["endpoint"], values["mode"])
    assert read_options.api_key.reveal() == values["apiKey"]
    assert read_options.company_key
    assert read_options.company_key.reveal() == values["companyKey"]
    assert not read_options.is_enabled


@dataclass(frozen=True)
class Pair:
    """A constant of this package, and what the contract says."""

    name: str
    constant: Any
    value: Any


TELEMETRY, HEADERS, HTML = CONTRACT["telemetry"], CONTRACT["headers"], CONTRACT["html"]
REMOVED_HEADERS = CONTRACT["eligibility"]["removedHeaders"]
PAIRS = [
    Pair("longest Retry-After", http.MAX_RETRY_AFTER_S * 1000, TELEMETRY["maxRetryAfterMs"]),
    Pair("largest answer", http.MAX_RESPONSE_BYTES, TELEMETRY["maxResponseBytes"]),
    Pair("pause of the relay", relay.RETRY_AFTER_S * 1000, CONTRACT["relay"]["pauseMs"]),
    Pair("signed bytes", context_interaction._SIGNED_BYTES, CONTRACT["contextInteraction"]["headBytes"]),
    Pair("retry header", context_interaction.HEADER, HEADERS["contextInteraction"]),
    Pair("envelope", envelope.ENVELOPE, CONTRACT["members"]["envelope"]),
    Pair("service", delivery.SERVICE, CONTRACT["members"]["service"]),
    Pair("customer context", context_action.MEMBER, CONTRACT["members"]["customerContext"]),
    Pair("context's element", delivery.HTML_IDS[delivery.SERVICE], HTML["contextId"]),
    Pair("elements", list(delivery.HTML_IDS.values()), [HTML["envelopeId"], HTML["contextId"]]),
    Pair("raw elements", {name.decode() for name in html_insert._RAW}, set(HTML["rawElements"])),
    Pair(
        "removed headers",
        instrumentation._REPLACED_HEADERS - {"content-length"},
        {*CONTRACT["eligibility"]["removedHeaders"]},
    ),
    Pair("cache policy", instrumentation.PRIVATE, ("Cache-Control", CONTRACT["eligibility"]["cacheControl"])),
    Pair("operation", operation.MAX_OPERATION_LENGTH, CONTRACT["operation"]["maxLength"]),
    Pair("safe characters", operation._SAFE_CHARACTERS, CONTRACT["operation"]["safeCharacters"]),
    Pair("hint", runtime_hint.MAX_HINT_LENGTH, CONTRACT["runtimeHint"]["maxLength"]),
    Pair("user agent", observation.MAX_USER_AGENT_LENGTH, CONTRACT["observation"]["userAgent"]["maxLength"]),
    Pair("language", observation.MAX_LANGUAGE_LENGTH, CONTRACT["observation"]["acceptLanguage"]["maxLength"]),
    Pair("origin", observation.MAX_ORIGIN_LENGTH, CONTRACT["observation"]["referrerOrigin"]["maxLength"]),
    Pair("platform", observation.MAX_PLATFORM_LENGTH, CONTRACT["observation"]["secChUaPlatform"]["maxLength"]),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_constant_is_that_of_the_contract(pair: Pair) -> None:
    assert pair.constant == pair.value


def test_an_interaction_id_of_context_keeps_the_bytes_of_its_signature() -> None:
    bounds = CONTRACT["contextInteraction"]
    assert bounds["headBytes"] + bounds["signatureBytes"] == 16
