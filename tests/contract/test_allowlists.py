"""What an exporter may send is exactly what the service takes."""

from collections import Counter

from app.core import protocol
from config.allowlist import ALLOWLIST, read_allowlist

SDK_ALLOWLIST = protocol.read("allowlist.json")
SERVICE_ALLOWLIST = read_allowlist(ALLOWLIST.read_text())


def test_both_name_the_same_tokens_of_the_same_providers_and_classes() -> None:
    sdk_tokens = Counter((entry["token"], entry["provider"], entry["class"]) for entry in SDK_ALLOWLIST["tokens"])
    accepted = Counter((agent.token, agent.provider, agent.fetch_class) for agent in SERVICE_ALLOWLIST.agents.values())
    assert sdk_tokens
    assert sdk_tokens == accepted


def test_both_name_the_same_hosts_of_the_same_providers() -> None:
    sdk_hosts = Counter((entry["host"], entry["provider"]) for entry in SDK_ALLOWLIST["hosts"])
    accepted = Counter((referrer.host, referrer.provider) for referrer in SERVICE_ALLOWLIST.referrers.values())
    assert sdk_hosts
    assert sdk_hosts == accepted


def test_both_name_the_same_vendors() -> None:
    methods = SERVICE_ALLOWLIST.network_methods.keys() - {"published_ip_range", "forward_confirmed_reverse_dns"}
    assert len(methods) == len(SERVICE_ALLOWLIST.network_methods) - 2
    assert sorted(f"{vendor}_verified_bot" for vendor in SDK_ALLOWLIST["vendors"]) == sorted(methods)


def test_what_is_sent_may_be_in_a_batch_of_its_version() -> None:
    allowlist = SERVICE_ALLOWLIST.of(SDK_ALLOWLIST["schemaVersion"])
    assert {entry["token"] for entry in SDK_ALLOWLIST["tokens"]} == allowlist.agents.keys()
    assert {entry["host"] for entry in SDK_ALLOWLIST["hosts"]} == allowlist.referrers.keys()
