"""Rejecting a text, counting it, and failing closed."""

import contextlib
import logging
import random
import re
from collections.abc import Iterator

import pytest

from app.core.errors import BadRequest, Unavailable
from app.screening import candidates, personal, scanner, service, shapes
from app.screening.scanner import Finding
from app.screening.service import (
    ScreeningFailed,
    SelfCheckFailed,
    check_rules,
    reject_private,
    reject_secrets,
    rejections,
)
from tests.screening.generators import fill

NOTE = "The order was found on the second try."
SECRET = fill("{base62:24}", random.Random(1))
MAIL = fill("jane.{base36:6}@corp-mail.com", random.Random(1))
MATCHES_NOTHING = re.compile(r"(?!)")


@pytest.fixture(autouse=True)
def no_rejections() -> Iterator[None]:
    rejections.clear()
    yield
    rejections.clear()


def rejection(*texts: str) -> BadRequest:
    with pytest.raises(BadRequest) as error:
        reject_private([(f"/{index}", text) for index, text in enumerate(texts)])
    return error.value


def break_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_text: str) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr(service, "find_private", fail)


def test_ordinary_texts_pass() -> None:
    reject_private([("/summary", NOTE), ("/findings/0/detail", "The total was missing.")])
    assert not rejections


def test_no_text_at_all_passes() -> None:
    reject_private([])


def test_a_rejection_names_the_code_the_rule_and_the_place() -> None:
    errors = rejection(NOTE, f"The password is {SECRET}.", f"It was sent to {MAIL}.").as_dict("request")["errors"]
    assert [(error["pointer"], error["code"], error["rule"]) for error in errors] == [
        ("/1", "secret_detected", "password_said"),
        ("/2", "personal_data_detected", "email"),
    ]


def test_an_answer_never_has_the_text() -> None:
    answer = str(rejection(f"The password is {SECRET}.", f"It was sent to {MAIL}.").as_dict("request"))
    assert SECRET not in answer
    assert MAIL not in answer


def test_rejections_are_counted_for_each_rule() -> None:
    rejection(f"The password is {SECRET}.", f"It was sent to {MAIL}.")
    rejection(f"It was sent to {MAIL}.")
    assert rejections == {"password_said": 1, "email": 2}


@pytest.mark.parametrize(
    "halves",
    [
        ("The password", f"is {SECRET} now."),
        ("The api key is", f"{SECRET}"),
        (f"It sent Bearer {SECRET[:5]}", f"{SECRET[5:]} and failed."),
        (f"It printed qz_{SECRET[:12]}", f"{SECRET[12:]} twice."),
        ("It went to jane@", "corp-mail.com yesterday."),
    ],
)
def test_a_text_that_is_cut_in_two_is_found(halves: tuple[str, str]) -> None:
    for half in halves:
        reject_private([("/summary", half)])
    errors = rejection(*halves).as_dict("request")["errors"]
    assert {error["pointer"] for error in errors} == {""}


@pytest.mark.parametrize("result", [None, [], [0]])
def test_a_failing_prefilter_is_a_503(monkeypatch: pytest.MonkeyPatch, result: list[int] | None) -> None:
    class FailingPrefilter:
        def Match(self, _text: str) -> list[int] | None:
            return result

    monkeypatch.setattr(scanner, "_PREFILTER", FailingPrefilter())
    for reject in (reject_private, reject_secrets):
        with pytest.raises(ScreeningFailed):
            reject([("/note", NOTE)])


@pytest.mark.parametrize(
    "hint",
    ["ClaudeBot/1.0; +claudebot@anthropic.com", "Bot/2 (+https://bot.dev/about; bot@bot.dev)", "Bot +1 415 555 2671"],
)
def test_contact_data_passes_where_only_secrets_are_rejected(hint: str) -> None:
    reject_secrets([("/runtimeHint", hint)])
    with pytest.raises(BadRequest):
        reject_private([("/note", f"It says {MAIL}: {hint}")])


def test_a_secret_is_rejected_where_only_secrets_are() -> None:
    with pytest.raises(BadRequest) as error:
        reject_secrets([("/runtimeHint", f"Agent/1.0 token={SECRET} {MAIL}")])
    assert [problem.code for problem in error.value.problems] == ["secret_detected"]


def test_a_broken_rule_is_an_unavailable_service_and_no_accepted_text(monkeypatch: pytest.MonkeyPatch) -> None:
    break_scan(monkeypatch)
    with pytest.raises(ScreeningFailed) as failure:
        reject_private([("/note", NOTE)])
    assert isinstance(failure.value, Unavailable)
    assert (failure.value.status, failure.value.slug) == (503, "screening_failed")


def test_a_broken_rule_tells_nothing_of_the_text(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    break_scan(monkeypatch)
    with caplog.at_level(logging.DEBUG), pytest.raises(ScreeningFailed) as failure:
        reject_private([("/note", SECRET)])
    assert failure.value.__cause__ is None
    assert SECRET not in str(failure.value) + str([vars(record) for record in caplog.records])
    assert [vars(record)["error"] for record in caplog.records] == ["ValueError"]


def test_a_rejected_text_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        rejection(f"The password is {SECRET}.")
    assert caplog.records == []


def test_the_check_passes() -> None:
    check_rules()
    assert not rejections


@pytest.mark.parametrize("rule", [rule for _, rule in service._self_check_sentences()])
def test_the_check_fails_when_a_rule_finds_nothing_any_more(monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    def find(text: str) -> Finding | None:
        finding = scanner.find_private(text)
        return None if finding and finding.rule == rule else finding

    monkeypatch.setattr(service, "find_private", find)
    with pytest.raises(SelfCheckFailed, match=rule):
        check_rules()


def test_the_check_fails_when_everything_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    find = scanner.find_private
    monkeypatch.setattr(service, "find_private", lambda text: find(text) or Finding(scanner.SECRET, "everything"))
    with pytest.raises(SelfCheckFailed, match="ordinary note"):
        check_rules()


@pytest.mark.parametrize(
    "note", [NOTE, f"The password is {SECRET} now.", "Call +41 44 668 18 00, token abc-1f.v2_x9z."]
)
def test_no_part_of_a_text_outlives_its_request(note: str) -> None:
    with contextlib.suppress(BadRequest):
        reject_private([("/note", note)])
    caches = (candidates.is_random_token, shapes.classify, shapes.is_unreadable, personal._is_possible)
    assert [cache.cache_info().currsize for cache in caches] == [0, 0, 0, 0]
