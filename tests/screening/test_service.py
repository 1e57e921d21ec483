"""Refusing a text, counting it, and failing closed."""

import logging
import random
import re
from collections.abc import Iterator

import pytest

from app.core.errors import BadRequest, Unavailable
from app.screening import detector, service
from app.screening.detector import Finding
from app.screening.service import ScreeningBroken, ScreeningFailed, check_itself, refusals, refuse_private
from tests.screening.generators import fill

NOTE = "The order was found on the second try."
SECRET = fill("{base62:40}", random.Random(1))
MAIL = fill("jane.{base36:6}@corp-mail.com", random.Random(1))
NEVER = re.compile(r"(?!)")


@pytest.fixture(autouse=True)
def no_refusals() -> Iterator[None]:
    refusals.clear()
    yield
    refusals.clear()


def refuse(*texts: str) -> BadRequest:
    with pytest.raises(BadRequest) as refusal:
        refuse_private([(f"/{index}", text) for index, text in enumerate(texts)])
    return refusal.value


def break_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(_text: str) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr(service, "find_private", explode)


def test_ordinary_texts_pass() -> None:
    refuse_private([("/summary", NOTE), ("/findings/0/detail", "The total was missing.")])
    assert not refusals


def test_no_text_at_all_passes() -> None:
    refuse_private([])


def test_a_refusal_names_the_code_the_rule_and_the_place() -> None:
    errors = refuse(NOTE, f"The password is {SECRET}.", f"It was sent to {MAIL}.").as_dict("request")["errors"]
    assert [(error["pointer"], error["code"], error["rule"]) for error in errors] == [
        ("/1", "secret_detected", "password_said"),
        ("/2", "personal_data_detected", "email"),
    ]


def test_an_answer_never_has_the_text() -> None:
    answer = str(refuse(f"The password is {SECRET}.", f"It was sent to {MAIL}.").as_dict("request"))
    assert SECRET not in answer
    assert MAIL not in answer


def test_refusals_are_counted_for_each_rule() -> None:
    refuse(f"The password is {SECRET}.", f"It was sent to {MAIL}.")
    refuse(f"It was sent to {MAIL}.")
    assert refusals == {"password_said": 1, "email": 2}


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
        refuse_private([("/summary", half)])
    errors = refuse(*halves).as_dict("request")["errors"]
    assert {error["pointer"] for error in errors} == {""}


def test_a_broken_rule_is_an_unavailable_service_and_no_accepted_text(monkeypatch: pytest.MonkeyPatch) -> None:
    break_finding(monkeypatch)
    with pytest.raises(ScreeningFailed) as failure:
        refuse_private([("/note", NOTE)])
    assert isinstance(failure.value, Unavailable)
    assert (failure.value.status, failure.value.slug) == (503, "screening_failed")


def test_a_broken_rule_tells_nothing_of_the_text(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    break_finding(monkeypatch)
    with caplog.at_level(logging.DEBUG), pytest.raises(ScreeningFailed) as failure:
        refuse_private([("/note", SECRET)])
    assert failure.value.__cause__ is None
    assert SECRET not in str(failure.value) + str([vars(record) for record in caplog.records])
    assert [vars(record)["error"] for record in caplog.records] == ["ValueError"]


def test_a_refused_text_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        refuse(f"The password is {SECRET}.")
    assert caplog.records == []


def test_the_check_passes() -> None:
    check_itself()
    assert not refusals


@pytest.mark.parametrize("rule", [rule for _, rule in service._canaries()])
def test_the_check_fails_when_a_rule_finds_nothing_any_more(monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    def find(text: str) -> Finding | None:
        finding = detector.find_private(text)
        return None if finding and finding.rule == rule else finding

    monkeypatch.setattr(service, "find_private", find)
    with pytest.raises(ScreeningBroken, match=rule):
        check_itself()


def test_the_check_fails_when_the_gate_is_shut(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shut:
        def Match(self, _text: str) -> list[int]:
            return []

    monkeypatch.setattr(detector, "_GATE", Shut())
    with pytest.raises(ScreeningBroken):
        check_itself()


def test_the_check_fails_when_everything_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    find = detector.find_private
    monkeypatch.setattr(service, "find_private", lambda text: find(text) or Finding(detector.SECRET, "everything"))
    with pytest.raises(ScreeningBroken, match="ordinary note"):
        check_itself()
