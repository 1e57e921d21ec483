"""What this machine says of an address: published ranges, DNS, and the verdict of a vendor."""

import json
import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from agent_feedback.evidence import allowlist, dns, ranges
from agent_feedback.evidence.address_checks import AddressChecks
from agent_feedback.evidence.dns import ReverseDns
from agent_feedback.evidence.ranges import InvalidRanges, Ranges, parse_address
from agent_feedback.evidence.record import Record

ALLOWLIST = allowlist.read()

RANGES = {
    "creationTime": "2026-11-20T00:00:00.000000",
    "prefixes": [
        {"ipv4Prefix": "20.171.206.0/24"},
        {"ipv6Prefix": "2001:4860:4801:10::/64"},
        {"ipv4Prefix": "192.0.2.7/32"},
    ],
}


def load_ranges(path: Path, text: str) -> Ranges:
    path.write_text(text)
    networks = Ranges()
    ranges.read(path, networks)
    return networks


def record(address: str, **fields: object) -> Record:
    return Record(0, "GET", 200, address=address, fields=fields)


@pytest.mark.parametrize(
    "text", [json.dumps(RANGES), "# GPTBot\n20.171.206.0/24\n\n2001:4860:4801:10::/64 # v6\n192.0.2.7\n"]
)
def test_an_address_within_the_published_ranges_is_found(tmp_path: Path, text: str) -> None:
    checks = AddressChecks(ALLOWLIST, {"openai": load_ranges(tmp_path / "ranges", text)})
    for inside in ("20.171.206.0", "20.171.206.255", "2001:4860:4801:10::99", "192.0.2.7", "::ffff:20.171.206.9"):
        assert checks.method(record(inside), "GPTBot") == "published_ip_range"
    for other_address in (
        "20.171.205.255",
        "20.171.207.0",
        "2001:4860:4801:11::",
        "192.0.2.8",
        "::20.171.206.9",
        "",
        "x",
    ):
        assert checks.method(record(other_address), "GPTBot") is None


def test_ranges_speak_for_their_own_provider_or_token_only(tmp_path: Path) -> None:
    openai = load_ranges(tmp_path / "openai", "20.171.206.0/24")
    assert AddressChecks(ALLOWLIST, {"openai": openai}).method(record("20.171.206.9"), "ClaudeBot") is None
    checks = AddressChecks(ALLOWLIST, {"ChatGPT-User": openai})
    assert checks.method(record("20.171.206.9"), "ChatGPT-User") == "published_ip_range"
    assert checks.method(record("20.171.206.9"), "GPTBot") is None


@pytest.mark.parametrize(
    "text",
    ["", "# nothing\n", "{}", '{"prefixes": []}', '{"prefixes": [{}]}', '{"prefixes": [{"ipv4Prefix": 7.5}]}', "{",
     "20.171.206.9/24\n", "300.1.1.1/24", "example.com", '{"prefixes": 7}'],
)  # fmt: skip
def test_a_file_without_sound_ranges_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidRanges):
        load_ranges(tmp_path / "ranges", text)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRanges, match="cannot be read"):
        ranges.read(tmp_path / "none", Ranges())


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("192.0.2.7:41342", "192.0.2.7"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
    ],
)
def test_addresses_are_read_with_or_without_a_port(text: str, address: str) -> None:
    assert str(parse_address(text)) == address


@pytest.mark.parametrize("text", ["", "-", "unknown", "192.0.2.7, 192.0.2.8", "192.0.2", "example.com", "1"])
def test_what_is_no_address_is_none(text: str) -> None:
    assert parse_address(text) is None


def test_the_systems_own_resolver_knows_this_machine_and_no_bot() -> None:
    assert dns.socket.gethostbyaddr("127.0.0.1")[0]
    assert not dns.confirm("127.0.0.1", ["googlebot.com"])
    assert not dns.confirm("192.0.2.7", ["googlebot.com"])


# What name servers answer is a parameter from here on: none on earth says of an address of ours that it is Googlebot's.


@pytest.mark.parametrize(
    ("name", "networks", "is_confirmed"),
    [
        ("crawl-66-249-66-1.googlebot.com", ["66.249.66.1"], True),
        ("Crawl-66-249-66-1.GoogleBot.com.", ["192.0.2.7", "66.249.66.1"], True),
        ("crawl-66-249-66-1.googlebot.com", ["192.0.2.7"], False),
        ("crawl-66-249-66-1.googlebot.com", [], False),
        ("crawl-66-249-66-1.notgooglebot.com", ["66.249.66.1"], False),
        ("crawl.googlebot.com.evil.example", ["66.249.66.1"], False),
        ("googlebot.com", ["66.249.66.1"], False),
        ("", ["66.249.66.1"], False),
    ],
)
def test_a_name_has_to_lead_back(name: str, networks: list[str], is_confirmed: bool) -> None:
    def forward(lookups: str, port: None) -> list[tuple[Any, ...]]:
        assert lookups == name.rstrip(".").lower()
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in networks]

    assert dns.confirm("66.249.66.1", ["googlebot.com"], lambda _: (name, [], []), forward) is is_confirmed


@pytest.mark.parametrize("error", [socket.herror, socket.gaierror, TimeoutError, UnicodeError])
def test_a_name_server_that_fails_confirms_nothing(error: type[Exception]) -> None:
    def fail(*lookups: object) -> Any:
        raise error

    assert not dns.confirm("66.249.66.1", ["googlebot.com"], fail)
    assert not dns.confirm("66.249.66.1", ["googlebot.com"], lambda _: ("a.googlebot.com", [], []), fail)


class Resolver:
    """Answers from a table, after a while, and counts."""

    def __init__(self, *confirmed_hosts: str, gate: threading.Event | None = None) -> None:
        self.confirmed, self.gate, self.lookups = confirmed_hosts, gate, 0

    def __call__(self, address: str, domains: Sequence[str]) -> bool:
        self.lookups += 1
        if self.gate:
            self.gate.wait(20)
        return address in self.confirmed


def test_dns_speaks_for_providers_that_document_their_domains() -> None:
    resolver = Resolver("66.249.66.1")
    checks = AddressChecks(ALLOWLIST, dns=ReverseDns(resolver))
    assert checks.method(record("66.249.66.1"), "Googlebot") == "forward_confirmed_reverse_dns"
    assert checks.method(record("66.249.66.2"), "Googlebot") is None
    assert checks.method(record("66.249.66.1"), "bingbot") == "forward_confirmed_reverse_dns"
    lookups = resolver.lookups
    assert checks.method(record("66.249.66.1"), "GPTBot") is None
    assert checks.method(record("not an address"), "Googlebot") is None
    assert resolver.lookups == lookups


def test_an_address_is_asked_about_once() -> None:
    resolver = Resolver("66.249.66.1")
    reverse = ReverseDns(resolver)
    for _ in range(3):
        for text in ("66.249.66.1", "66.249.66.2"):
            address = parse_address(text)
            assert address
            assert reverse.confirms(address, ("googlebot.com",)) is (text == "66.249.66.1")
    assert resolver.lookups == 2


def test_a_resolver_that_hangs_is_not_waited_for_and_not_asked_without_end() -> None:
    gate = threading.Event()
    resolver = Resolver("10.0.0.1", gate=gate)
    reverse = ReverseDns(resolver, timeout_s=0.01)
    started_at = time.monotonic()
    for number in range(100):
        address = parse_address(f"10.0.0.{number}")
        assert address
        assert reverse.confirms(address, ("googlebot.com",)) is False
    assert time.monotonic() - started_at < 10
    assert resolver.lookups == dns.MAX_PENDING_LOOKUPS
    gate.set()


@pytest.mark.parametrize("value", ["Search Engine Crawler", "AI Crawler", True, "true", "1"])
def test_the_verdict_of_a_vendor_is_taken_over(value: object) -> None:
    checks = AddressChecks(ALLOWLIST, vendor_fields={"VerifiedBotCategory": "cloudflare"})
    assert checks.method(record("192.0.2.7", VerifiedBotCategory=value), "GPTBot") == "cloudflare_verified_bot"


@pytest.mark.parametrize("value", ["", "-", " ", False, "false", "0", None, 0, 1, [], {}, ["x"]])
def test_no_verdict_is_none(value: object) -> None:
    checks = AddressChecks(ALLOWLIST, vendor_fields={"VerifiedBotCategory": "cloudflare"})
    assert checks.method(record("192.0.2.7", VerifiedBotCategory=value), "GPTBot") is None
    assert checks.method(record("192.0.2.7"), "GPTBot") is None


def test_what_this_machine_found_out_comes_first(tmp_path: Path) -> None:
    vendor_fields = {"VerifiedBotCategory": "cloudflare"}
    networks = {"google": load_ranges(tmp_path / "ranges", "66.249.66.0/27")}
    checks = AddressChecks(ALLOWLIST, networks, ReverseDns(Resolver("66.249.66.1", "66.249.79.1")), vendor_fields)
    line = {"VerifiedBotCategory": "Search Engine Crawler"}
    assert checks.method(record("66.249.66.1", **line), "Googlebot") == "published_ip_range"
    assert checks.method(record("66.249.79.1", **line), "Googlebot") == "forward_confirmed_reverse_dns"
    assert checks.method(record("192.0.2.7", **line), "Googlebot") == "cloudflare_verified_bot"


def test_a_provider_has_domains_only_if_its_bots_have_tokens() -> None:
    assert set(ALLOWLIST.dns_suffixes) == {"google", "microsoft"}
    assert set(ALLOWLIST.dns_suffixes) <= ALLOWLIST.providers
