"""What an account may look like."""

import re

ROLES = ("owner", "admin", "member")

LONGEST_NAME = 120

_EMAIL = re.compile(r"[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)+\Z")


def is_email(text: str) -> bool:
    """Tell whether a text can be an e-mail address; only a message could prove more."""
    return len(text) <= 254 and _EMAIL.match(text) is not None
