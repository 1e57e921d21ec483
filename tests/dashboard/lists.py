"""Reading lists of pages: their rows, next pages and exports."""

import csv
import io
import re
from html import unescape
from typing import Any

import orjson
from flask.testing import FlaskClient


def next_path(page: str) -> str | None:
    """Return the address of the next page, or None."""
    match = re.search(r'<a rel="next" href="([^"]+)"', page)
    return unescape(match[1]) if match else None


def walk(client: FlaskClient, path: str, pattern: str) -> list[str]:
    """Return what a pattern matches in the rows of every page, one page after the other."""
    matches: list[str] = []
    following: str | None = path
    while following:
        response = client.get(following)
        assert response.status_code == 200, response.text
        assert not re.search(r"[?&](page|offset)=", following)
        body = re.search(r"<tbody>(.*?)</tbody>", response.text, re.DOTALL)
        matches += re.findall(pattern, body[1]) if body else []
        following = next_path(response.text)
    return matches


def export_path(page: str, file_format: str) -> str:
    """Return the address of the export of a page."""
    match = re.search(rf'href="([^"]*\.{file_format}[^"]*)" download', page)
    assert match
    return unescape(match[1])


def download(client: FlaskClient, path: str, file_format: str) -> list[dict[str, Any]]:
    """Return the rows of the export that a page links to."""
    response = client.get(export_path(client.get(path).text, file_format))
    assert response.status_code == 200
    assert response.headers["Content-Disposition"].startswith("attachment")
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "no-store" in response.headers["Cache-Control"]
    if file_format == "csv":
        return list(csv.DictReader(io.StringIO(response.text)))
    return [orjson.loads(line) for line in response.text.splitlines()]
