"""The relay checks, forwards and rewrites as the vectors say."""

import re
from typing import Any

from agent_feedback import protocol_files, relay
from agent_feedback.http.client import HttpResponse
from agent_feedback.relay import RelayError, read_body, rewrite_urls

from tests.sdk.vectors.cases import Case, read_cases

ERRORS = protocol_files.read("contract.json")["relay"]["errors"].values()


def error_of(error: RelayError) -> dict[str, Any]:
    result = {"status": error.status, "code": error.content["code"]}
    # Each error of the relay is one of the contract's.
    assert result in [{"status": entry["status"], "code": entry["code"]} for entry in ERRORS]
    return result


@read_cases("relay", "handle")
def test_a_handle_is_checked_as_the_vector_says(case: Case) -> None:
    assert bool(relay._HANDLE.match(case["input"]["handle"])) is case["expected"]
    pattern = protocol_files.read("contract.json")["relay"]["handle"].removesuffix("$")
    assert bool(re.fullmatch(pattern, case["input"]["handle"])) is case["expected"]


@read_cases("relay", "content")
def test_urls_are_rewritten_as_the_vector_says(case: Case) -> None:
    assert rewrite_urls(case["input"]["content"], case["input"]["mount"]) == case["expected"]


@read_cases("relay", "body")
def test_a_body_is_checked_as_the_vector_says(case: Case) -> None:
    try:
        result = {"forwarded": read_body(case["input"]["path"], case["input"]["body"].encode())}
    except RelayError as error:
        result = error_of(error)
    assert result == case["expected"]


@read_cases("relay", "answer")
def test_an_answer_of_the_service_is_passed_on_as_the_vector_says(case: Case) -> None:
    answer = case["input"]["answer"]
    try:
        body = relay._parse(HttpResponse(answer["status"], answer["body"].encode()))
        result = {"status": answer["status"], "body": body}
    except RelayError as error:
        result = error_of(error)
    except ValueError:
        result = error_of(relay.unavailable())
    assert result == case["expected"]
