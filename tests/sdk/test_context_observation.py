"""The observation of a request has a fixed list of members."""

from typing import Any

import pytest
from agent_feedback.adapters.wsgi import WsgiRequest
from agent_feedback.context.observation import observe as observe_request


def observe(environ: dict[str, Any]) -> dict[str, str]:
    return observe_request(WsgiRequest(environ))


def test_an_observation_has_the_listed_members_only() -> None:
    environ = {
        "REMOTE_ADDR": "192.0.2.7",
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/secret",
        "QUERY_STRING": "secret",
        "HTTP_HOST": "secret.example.com",
        "HTTP_USER_AGENT": "An Agent/1.0",
        "HTTP_ACCEPT_LANGUAGE": "en-GB,en;q=0.8",
        "HTTP_REFERER": "https://User:Word@Shop.example.com:8443/secret?q=secret#secret",
        "HTTP_SEC_CH_UA_PLATFORM": '"Linux"',
        "HTTP_SEC_CH_UA_MOBILE": "?0",
        "HTTP_COOKIE": "secret",
        "HTTP_AUTHORIZATION": "secret",
        "HTTP_X_FORWARDED_FOR": "198.51.100.1",
        "HTTP_FORWARDED": "for=198.51.100.1",
        "HTTP_X_REAL_IP": "198.51.100.1",
        "HTTP_SEC_CH_UA": "secret",
    }
    assert observe(environ) == {
        "clientIp": "192.0.2.7",
        "method": "POST",
        "userAgent": "An Agent/1.0",
        "acceptLanguage": "en-GB,en;q=0.8",
        "referrerOrigin": "https://shop.example.com:8443",
        "secChUaPlatform": '"Linux"',
        "secChUaMobile": "?0",
    }


def test_an_empty_request_has_no_observation() -> None:
    assert observe({}) == {}


@pytest.mark.parametrize(
    ("address", "client_ip"),
    [
        ("2001:db8::1", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", None),
        ("unix:", None),
        ("192.0.2.7, 198.51.100.1", None),
        ("192.0.2.7:80", None),
        (None, None),
        (7, None),
    ],
)
def test_a_malformed_address_is_left_out(address: Any, client_ip: str | None) -> None:
    assert observe({"REMOTE_ADDR": address}).get("clientIp") == client_ip


@pytest.mark.parametrize(
    ("referrer", "origin"),
    [
        ("http://a.example", "http://a.example"),
        ("https://[2001:DB8::1]:1/a", "https://[2001:db8::1]:1"),
        ("ftp://a.example", None),
        ("https://", None),
        ("https://a.example:port/", None),
        ("https://[::1", None),
        ("https://a b/", None),
        ("https://é.example/", None),
        ("/a", None),
        ("https://" + "a" * 300, None),
        ("android-app://com.example", None),
    ],
)
def test_only_the_origin_of_a_referrer_is_sent(referrer: str, origin: str | None) -> None:
    assert observe({"HTTP_REFERER": referrer}).get("referrerOrigin") == origin


@pytest.mark.parametrize(
    ("name", "member", "max_length"),
    [
        ("HTTP_USER_AGENT", "userAgent", 512),
        ("HTTP_ACCEPT_LANGUAGE", "acceptLanguage", 256),
        ("HTTP_SEC_CH_UA_PLATFORM", "secChUaPlatform", 80),
    ],
)
def test_a_text_is_cut_and_never_holds_control_characters(name: str, member: str, max_length: int) -> None:
    assert observe({name: "x" * 1000})[member] == "x" * max_length
    assert observe({name: "a\x00b"}) == {}


@pytest.mark.parametrize(("name", "value"), [("REQUEST_METHOD", "M-SEARCH"), ("HTTP_SEC_CH_UA_MOBILE", "?2")])
def test_what_the_service_would_refuse_is_left_out(name: str, value: str) -> None:
    assert observe({name: value}) == {}
