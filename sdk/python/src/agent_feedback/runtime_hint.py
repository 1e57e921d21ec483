"""Runtime hints: what a request says of the agent's software."""

import re
import unicodedata
from typing import Any

MAX_HINT_LENGTH = 200

USER_AGENT = "user-agent"
"""The value of the option `runtime_hint` that takes the hint from the User-Agent header."""

# A mail address, a URL, or a host that begins with www; with what stands directly before it. Searched for from the
# beginnings of words alone: from everywhere within a long word, the time would grow with the square of its length.
_CONTACT = re.compile(r"(?:\A|(?<=[\s(),;]))[^\s(),;]*(?:@|%40|://|\bwww\.)", re.IGNORECASE)
_TOKEN = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_COMMENT_OR_PRODUCT = re.compile(rf"\(([^()]*)\)?|({_TOKEN}(?:/{_TOKEN})?)")
_VERSIONED_PRODUCT = re.compile(rf"(?:\A|(?<=[\s;,]))({_TOKEN}/{_TOKEN})")
# Control characters, and halves of surrogate pairs, which are no text.
_REFUSED_CATEGORIES = ("Cc", "Cs")


def clean_hint(text: Any) -> str | None:
    """Return a callback's text, trimmed and cut; None where nothing is left, or it holds control characters."""
    hint = text.strip()[:MAX_HINT_LENGTH].strip() if isinstance(text, str) else ""
    if any(unicodedata.category(character) in _REFUSED_CATEGORIES for character in hint):
        return None
    return hint or None


def user_agent_hint(user_agent: Any) -> str | None:
    """Return the product tokens of a User-Agent header up to its first contact address or URL.

    `ClaudeBot/1.0 (+https://…)` gives `ClaudeBot/1.0`. Within a comment only a name with a version is a product.
    """
    if not isinstance(user_agent, str):
        return None
    contact = _CONTACT.search(user_agent)
    text = user_agent[: contact.start()] if contact else user_agent
    products: list[str] = []
    for comment, product in _COMMENT_OR_PRODUCT.findall(text):
        products += [product] if product else _VERSIONED_PRODUCT.findall(comment)
    return clean_hint(" ".join(products))
