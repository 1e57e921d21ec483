"""The vectors fit their schema, the index names them all, and each has its test."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from tests.sdk.vectors.cases import FOLDER, load

INDEX = json.loads((FOLDER / "index.json").read_text())
SUBJECTS = [entry["subject"] for entry in INDEX["files"]]
SCHEMA = json.loads((FOLDER / INDEX["schema"]).read_text())
TESTS = Path(__file__).parent


def test_the_index_names_every_file_and_each_has_a_test_of_its_name() -> None:
    files = {path.name for path in FOLDER.glob("*.json")} - {"index.json", INDEX["schema"]}
    assert {entry["file"] for entry in INDEX["files"]} == files
    assert {f"{subject}.json" for subject in SUBJECTS} == files
    assert {path.name for path in TESTS.glob("test_*.py")} == {f"test_{subject}.py" for subject in SUBJECTS} | {
        "test_index.py"
    }


def test_the_subjects_are_those_of_the_sdk_contract() -> None:
    assert set(SUBJECTS) == {
        *("capability", "keys", "subject", "operation", "envelope", "eligibility", "cache", "paths", "json_splice"),
        *("html_insert", "header", "hint", "telemetry", "retry", "context_interaction", "relay", "answer", "mcp"),
    }


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_file_fits_the_schema_and_names_each_case_once(subject: str) -> None:
    content = load(subject)
    Draft202012Validator(SCHEMA).validate(content)
    names = [case["name"] for case in content["cases"]]
    assert content["subject"] == subject
    assert len(set(names)) == len(names) > 1


@pytest.mark.parametrize("wrong", [{"subject": "others"}, {"cases": []}, {"more": 1}])
def test_what_is_no_vector_file_does_not_fit(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Draft202012Validator(SCHEMA).validate({**load("subject"), **wrong})


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_case_with_a_member_too_many_does_not_fit(subject: str) -> None:
    content = load(subject)
    content["cases"][0]["input"]["unheardOf"] = 1
    with pytest.raises(ValidationError):
        Draft202012Validator(SCHEMA).validate(content)
