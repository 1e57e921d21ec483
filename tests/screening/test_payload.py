"""Names that no body may use as a key."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from app.core.errors import MAX_PROBLEMS, BadRequest
from app.screening.payload import FORBIDDEN_KEYS, find_forbidden_keys, refuse_forbidden_keys


def camel(key: str) -> str:
    first, *tail = key.split("_")
    return first + "".join(map(str.capitalize, tail))


@pytest.mark.parametrize("key", sorted(FORBIDDEN_KEYS))
@pytest.mark.parametrize(
    "spell",
    [str, str.upper, str.title, camel, lambda key: camel(key).swapcase(), lambda key: key.replace("_", "-")],
    ids=["as it is", "upper", "title", "camel", "swapped camel", "dashes"],
)
def test_a_forbidden_key_is_found_in_every_spelling(key: str, spell: Callable[[str], str]) -> None:
    spelling = spell(key)
    assert find_forbidden_keys({"note": "x", spelling: 1}) == [f"/{spelling}"]


@pytest.mark.parametrize(
    "key", ["note", "outcome", "names", "username", "user_id", "secrets_found", "emailed", "prompted"]
)
def test_a_key_that_only_contains_such_a_word_passes(key: str) -> None:
    assert find_forbidden_keys({key: 1}) == []


def test_a_value_that_reads_like_a_forbidden_key_passes() -> None:
    assert find_forbidden_keys({"kind": "prompt", "kinds": ["email", "name"]}) == []


@pytest.mark.parametrize("payload", [None, True, 1, 1.5, "prompt", [], {}, [[]], [None, "email"]])
def test_what_is_no_object_has_no_forbidden_key(payload: object) -> None:
    assert find_forbidden_keys(payload) == []


def test_a_forbidden_key_is_found_at_any_depth() -> None:
    payload: object = {"email": 1}
    for _ in range(5_000):
        payload = [{"a": payload}]
    assert len(find_forbidden_keys(payload)) == 1


def test_the_pointer_leads_to_the_key() -> None:
    payload = {"findings": [{"detail": "x"}, {"tool-input": {"prompt": 1}}], "a": {"b": {"userData": 1}}}
    assert find_forbidden_keys(payload) == ["/a/b/userData", "/findings/1/tool-input"]


def test_ten_thousand_keys_are_looked_through() -> None:
    payload = {f"key{number}": {"value": number} for number in range(10_000)}
    assert find_forbidden_keys(payload) == []
    payload["key7"]["Prompt"] = 1
    assert find_forbidden_keys(payload) == ["/key7/Prompt"]


def test_ten_thousand_forbidden_keys_are_named_as_far_as_one_answer_goes() -> None:
    with pytest.raises(BadRequest) as refusal:
        refuse_forbidden_keys([{"email": number} for number in range(10_000)])
    assert len(refusal.value.problems) == MAX_PROBLEMS


@pytest.mark.parametrize("key", ["not a name", "x" * 40, "a/b", "1st", "", "key~", "ключ!", "a.b"])
def test_a_key_that_is_no_plain_name_is_not_repeated(key: str) -> None:
    assert find_forbidden_keys({key: {"prompt": 1}}) == ["/prompt"]


def test_a_refusal_says_where_and_nothing_of_the_values() -> None:
    with pytest.raises(BadRequest) as refusal:
        refuse_forbidden_keys({"note": "x", "prompt": "do not repeat me"})
    answer = refusal.value.as_dict("request")
    assert answer["code"] == "forbidden_content"
    assert [problem["pointer"] for problem in answer["errors"]] == ["/prompt"]
    assert "repeat" not in str(answer)


def test_a_body_without_such_keys_is_left_alone() -> None:
    refuse_forbidden_keys({"outcome": "success", "note": "All rows were found.", "findings": [{"kind": "gap"}]})


def test_a_deep_and_wide_body_costs_no_more_memory_than_itself() -> None:
    key = "k" * 39
    body: Any = ["x"] * 15_000
    for _ in range(600):
        body = {key: body}
    tracemalloc.start()
    try:
        assert find_forbidden_keys(body) == []
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
