"""Which URLs and addresses a webhook may be sent to, and the resolution of host names."""

import ipaddress
import re
import socket
import threading
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from app.core.errors import Unprocessable

MAX_URL_LENGTH = 500
RESOLUTION_TIMEOUT_S = 5.0
MAX_ADDRESSES = 4
"""Of a host: all are checked, and so many are tried."""

HTTPS_PORT = 443
HTTP_PORT = 80
FIRST_UNPRIVILEGED_PORT = 1_024

MAX_NAME_LENGTH = 253
"""Of a host, by RFC 1035, as is the length of its labels."""

_AUTHORITY = re.compile(r"(?:\[(?P<ipv6>[0-9a-f:.]+)\]|(?P<name>[^][:@]+))(?::[0-9]*)?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

# What `is_global` of the standard library does not cover: it passes multicast addresses and these.
_REFUSED_NETWORKS = (
    ipaddress.ip_network("192.88.99.0/24"),  # relays of 6to4
    ipaddress.ip_network("168.63.129.16/32"),  # the platform of Azure, as seen from a machine of its own
    ipaddress.ip_network("::ffff:0:0/96"),  # IPv4 in IPv6
    ipaddress.ip_network("::/96"),
    ipaddress.ip_network("2001::/32"),  # Teredo
    ipaddress.ip_network("2002::/16"),  # 6to4
    ipaddress.ip_network("64:ff9b:1::/48"),  # NAT64 within a network
    ipaddress.ip_network("fec0::/10"),  # site-local
)


class BadUrl(Unprocessable):
    """The URL of an endpoint cannot be used; the sentence says why."""

    code = "bad_url"


class AddressError(Exception):
    """A host cannot be resolved, or must not be sent to; the argument is a slug for the log of deliveries."""


@dataclass(frozen=True, slots=True)
class Target:
    """A URL, taken apart."""

    is_https: bool
    host: str
    port: int
    path: str
    """With the query."""


def read_url(url: str, *, allows_private: bool) -> Target:
    """Return the parts of a URL, or raise `BadUrl`."""
    if len(url) > MAX_URL_LENGTH or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise BadUrl(f"A URL has at most {MAX_URL_LENGTH} printable ASCII characters; write a host name as xn--….")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadUrl("This is not a URL.") from None
    _check_parts(parts, allows_private=allows_private)
    is_https = parts.scheme == "https"
    default_port = HTTPS_PORT if is_https else HTTP_PORT
    target = Target(is_https, parts.hostname or "", default_port if port is None else port, _path(parts))
    if not allows_private and target.port not in (default_port, *range(FIRST_UNPRIVILEGED_PORT, 65_536)):
        raise BadUrl("The port is that of another service; use 443 or one above 1023.")
    return target


def _check_parts(parts: SplitResult, *, allows_private: bool) -> None:
    if parts.scheme not in (("https", "http") if allows_private else ("https",)):
        raise BadUrl("A webhook is sent by https only.")
    if not parts.hostname:
        raise BadUrl("The URL has no host.")
    if "@" in parts.netloc:
        raise BadUrl("The URL has credentials in it; the signature is what a receiver checks.")
    if not _is_host(parts.netloc):
        raise BadUrl("The host is neither a name nor an IP address; it has no escapes, and no dot at its end.")
    if parts.fragment:
        raise BadUrl("The URL has a fragment, which no request carries.")


def _is_host(authority: str) -> bool:
    """Tell whether there can be such a host; resolvers differ in what they make of other texts."""
    match = _AUTHORITY.fullmatch(authority.lower())
    if match is None:
        return False
    if match["ipv6"]:
        return _is_address(match["ipv6"], ipaddress.IPv6Address)
    labels = match["name"].split(".")
    if _NUMBER.fullmatch(labels[-1]):
        # No name ends in a number: it is an IPv4 address, of which `127.1` and `0x7f.1` are other spellings.
        return _is_address(match["name"], ipaddress.IPv4Address)
    return len(match["name"]) <= MAX_NAME_LENGTH and all(map(_LABEL.fullmatch, labels))


def _is_address(text: str, version: type[ipaddress.IPv4Address | ipaddress.IPv6Address]) -> bool:
    try:
        version(text)
    except ValueError:
        return False
    return True


def read_host(url: str) -> str:
    """Return the host of the URL of an endpoint, also of one that would be refused today."""
    return urlsplit(url).hostname or ""


def _path(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def is_public(address: str) -> bool:
    """Tell whether an IP address is one of the public internet, on which anybody could reach it."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.scope_id is not None:
            return False
        if ip in _NAT64:
            ip = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    if any(ip.version == network.version and ip in network for network in _REFUSED_NETWORKS):
        return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


def resolve(target: Target, *, allows_private: bool) -> list[str]:
    """Return the addresses of a host, or raise `AddressError`.

    A host with a single address that is not public is refused altogether: whoever answers for its name could give
    the other one next time.
    """
    addresses = _look_up(target)
    if not allows_private and not all(map(is_public, addresses)):
        raise AddressError("address_refused")
    return addresses[:MAX_ADDRESSES]


def _look_up(target: Target) -> list[str]:
    """Ask the system's resolver, which has no time-out of its own, in a thread that can be left behind."""
    addresses: list[str] = []
    failures: list[Exception] = []

    def look_up() -> None:
        try:
            rows = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
            addresses.extend(dict.fromkeys(str(row[4][0]) for row in rows))
        except (OSError, UnicodeError) as error:
            failures.append(error)

    thread = threading.Thread(target=look_up, name="webhook-resolver", daemon=True)
    thread.start()
    thread.join(RESOLUTION_TIMEOUT_S)
    if thread.is_alive():
        raise AddressError("dns_timeout")
    if failures or not addresses:
        raise AddressError("dns_failed")
    return addresses
