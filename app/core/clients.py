"""What is stored of an HTTP client: the network of its address and the family of its browser."""

import ipaddress
import re

IPV4_PREFIX, IPV6_PREFIX = 24, 48
"""What is stored of an address: its network of this length."""

# In this order: a browser's user agent also names those that it is compatible with.
_BROWSERS = (
    (re.compile(r"bot\b|crawl|spider|https?://|curl/|python|headless", re.IGNORECASE), "bot"),
    (re.compile(r"\bEdg(?:e|A|iOS)?/"), "edge"),
    (re.compile(r"\b(?:OPR|Opera|SamsungBrowser|YaBrowser|Vivaldi)/"), "other"),
    (re.compile(r"\b(?:Firefox|FxiOS)/"), "firefox"),
    (re.compile(r"\b(?:Chrome|Chromium|CriOS)/"), "chrome"),
    (re.compile(r"\bVersion/\S+ .*\bSafari/"), "safari"),
)


def network_of(address: str) -> str:
    """Return the network of an IP address: /24 of IPv4, also where it is mapped into IPv6, and /48 of IPv6."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        # A scope names an interface of the sender's machine.
        ip = ip.ipv4_mapped or ipaddress.IPv6Address(int(ip))
    return str(ipaddress.ip_network((ip, IPV4_PREFIX if ip.version == 4 else IPV6_PREFIX), strict=False))


def browser_family(user_agent: str) -> str:
    """Return chrome, firefox, safari, edge, bot or other."""
    return next((family for pattern, family in _BROWSERS if pattern.search(user_agent)), "other")
