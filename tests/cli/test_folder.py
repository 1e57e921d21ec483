"""Options that take a folder."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli import sdk
from app.cli.dev.__main__ import up


@pytest.mark.parametrize("name", ["build", "schemas"])
def test_an_empty_text_is_no_folder_for_the_downloads(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(sdk.group, [name, "--output", ""])
    assert (result.exit_code, "Invalid value for '--output': name a folder" in result.output) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_text_is_no_folder_for_the_data_of_development(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cli.dev.__main__._run", lambda *_, **__: None)
    result = CliRunner().invoke(up, ["--data-dir", ""])
    assert (result.exit_code, "Invalid value for '--data-dir': name a folder" in result.output) == (2, True)
