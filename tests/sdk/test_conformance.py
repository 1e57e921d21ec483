"""The command of the conformance suite: which languages it runs, and what it says of programs that fail."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

SUITE = ROOT / "sdk/conformance"
EXIT_FAILED, EXIT_USAGE = 1, 4


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the suite as bin/conformance does, in one process."""
    command = [sys.executable, "-m", "pytest", "-c", str(SUITE / "pytest.ini"), "-p", "no:cacheprovider", str(SUITE)]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [*command, *arguments], cwd=ROOT, env=environ, capture_output=True, text=True, timeout=120, check=False
    )


def languages_file(folder: Path, text: str) -> str:
    path = folder / "languages.toml"
    path.write_text(text)
    return str(path)


def test_an_unknown_language_is_named_with_those_that_there_are() -> None:
    result = run("--language", "cobol")
    assert result.returncode == EXIT_USAGE
    assert "has no cobol; it has python" in result.stderr


def test_a_language_of_others_fails_with_a_table(tmp_path: Path) -> None:
    file = languages_file(tmp_path, '[ruby]\nfolder = "."\nproducts = {rack = ["false"]}\n')
    result = run("--languages", file, "-k", "test_an_unknown_path")
    assert result.returncode == EXIT_FAILED
    assert "the program ended before it listened" in result.stdout
    assert [line.split() for line in result.stdout.splitlines() if line.startswith("eligibility")] == [
        ["eligibility", "1", "of", "1", "FAIL"]
    ]


def test_a_build_that_fails_shows_its_output(tmp_path: Path) -> None:
    file = languages_file(tmp_path, '[ruby]\nfolder = "."\nbuild = ["sh", "-c", "echo no compiler; exit 1"]\n')
    result = run("--languages", file)
    assert result.returncode == EXIT_USAGE
    assert "ruby could not be built:\nno compiler" in result.stderr


def test_a_misspelt_member_is_an_error(tmp_path: Path) -> None:
    file = languages_file(tmp_path, '[ruby]\nfolder = "."\nproduct = {rack = ["false"]}\n')
    result = run("--languages", file)
    assert result.returncode == EXIT_USAGE
    assert "ruby has an unknown product" in result.stderr
