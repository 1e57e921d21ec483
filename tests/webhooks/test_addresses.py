"""Which URLs and addresses a webhook may be sent to."""

import socket
import threading
from typing import Any

import pytest

from app.webhooks import addresses
from app.webhooks.addresses import AddressError, BadUrl, Target, is_public, read_url, resolve

TARGET = Target(True, "receiver.example", 443, "/")


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "10.0.0.1",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.8.8.8",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::93.184.215.14",
        "::ffff:10.0.0.1",
        "::ffff:93.184.215.14",
        "64:ff9b::10.0.0.1",
        "64:ff9b::127.0.0.1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::1",
        "2002:5db8:d70e::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "2606:4700::1111%eth0",
        "fec0::1",
        "ff02::1",
        "no address",
        "",
    ],
)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "1.1.1.1", "2606:4700::1111", "64:ff9b::93.184.215.14"])
def test_a_public_address_is_taken(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://receiver.example/hook",
        "ftp://receiver.example/hook",
        "//receiver.example/hook",
        "receiver.example/hook",
        "https://",
        "https:///hook",
        "https://user@receiver.example/",
        "https://user:password@receiver.example/",
        "https://@receiver.example/",
        "https://receiver.example/#part",
        "https://receiver.example:0/",
        "https://receiver.example:22/",
        "https://receiver.example:25/",
        "https://receiver.example:80/",
        "https://receiver.example:65536/",
        "https://receiver.example:port/",
        "https://receiver.example\\@127.0.0.1/",
        "https://receiver.example/a b",
        "https://receiver.example/\r\nHost: other",
        "https://receiver.exämple/",
        "https://[::1/",
        "https://receiver.example/" + "a" * 500,
        "",
    ],
)
def test_a_url_that_is_no_public_https_url_is_refused(url: str) -> None:
    with pytest.raises(BadUrl):
        read_url(url, allows_private=False)


@pytest.mark.parametrize("allows_private", [False, True])
@pytest.mark.parametrize(
    "authority",
    [
        "localhost.:9313",
        "127.0.0.1.:9313",
        "[::1%25lo]:9313",
        "[::1%lo]:9313",
        "[fe80::1%25eth0]",
        "[2606:4700::1111]x",
        "x[2606:4700::1111]",
        "[v1.a]",
        "[1]",
        "ex..ample.com",
        ".example.com",
        "xn--",
        "-example.com",
        ".",
        f"{'a' * 64}.example.com",
        ".".join(["a" * 63] * 4),
        "127.1",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "93.184.215.999",
        "127.1%00:9313",
        "exa%00mple.com",
        "127.0.0.1%2f.example.com:9313",
        "exa!mple.com",
    ],
)
def test_a_host_that_cannot_be_is_refused(authority: str, allows_private: bool) -> None:
    with pytest.raises(BadUrl, match=r"neither a name nor an IP address|not a URL"):
        read_url(f"https://{authority}/", allows_private=allows_private)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://receiver.example", Target(True, "receiver.example", 443, "/")),
        ("https://Receiver.example:8443/a?b=c", Target(True, "receiver.example", 8443, "/a?b=c")),
        ("https://[2606:4700::1111]/", Target(True, "2606:4700::1111", 443, "/")),
        ("https://[2606:4700::1111]:8443/", Target(True, "2606:4700::1111", 8443, "/")),
        ("https://93.184.215.14/", Target(True, "93.184.215.14", 443, "/")),
        ("https://xn--bcher-kva.example:/", Target(True, "xn--bcher-kva.example", 443, "/")),
        ("https://1.a-b.my_receiver.example/", Target(True, "1.a-b.my_receiver.example", 443, "/")),
        (f"https://{'a' * 63}.example/", Target(True, f"{'a' * 63}.example", 443, "/")),
    ],
)
def test_a_url_is_taken_apart(url: str, target: Target) -> None:
    assert read_url(url, allows_private=False) == target


def test_development_may_use_http_and_any_port() -> None:
    assert read_url("http://localhost:81/x", allows_private=True) == Target(False, "localhost", 81, "/x")
    assert resolve(Target(False, "127.0.0.1", 81, "/"), allows_private=True) == ["127.0.0.1"]


def answer_dns(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Resolve every host name to these addresses."""

    def look_up(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (name, port)) for name in names]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


@pytest.mark.parametrize(
    "names", [("10.0.0.1",), ("93.184.215.14", "127.0.0.1"), ("::ffff:7f00:1",), ("169.254.169.254", "1.1.1.1")]
)
def test_a_host_with_one_private_address_is_refused(monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]) -> None:
    answer_dns(monkeypatch, *names)
    with pytest.raises(AddressError, match="address_refused"):
        resolve(TARGET, allows_private=False)


def test_a_host_with_public_addresses_is_resolved_to_some_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"93.184.215.{number}" for number in range(1, 9)]
    answer_dns(monkeypatch, *names)
    assert resolve(TARGET, allows_private=False) == names[: addresses.MAX_ADDRESSES]


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "localhost", "localhost."])
def test_other_spellings_of_this_machine_are_refused(host: str) -> None:
    with pytest.raises(AddressError):
        resolve(Target(True, host, 443, "/"), allows_private=False)


@pytest.mark.parametrize("failure", [socket.gaierror("no such host"), UnicodeError("label too long")])
def test_a_host_that_cannot_be_resolved_is_an_error(monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    def look_up(*_: Any, **__: Any) -> list[Any]:
        raise failure

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with pytest.raises(AddressError, match="dns_failed"):
        resolve(TARGET, allows_private=False)


def test_a_resolver_that_hangs_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    monkeypatch.setattr(addresses, "RESOLUTION_TIMEOUT_S", 0.05)

    def hang(*_: Any, **__: Any) -> list[Any]:
        release.wait(10)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    with pytest.raises(AddressError, match="dns_timeout"):
        resolve(TARGET, allows_private=False)
    release.set()
