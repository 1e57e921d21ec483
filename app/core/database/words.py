"""The words of a text, for PostgreSQL's full-text search."""

SEPARATORS = "/.@<>&+-"
"""Characters that only separate words here; PostgreSQL would take `orders/items` or `api.example.com` for one word, and
leave `<title>` out. None of them has a meaning in JSON without numbers."""


def separate(text_sql: str) -> str:
    """Return the SQL of a text with a space in place of every separator."""
    return f"translate({text_sql}, '{SEPARATORS}', '{' ' * len(SEPARATORS)}')"
