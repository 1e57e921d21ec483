"""docs/data-out.md: its commands run, and its addresses exist."""

import re
import shlex

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.exports.lists import EVIDENCE_COUNTS, LISTS
from tests.conftest import ROOT
from tests.factories import bearer
from tests.reading.fixtures import Reader

GUIDE = (ROOT / "docs" / "data-out.md").read_text()


def test_the_commands_of_the_guide_are_answered(client: FlaskClient, reader: Reader) -> None:
    (block,) = re.findall(r"<!-- runs in tests/reading/test_guide.py -->\n```sh\n(.*?)```", GUIDE, re.S)
    create, *reads = block.splitlines()
    assert "flask key create --environment $ENVIRONMENT --kind read --json" in create
    assert len(reads) == 4
    for line in reads:
        curl, silent, url, header_option, header = shlex.split(line)
        assert (curl, silent, header_option, header) == ("curl", "-s", "-H", "Authorization: Bearer $KEY")
        response = client.get(url.removeprefix("$BASE"), headers=bearer(reader.key))
        assert response.status_code == 200, response.text


def test_every_list_and_file_is_named(app: Flask) -> None:
    rules = {rule.rule for rule in app.url_map.iter_rules() if rule.endpoint.startswith("reading.")}
    assert [rule for rule in rules if re.sub(r"<[^>]+>", "{id}", rule) not in GUIDE] == []
    names = [*(exported.name for exported in LISTS), EVIDENCE_COUNTS]
    assert [name for name in names if f"`{name}`" not in GUIDE] == []


@pytest.mark.parametrize("line", [line for line in GUIDE.splitlines() if line.startswith("flask export")])
def test_an_export_of_the_guide_runs(app: Flask, reader: Reader, tmp_path: object, line: str) -> None:
    environment_id = str(reader.company.environment_id)
    arguments = shlex.split(
        line.replace("$ENVIRONMENT", environment_id).replace("/backup", str(tmp_path)), comments=True
    )
    result = app.test_cli_runner().invoke(args=arguments[1:])
    assert (result.exit_code, result.output[:9]) == (0, "Exported "), result.output
