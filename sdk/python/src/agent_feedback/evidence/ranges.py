"""Address ranges that providers publish, from files that the operator provides."""

import ipaddress
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class InvalidRanges(ValueError):
    """An unusable file of ranges; the message says which and why."""


class Ranges:
    """A set of networks whose look-up costs one step for each prefix length, however many networks there are."""

    def __init__(self) -> None:
        self._networks: dict[tuple[int, int], set[int]] = defaultdict(set)
        """By IP version and number of host bits, the network bits of each network."""

    def add(self, network: Network) -> None:
        """Add a network."""
        shift = network.max_prefixlen - network.prefixlen
        self._networks[network.version, shift].add(int(network.network_address) >> shift)

    def __contains__(self, address: Address) -> bool:
        number, version = int(address), address.version
        return any(
            number >> shift in prefixes
            for (network_version, shift), prefixes in self._networks.items()
            if network_version == version
        )


def read(path: Path, ranges: Ranges) -> None:
    """Add the networks of a file: `{"prefixes": [{"ipv4Prefix": …}, {"ipv6Prefix": …}]}`, or one network a line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRanges(f"{path}: cannot be read ({type(error).__name__})") from None
    prefixes = list(_json_prefixes(path, text) if text.lstrip().startswith("{") else _text_prefixes(text))
    if not prefixes:
        raise InvalidRanges(f"{path}: there is no range in it")
    for number, prefix in enumerate(prefixes, start=1):
        try:
            ranges.add(ipaddress.ip_network(prefix))
        except (ValueError, TypeError):
            raise InvalidRanges(f"{path}: entry {number} is not a network such as 192.0.2.0/24") from None


def parse_address(text: str) -> Address | None:
    """Return the address of a log, written with or without a port."""
    host, has_port, _ = text.rpartition(":")
    for candidate in (text, host.strip("[]") if has_port else "", text.strip("[]")):
        try:
            address = ipaddress.ip_address(candidate)
        except ValueError:
            continue
        return getattr(address, "ipv4_mapped", None) or address
    return None


def _json_prefixes(path: Path, text: str) -> Iterator[Any]:
    try:
        entries = json.loads(text)["prefixes"]
        for entry in entries:
            yield entry["ipv4Prefix"] if "ipv4Prefix" in entry else entry["ipv6Prefix"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidRanges(f"{path}: prefixes with ipv4Prefix or ipv6Prefix are needed") from None


def _text_prefixes(text: str) -> Iterator[str]:
    for line in text.splitlines():
        network = line.partition("#")[0].strip()
        if network:
            yield network
