"""The allowlist: the bot tokens, referrer hosts and vendors that the service accepts."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from agent_feedback import protocol_files


class Allowlist(NamedTuple):
    """Everything that may be sent; the rest of a log stays on this machine."""

    tokens: Mapping[str, str]
    """The provider of each bot token."""
    hosts: frozenset[str]
    vendors: frozenset[str]
    """Companies whose logs say whether they have verified a bot."""
    dns_suffixes: Mapping[str, tuple[str, ...]]
    """By provider, the domains that the host names of its bots end with."""

    @property
    def providers(self) -> frozenset[str]:
        """Return the providers of all tokens."""
        return frozenset(self.tokens.values())

    def without(self, names: Collection[str]) -> "Allowlist":
        """Return the list without these tokens and hosts; raise ValueError for a name that is not on it."""
        unknown_names = [name for name in names if name not in self.tokens and name not in self.hosts]
        if unknown_names:
            raise ValueError(f"{unknown_names[0]} is neither a token nor a host of the allowlist")
        tokens = {token: provider for token, provider in self.tokens.items() if token not in names}
        return self._replace(tokens=tokens, hosts=self.hosts - set(names))


def read() -> Allowlist:
    """Return the allowlist packed with this library."""
    content = protocol_files.read("allowlist.json")
    return Allowlist(
        tokens={entry["token"]: entry["provider"] for entry in content["tokens"]},
        hosts=frozenset(entry["host"] for entry in content["hosts"]),
        vendors=frozenset(content["vendors"]),
        dns_suffixes={provider: tuple(suffixes) for provider, suffixes in content["reverseDns"].items()},
    )
