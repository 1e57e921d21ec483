"""`flask export`: its options, its line and its errors."""

import json
import uuid
from datetime import UTC, datetime
from pathlib import Path

import pytest
from flask import Flask

from app.cli.output import read_instant
from tests.factories import Company


def test_the_command_says_in_one_line_what_it_has_done(app: Flask, filled: Company, tmp_path: Path) -> None:
    arguments = ["export", "--environment", str(filled.environment_id), "--since", "2020-01-01", "--to", str(tmp_path)]
    result = app.test_cli_runner().invoke(args=arguments)
    assert result.output == (
        f"Exported 9 interactions, 9 reviews, 9 reports, 9 consent decisions, 9 decisions, 9 outcomes and 2 evidence "
        f"counts to {tmp_path}.\n"
    )
    result = app.test_cli_runner().invoke(args=[*arguments, "--format", "ndjson", "--json"])
    assert json.loads(result.output)["rows"]["reviews"] == 0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"--environment": str(uuid.uuid4())}, "There is no environment with this id."),
        ({"--to": "/dev/null/below"}, "Not a directory"),
        ({"--to": ""}, "Invalid value for '--to': name a folder"),
        ({"--since": "yesterday"}, "write a date as 2026-01-31"),
        ({"--format": "xlsx"}, "Invalid value for '--format'"),
    ],
)
def test_an_error_is_one_sentence(
    app: Flask,
    company: Company,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    options = {"--environment": str(company.environment_id), "--to": str(tmp_path / "new"), **changes}
    result = app.test_cli_runner().invoke(args=["export", *(part for pair in options.items() for part in pair)])
    assert (result.exit_code != 0, sentence in result.output) == (True, True), result.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("written", "instant"),
    [
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31T12:00:00Z", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("2026-01-31T12:00:00+02:00", datetime(2026, 1, 31, 10, tzinfo=UTC)),
        ("soon", None),
    ],
)
def test_an_instant_is_read_as_people_write_it(written: str, instant: datetime | None) -> None:
    assert read_instant(written) == instant
