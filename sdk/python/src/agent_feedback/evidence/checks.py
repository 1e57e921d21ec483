"""What this machine can say of an address. What does not pass is sent as a mere claim."""

from collections.abc import Mapping
from typing import NamedTuple

from agent_feedback.evidence.allowlist import Allowlist
from agent_feedback.evidence.dns import ReverseDns
from agent_feedback.evidence.ranges import Ranges, address_of
from agent_feedback.evidence.record import Record

PUBLISHED_RANGE = "published_ip_range"
REVERSE_DNS = "forward_confirmed_reverse_dns"

_NO = ("", "-", "0", "false", "no", "none", "null", "unknown")


class Checks(NamedTuple):
    """The checks that the operator asked for."""

    allowlist: Allowlist
    ranges: Mapping[str, Ranges] = {}
    """By token or provider."""
    dns: ReverseDns | None = None
    verdicts: Mapping[str, str] = {}
    """The vendor who fills a field of a JSON line when it has verified the bot."""

    def method(self, record: Record, token: str) -> str | None:
        """Return the first method that speaks for the token."""
        provider = self.allowlist.tokens[token]
        address = address_of(record.address)
        if address:
            if any(name in self.ranges and address in self.ranges[name] for name in (token, provider)):
                return PUBLISHED_RANGE
            domains = self.allowlist.dns_suffixes.get(provider)
            if self.dns and domains and self.dns.confirms(address, domains):
                return REVERSE_DNS
        for field, vendor in self.verdicts.items():
            if _says_yes(record.fields.get(field)):
                return f"{vendor}_verified_bot"
        return None


def _says_yes(value: object) -> bool:
    if isinstance(value, str):
        return value.strip().lower() not in _NO
    return value is True
