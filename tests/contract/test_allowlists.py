"""What an exporter may send is exactly what the service takes."""

from collections import Counter

from app.core import protocol
from config.allowlist import ALLOWLIST, read_allowlist

SENT = protocol.read("allowlist.json")
TAKEN = read_allowlist(ALLOWLIST.read_text())


def test_both_name_the_same_tokens_of_the_same_providers_and_classes() -> None:
    sent = Counter((entry["token"], entry["provider"], entry["class"]) for entry in SENT["tokens"])
    taken = Counter((agent.token, agent.provider, agent.fetch_class) for agent in TAKEN.agents.values())
    assert sent
    assert sent == taken


def test_both_name_the_same_hosts_of_the_same_providers() -> None:
    sent = Counter((entry["host"], entry["provider"]) for entry in SENT["hosts"])
    taken = Counter((referrer.host, referrer.provider) for referrer in TAKEN.referrers.values())
    assert sent
    assert sent == taken


def test_both_name_the_same_vendors() -> None:
    methods = TAKEN.network_methods.keys() - {"published_ip_range", "forward_confirmed_reverse_dns"}
    assert len(methods) == len(TAKEN.network_methods) - 2
    assert sorted(f"{vendor}_verified_bot" for vendor in SENT["vendors"]) == sorted(methods)


def test_what_is_sent_may_be_in_a_batch_of_its_version() -> None:
    known = TAKEN.of(SENT["schemaVersion"])
    assert {entry["token"] for entry in SENT["tokens"]} == known.agents.keys()
    assert {entry["host"] for entry in SENT["hosts"]} == known.referrers.keys()
