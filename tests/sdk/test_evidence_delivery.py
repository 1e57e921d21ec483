"""What happens when the service is away, busy, older, or not the service at all."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from agent_feedback.evidence import delivery
from agent_feedback.evidence.delivery import BatchRefused, BatchUndelivered, Delivery, Receipt
from agent_feedback.evidence.stop_signal import StopSignal
from agent_feedback.keys import CompanyKey

from tests.sdk.endpoint import HANG_UP, Endpoint, closed_port, wait_until
from tests.sdk.endpoint import serving as serving_anything
from tests.sdk.evidence_logs import combined_line, command, environ, ship, write
from tests.sdk.evidence_service import KEY, Service


def refusal(code: str, *inner: str) -> bytes:
    errors = [{"pointer": "/events/0/agentToken", "code": code, "message": "private"} for code in inner]
    return json.dumps({"error": "private", "code": code, "requestId": "x", "errors": errors}).encode()


def log(folder: Path, number: int = 1) -> Path:
    return write(folder / "a.log", *[combined_line(at=at) for at in range(number)])


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_what_passes_is_tried_again(status: int, service: Service, tmp_path: Path) -> None:
    service.replies = [(status, b"<html>", ""), (status, b"", "Retry-After: 0\r\n")]
    ship(service.url, tmp_path, log(tmp_path))
    assert len(service.stored) == 1


def test_the_service_says_how_long_to_wait(service: Service, tmp_path: Path) -> None:
    service.replies = [(429, b"", "Retry-After: 2\r\n")]
    started_at = time.monotonic()
    ship(service.url, tmp_path, log(tmp_path))
    assert time.monotonic() - started_at > 2
    assert len(service.stored) == 1


def test_a_connection_that_breaks_is_opened_again(service: Service, tmp_path: Path) -> None:
    service.replies = [(HANG_UP, b"", "")] * 3
    ship(service.url, tmp_path, log(tmp_path))
    assert len(service.stored) == 1


def test_a_batch_whose_answer_was_lost_counts_once(service: Service, tmp_path: Path) -> None:
    service.loses_answers = 2
    result = ship(service.url, tmp_path, log(tmp_path, 600))
    assert len(service.stored) == 600
    assert "600 sent, 100 accepted, 500 duplicates" in result.stderr


def test_what_could_not_be_delivered_is_sent_by_the_next_run(service: Service, tmp_path: Path) -> None:
    result = ship(f"http://127.0.0.1:{closed_port()}", tmp_path, "--max-attempts", "2", log(tmp_path), code=3)
    assert "ConnectionRefusedError" in result.stderr
    assert "nothing of it is lost" in result.stderr
    ship(service.url, tmp_path, log(tmp_path, 0))
    assert len(service.stored) == 1


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (422, refusal("invalid", "token_not_allowed"), "422 invalid, token_not_allowed (the service's allowlist"),
        (422, refusal("host_not_allowed"), "422 host_not_allowed (the service's allowlist is older"),
        (401, refusal("unauthorized"), "401 unauthorized (the company key is not accepted)"),
        (400, refusal("unknown_field"), "400 unknown_field"),
        (404, b"<html>private</html>", "404 (there is no such endpoint"),
        (413, b"[" * 100_000, "refused a batch: 413"),
        (400, json.dumps({"code": "\x1b[2J private"}).encode(), "refused a batch: 400"),
        (302, b"", "302 (redirects are not followed"),
        (200, b"<html>Welcome to our private network</html>", "what answered is not the evidence endpoint"),
        (200, b'{"accepted": 1}', "what answered is not the evidence endpoint"),
        (200, b'{"accepted": 7, "duplicates": 0, "expired": 0}', "what answered is not the evidence endpoint"),
        (200, b'{"accepted": true, "duplicates": 0, "expired": 0}', "what answered is not the evidence endpoint"),
        (204, b"", "refused a batch: 204"),
    ],
)  # fmt: skip
def test_a_refusal_ends_the_run_and_is_named(
    status: int, body: bytes, message: str, service: Service, tmp_path: Path
) -> None:
    service.replies = [(status, body, f"Location: {service.url}/other\r\n" if status == 302 else "")]
    result = ship(service.url, tmp_path, log(tmp_path), code=1)
    assert message in result.stderr
    assert "private" not in result.stderr
    assert service.raw.count(b"POST ") == 1
    # It was not taken, so the next run sends it.
    ship(service.url, tmp_path, log(tmp_path, 0))
    assert len(service.stored) == 1


def test_a_redirect_is_never_followed(tmp_path: Path) -> None:
    with serving_anything(Endpoint()) as other_endpoint, serving_anything(Endpoint()) as first_endpoint:
        for status in (301, 302, 303, 307, 308):
            first_endpoint.default_reply = first_endpoint.default_reply._replace(
                status=status, headers=(("Location", other_endpoint.url),)
            )
            ship(first_endpoint.url, tmp_path, log(tmp_path), code=1)
        assert (len(first_endpoint.requests), len(other_endpoint.requests)) == (5, 0)


def test_pauses_grow_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    stop = StopSignal()
    monkeypatch.setattr(stop, "wait", pauses.append)
    deliver = Delivery(f"http://127.0.0.1:{closed_port()}", CompanyKey(KEY), stop, max_attempts=12)
    with pytest.raises(BatchUndelivered):
        deliver(b"{}", 1)
    assert len(pauses) == 11
    assert all(0.25 * 2**number <= pause <= 0.5 * 2**number for number, pause in enumerate(pauses[:6]))
    assert max(pauses) <= delivery.MAX_BACKOFF_S


def test_without_a_limit_it_is_tried_for_ever(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = StopSignal()
    monkeypatch.setattr(stop, "wait", lambda seconds: None)
    service.replies = [(503, b"", "")] * 100 + [(200, b'{"accepted": 1, "duplicates": 0, "expired": 0}', "")]
    deliver = Delivery(service.url, CompanyKey(KEY), stop, max_attempts=0)
    assert deliver(b"{}", 1) == Receipt(accepted=1)
    service.replies = [(400, b"", "")]
    with pytest.raises(BatchRefused):
        deliver(b"{}", 1)
    deliver.close()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("busy", [True, False])
def test_a_signal_ends_it_with_the_checkpoint_written(
    number: signal.Signals, code: int, busy: bool, service: Service, tmp_path: Path
) -> None:
    service.pause_s = 0.2 if busy else 0
    service.replies = [] if busy else [(503, b"", "Retry-After: 600\r\n")]
    lines = log(tmp_path, 20_000)
    with subprocess.Popen(command(tmp_path, lines), env=environ(service.url), stderr=subprocess.PIPE) as process:
        wait_until(lambda: len(service.batches) > 3 if busy else service.raw, 20)
        process.send_signal(number)
        assert process.stderr
        message = process.stderr.read()
        assert process.wait(20) == code
    assert b"Traceback" not in message
    first = len(service.batches)
    service.pause_s = 0
    ship(service.url, tmp_path, lines)
    assert len(service.stored) == 20_000
    assert len(service.batches) - first == 40 - first
