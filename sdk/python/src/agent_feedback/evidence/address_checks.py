"""Checks, on this machine, that an address belongs to the bot that the user agent claims."""

from collections.abc import Mapping
from typing import NamedTuple

from agent_feedback.evidence.allowlist import Allowlist
from agent_feedback.evidence.dns import ReverseDns
from agent_feedback.evidence.ranges import Ranges, parse_address
from agent_feedback.evidence.record import Record

PUBLISHED_RANGE = "published_ip_range"
REVERSE_DNS = "forward_confirmed_reverse_dns"

_NEGATIVE_VALUES = ("", "-", "0", "false", "no", "none", "null", "unknown")


class AddressChecks(NamedTuple):
    """The checks that the operator has configured."""

    allowlist: Allowlist
    ranges: Mapping[str, Ranges] = {}
    """By token or provider."""
    dns: ReverseDns | None = None
    vendor_fields: Mapping[str, str] = {}
    """By field of a JSON line, the vendor that fills it for bots it has verified."""

    def method(self, record: Record, token: str) -> str | None:
        """Return the first method that confirms the token; None leaves the token an unverified claim."""
        provider = self.allowlist.tokens[token]
        address = parse_address(record.address)
        if address:
            if any(name in self.ranges and address in self.ranges[name] for name in (token, provider)):
                return PUBLISHED_RANGE
            domains = self.allowlist.dns_suffixes.get(provider)
            if self.dns and domains and self.dns.confirms(address, domains):
                return REVERSE_DNS
        for field, vendor in self.vendor_fields.items():
            if _is_affirmative(record.fields.get(field)):
                return f"{vendor}_verified_bot"
        return None


def _is_affirmative(value: object) -> bool:
    if isinstance(value, str):
        return value.strip().lower() not in _NEGATIVE_VALUES
    return value is True
