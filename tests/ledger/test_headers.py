"""The headers of a batch are the caller's words: whatever cannot be read is ignored."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ledger.rules import LOSS_REASONS, UNKNOWN_SENDER, LossReport, Sender, read_headers, read_report, read_sender

X, Y = "5b0e7f66-21a4-4c3e-9d5c-0f6a3f3f7b10", "9d4b2f0a-6f5c-4a0e-8d61-3c2b7f1e5a44"


def test_a_sender_is_named_by_language_and_version() -> None:
    assert read_sender("agent-feedback-python/0.1.0") == Sender("python", "0.1.0")
    assert read_sender("agent-feedback-rust/1.0.0-rc.1+b2") == Sender("rust", "1.0.0-rc.1+b2")


@pytest.mark.parametrize(
    "user_agent",
    [
        "",
        "curl/8.0",
        "agent-feedback-python/",
        "agent-feedback-Python/1",
        "agent-feedback-python/1 extra",
        "agent-feedback-python/1\n",
        "x agent-feedback-python/1",
        f"agent-feedback-{'a' * 17}/1",
        f"agent-feedback-python/{'1' * 33}",
        "agent-feedback-python/1;DROP",
        "agent-feedback-python/\N{ARABIC-INDIC DIGIT ONE}",
        "a" * 100_000,
    ],
)
def test_any_other_sender_is_unknown(user_agent: str) -> None:
    assert read_sender(user_agent) == UNKNOWN_SENDER


def test_losses_are_read_by_reason() -> None:
    assert read_report("queue_full=12;undelivered=3", "").lost == {"queue_full": 12, "undelivered": 3}
    assert read_report(" queue_full=12 ; undelivered=3;", "").lost == {"queue_full": 12, "undelivered": 3}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "queue_full",
        "queue_full=",
        "queue_full=-1",
        "queue_full=+1",
        "queue_full=1.5",
        "queue_full=1e3",
        "queue_full=0",
        "queue_full=1000000000",
        "queue_full=" + "9" * 5_000,
        "Queue_full=1",
        "stolen=1",
        "queue_full=1,undelivered=2",
        "queue_full=\N{ARABIC-INDIC DIGIT ONE}",
        "=;=;=",
        ";" * 10_000,
        "queue_full=1;" * 10_000,
    ],
)
def test_what_is_no_loss_is_ignored(text: str) -> None:
    assert read_report(text, "") == LossReport()


def test_of_a_repeated_reason_the_first_counts_and_others_stay() -> None:
    assert read_report("queue_full=1;queue_full=2;bad;undelivered=3", "").lost == {"queue_full": 1, "undelivered": 3}


def test_the_parts_of_unanswered_batches_are_taken_out_of_what_is_certain() -> None:
    report = read_report("undelivered=50;queue_full=7", f"{X}:undelivered=20,queue_full=2;{Y}:undelivered=30")
    assert report.lost == {"queue_full": 5}
    assert report.unanswered == {X: {"undelivered": 20, "queue_full": 2}, Y: {"undelivered": 30}}


@pytest.mark.parametrize(
    "text",
    [
        X,
        f"{X}:",
        f"{X}:undelivered=51",
        f"{X}:refused=1",
        f"{X}:undelivered=1;{X}:undelivered=1",
        f"{X}:undelivered=1;x",
        f"{X}:undelivered=1,undelivered=1",
        f"{X}:undelivered=1,stolen=1",
        f"{X}:undelivered=-1",
        f"{X[:-1]}g:undelivered=1",
        ";".join(f"{uuid.UUID(int=number, version=4)}:undelivered=1" for number in range(33)),
        f"{X}:undelivered=1;" * 1_000,
    ],
)
def test_unanswered_batches_that_cannot_be_read_leave_the_loss_certain(text: str) -> None:
    assert read_report("undelivered=50", text) == LossReport({"undelivered": 50})


@pytest.mark.parametrize("text", ["", "x", X[:-1], X + "0", X.replace("-", ""), "{" + X + "}"])
def test_what_is_no_id_is_none(text: str) -> None:
    assert read_headers({"Agent-Feedback-Batch": text}).batch_id is None
    assert read_headers({"Agent-Feedback-Batch": X.upper()}).batch_id == uuid.UUID(X)


@given(st.text(alphabet="queue_fulndivr=;:,0123456789-abc \x00\u0661", max_size=200), st.text(max_size=200))
def test_no_header_is_an_error(lost: str, unanswered: str) -> None:
    report = read_report(lost, unanswered)
    assert set(report.lost) <= LOSS_REASONS
    assert all(0 < count < 10**9 for count in report.lost.values())
