"""What an exporter may send is exactly what the service takes."""

from collections import Counter

from app.core import protocol
from config.allowlist import ALLOWLIST, read_allowlist

PUBLISHED = protocol.read("allowlist.json")
ACCEPTED = read_allowlist(ALLOWLIST.read_text())


def test_both_name_the_same_tokens_of_the_same_providers_and_classes() -> None:
    published = Counter((entry["token"], entry["provider"], entry["class"]) for entry in PUBLISHED["tokens"])
    accepted = Counter((agent.token, agent.provider, agent.fetch_class) for agent in ACCEPTED.agents.values())
    assert published
    assert published == accepted


def test_both_name_the_same_hosts_of_the_same_providers() -> None:
    published = Counter((entry["host"], entry["provider"]) for entry in PUBLISHED["hosts"])
    accepted = Counter((referrer.host, referrer.provider) for referrer in ACCEPTED.referrers.values())
    assert published
    assert published == accepted


def test_both_name_the_same_vendors() -> None:
    methods = ACCEPTED.network_methods.keys() - {"published_ip_range", "forward_confirmed_reverse_dns"}
    assert len(methods) == len(ACCEPTED.network_methods) - 2
    assert sorted(f"{vendor}_verified_bot" for vendor in PUBLISHED["vendors"]) == sorted(methods)


def test_what_is_sent_may_be_in_a_batch_of_its_version() -> None:
    allowlist = ACCEPTED.of(PUBLISHED["schemaVersion"])
    assert {entry["token"] for entry in PUBLISHED["tokens"]} == allowlist.agents.keys()
    assert {entry["host"] for entry in PUBLISHED["hosts"]} == allowlist.referrers.keys()
