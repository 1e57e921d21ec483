"""The bot tokens, referrer hosts and vendors that the service takes; everything else stays on this machine."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from agent_feedback import files


class Allowlist(NamedTuple):
    """What may be sent, as data."""

    tokens: Mapping[str, str]
    """The provider of each bot token."""
    hosts: frozenset[str]
    vendors: frozenset[str]
    """Who may have verified a bot."""
    dns_suffixes: Mapping[str, tuple[str, ...]]
    """Under which domains a provider says that its bots' addresses resolve."""

    @property
    def providers(self) -> frozenset[str]:
        """Return whoever has a token."""
        return frozenset(self.tokens.values())

    def without(self, names: Collection[str]) -> "Allowlist":
        """Return the list without these tokens and hosts; a name that is not on it is a `ValueError`."""
        unknown = [name for name in names if name not in self.tokens and name not in self.hosts]
        if unknown:
            raise ValueError(f"{unknown[0]} is neither a token nor a host of the allowlist")
        tokens = {token: provider for token, provider in self.tokens.items() if token not in names}
        return self._replace(tokens=tokens, hosts=self.hosts - set(names))


def read() -> Allowlist:
    """Return the list that came with the package."""
    content = files.read("allowlist.json")
    return Allowlist(
        tokens={entry["token"]: entry["provider"] for entry in content["tokens"]},
        hosts=frozenset(entry["host"] for entry in content["hosts"]),
        vendors=frozenset(content["vendors"]),
        dns_suffixes={provider: tuple(suffixes) for provider, suffixes in content["reverseDns"].items()},
    )
