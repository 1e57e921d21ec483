"""The address ranges that providers publish, from files that the operator fetched."""

import ipaddress
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class BadRanges(ValueError):
    """A file of ranges that cannot be used; the message says which and why."""


class Ranges:
    """Networks in which an address is found in a few steps however many there are."""

    def __init__(self) -> None:
        self._networks: dict[tuple[int, int], set[int]] = defaultdict(set)
        """The leading bits of the networks of each IP version and prefix length."""

    def add(self, network: Network) -> None:
        """Take a network."""
        shift = network.max_prefixlen - network.prefixlen
        self._networks[network.version, shift].add(int(network.network_address) >> shift)

    def __contains__(self, address: Address) -> bool:
        number, version = int(address), address.version
        return any(number >> shift in leading for (of, shift), leading in self._networks.items() if of == version)


def read(path: Path, into: Ranges) -> None:
    """Read a file: `{"prefixes": [{"ipv4Prefix": …}, {"ipv6Prefix": …}]}`, or one network a line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRanges(f"{path}: cannot be read ({type(error).__name__})") from None
    prefixes = list(_published(path, text) if text.lstrip().startswith("{") else _listed(text))
    if not prefixes:
        raise BadRanges(f"{path}: there is no range in it")
    for number, prefix in enumerate(prefixes, start=1):
        try:
            into.add(ipaddress.ip_network(prefix))
        except (ValueError, TypeError):
            raise BadRanges(f"{path}: entry {number} is not a network such as 192.0.2.0/24") from None


def address_of(text: str) -> Address | None:
    """Read an address of a log, with or without a port."""
    host, has_port, _ = text.rpartition(":")
    for candidate in (text, host.strip("[]") if has_port else "", text.strip("[]")):
        try:
            address = ipaddress.ip_address(candidate)
        except ValueError:
            continue
        return getattr(address, "ipv4_mapped", None) or address
    return None


def _published(path: Path, text: str) -> Iterator[Any]:
    try:
        entries = json.loads(text)["prefixes"]
        for entry in entries:
            yield entry["ipv4Prefix"] if "ipv4Prefix" in entry else entry["ipv6Prefix"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadRanges(f"{path}: prefixes with ipv4Prefix or ipv6Prefix are needed") from None


def _listed(text: str) -> Iterator[str]:
    for line in text.splitlines():
        network = line.partition("#")[0].strip()
        if network:
            yield network
