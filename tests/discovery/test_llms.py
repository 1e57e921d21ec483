"""/llms.txt, by the convention of llmstxt.org."""

import re

from flask.testing import FlaskClient

from tests.discovery.test_discovery import BASE_URL

LINK = re.compile(r"^- \[[^\]]+\]\(([^)]+)\): \S", re.MULTILINE)
MAX_BYTES = 3_000


def test_it_has_the_shape_of_the_convention(client: FlaskClient) -> None:
    response = client.get("/llms.txt")
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert re.match(r"# Agent Feedback\n\n> \S[^\n]+\n\n", response.text)
    assert re.findall(r"^## .*", response.text, re.MULTILINE)[-1] == "## Optional"
    assert len(response.data) < MAX_BYTES
    assert "{" not in response.text
    # Every entry of a list is a link with a note.
    assert len(LINK.findall(response.text)) == len(re.findall("^- ", response.text, re.MULTILINE))


def test_every_link_answers(client: FlaskClient) -> None:
    links = LINK.findall(client.get("/llms.txt").text)
    assert len(links) == 6
    statuses = {link: client.get(link.removeprefix(BASE_URL)).status_code for link in links}
    assert statuses == dict.fromkeys(links, 200)


def test_every_address_of_the_read_api_is_there_and_wants_its_key(client: FlaskClient) -> None:
    text = client.get("/llms.txt").text
    for name in ("reviews", "reports", "interactions", "operations"):
        assert f"/{name}`" in text
        response = client.get(f"/api/v2/{name}")
        assert (response.status_code, "af_read_" in response.json["error"]) == (401, True)
