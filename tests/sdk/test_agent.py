"""The agent's side against a real server."""

import base64
import json
import socket
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from agent_feedback import AgentFeedback
from agent_feedback.agent import Received, from_response
from agent_feedback.agent import requests as agent_requests
from agent_feedback.errors import ServiceRefused, ServiceUnavailable

from tests.sdk.endpoint import HANG_UP, KEY, Endpoint, Reply, closed_port

NOTE = "All twelve orders matched."
ANSWER = {"accepted": True, "interactionId": "i", "review": {"id": "r"}}


@pytest.fixture(autouse=True)
def quick_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_requests, "RETRY_DELAY_S", 0.01)


@pytest.fixture(autouse=True)
def usual_answer(endpoint: Endpoint) -> None:
    endpoint.default_reply = Reply(200, json.dumps(ANSWER).encode())


def body(url: str) -> dict[str, Any]:
    return {"orders": [], "_agentFeedback": AgentFeedback(KEY, endpoint=url).start("/orders").envelope()}


def receive(url: str, allowed: Sequence[str] | None = None) -> Received:
    envelope = from_response(body(url), allowed_origins=[url] if allowed is None else allowed)
    assert envelope
    return envelope


def receive_changed(service: str, /, **changes: Any) -> Received:
    """Return an envelope whose submitOutcome was changed."""
    content = body(service)
    content["_agentFeedback"]["submitOutcome"].update(changes)
    envelope = from_response(content, allowed_origins=[service])
    assert envelope
    return envelope


def in_every_form() -> list[Any]:
    content = body("https://feedback.example.com")
    raw = json.dumps(content).encode()
    page = b'<head><script id="agent-feedback" type="application/json">%b</script></head>'
    return [
        content,
        raw,
        bytearray(raw),
        raw.decode(),
        SimpleNamespace(content=raw),
        raw.replace(b"[]", b"9" * 5000),
        raw.decode().replace("[]", "-" + "9" * 5000),
        page % json.dumps(content["_agentFeedback"]).encode(),
        SimpleNamespace(content=b"[]", headers={"Agent-Feedback": in_base64url(content["_agentFeedback"])}),
    ]


def in_base64url(content: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()


@pytest.mark.parametrize("response", in_every_form(), ids=lambda response: type(response).__name__)
def test_an_envelope_is_found_in_every_form_of_response(response: Any) -> None:
    envelope = from_response(response, allowed_origins=[])
    assert envelope
    assert envelope.state == "feedback_ready"


@pytest.mark.parametrize(
    "response",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff",
        b"[" * 100_000,
        "plain",
        {},
        {"_agentFeedback": None},
        {"_agentFeedback": []},
        {"_agentFeedback": {}},
        {"_agentFeedback": {"v": 2}},
        {"nested": {"_agentFeedback": {"v": 1}}},
        SimpleNamespace(content=b"<html>"),
        SimpleNamespace(content=None),
        SimpleNamespace(content=12),
        *(
            SimpleNamespace(content=b"[]", headers={"Agent-Feedback": header})
            for header in (
                "",
                "e30",
                "!",
                "\u00e9",
                "bnVsbA",
                "W10",
                "eyJ2IjoyfQ",
                12,
                in_base64url({"v": 1, "a": "x" * 8000}),
            )
        ),
        None,
        12,
    ],
    ids=lambda response: repr(response)[:30],
)
def test_what_is_no_envelope_is_none(response: Any) -> None:
    assert from_response(response, allowed_origins=[]) is None


def test_the_header_counts_where_the_body_has_something_of_the_same_name() -> None:
    envelope = body("https://feedback.example.com")["_agentFeedback"]
    page = b'<div id="agent-feedback"></div><script id="agent-feedback" type="application/json">{"v": 1}</script>'
    response = SimpleNamespace(content=page, headers={"Agent-Feedback": in_base64url(envelope)})
    received = from_response(response, allowed_origins=[])
    assert received
    assert (received.content, received.place) == (envelope, "header")


def test_a_review_is_sent_as_the_envelope_says(endpoint: Endpoint) -> None:
    envelope = receive(endpoint.url)
    assert envelope.submit_outcome("success", NOTE) == ANSWER
    (request,) = endpoint.requests
    assert request.path == "/api/v2/outcomes"
    assert request.headers["Authorization"] == envelope.content["submitOutcome"]["authorization"]
    assert request.headers["Content-Type"] == "application/json"
    assert json.loads(request.body) == {"outcome": "success", "note": NOTE}


def test_a_note_is_normalised(endpoint: Endpoint) -> None:
    receive(endpoint.url).submit_outcome("partial", "\n One  row\tof\u2003twelve\u00a0was missing. ")
    assert json.loads(endpoint.requests[0].body)["note"] == "One row of twelve was missing."


@pytest.mark.parametrize("note", ["x" * 8, "x" * 500, "\N{GRINNING FACE}" * 500, " " * 600 + "x" * 8])
def test_a_note_within_the_bounds_is_sent(endpoint: Endpoint, note: str) -> None:
    assert receive(endpoint.url).submit_outcome("failure", note) == ANSWER


@pytest.mark.parametrize(
    ("outcome", "note"), [("great", NOTE), ("", NOTE), ("success", ""), ("success", "x" * 7), ("success", "x" * 501)]
)
def test_what_the_bounds_do_not_allow_is_not_sent(endpoint: Endpoint, outcome: str, note: str) -> None:
    with pytest.raises(ValueError, match=r"outcome must be|note must have"):
        receive(endpoint.url).submit_outcome(outcome, note)
    assert not endpoint.requests


def test_the_bounds_are_those_that_the_envelope_publishes(endpoint: Endpoint) -> None:
    bounds = {"outcome": ["done"], "note": {"minLength": 2, "maxLength": 3}}
    assert receive_changed(endpoint.url, bodySchema=bounds).submit_outcome("done", "yes") == ANSWER
    with pytest.raises(ValueError, match="note must have 2 to 3 characters"):
        receive_changed(endpoint.url, bodySchema=bounds).submit_outcome("done", "indeed")


@pytest.mark.parametrize("bounds", [None, [], {}, {"outcome": 1}, {"outcome": ["success"], "note": {"minLength": "a"}}])
def test_an_envelope_with_unreadable_bounds_is_not_used(endpoint: Endpoint, bounds: Any) -> None:
    with pytest.raises(ValueError, match="does not say how to submit"):
        receive_changed(endpoint.url, bodySchema=bounds).submit_outcome("success", NOTE)


def test_a_state_without_the_action_takes_no_review() -> None:
    envelope = from_response({"_agentFeedback": {"v": 1, "state": "feedback_disabled"}}, allowed_origins=[])
    assert envelope
    with pytest.raises(ValueError, match="in the state feedback_disabled"):
        envelope.submit_outcome("success", NOTE)


@pytest.mark.parametrize(
    "allowed",
    [[], ["https://feedback.example.com"], ["http://localhost"], ["http://127.0.0.1"], ["https://127.0.0.1:1"]],
)
def test_an_origin_that_is_not_allowed_gets_nothing(endpoint: Endpoint, allowed: list[str]) -> None:
    with pytest.raises(ValueError, match="is not an allowed origin"):
        receive(endpoint.url, allowed).submit_outcome("success", NOTE)
    assert not endpoint.requests


def test_an_allowed_origin_may_be_written_with_a_path_or_in_capitals(endpoint: Endpoint) -> None:
    assert receive(endpoint.url, [endpoint.url.upper() + "/some/path"]).submit_outcome("success", NOTE) == ANSWER


@pytest.mark.parametrize(
    "url", ["http://feedback.example.com/x", "ftp://feedback.example.com/x", "ftp://127.0.0.1/x", "//127.0.0.1/x", "x"]
)
def test_https_is_needed_except_on_the_machine_itself(endpoint: Endpoint, url: str) -> None:
    content = body(endpoint.url)
    content["_agentFeedback"]["submitOutcome"]["url"] = url
    envelope = from_response(content, allowed_origins=[url])
    assert envelope
    with pytest.raises(ValueError, match="is not an allowed origin"):
        envelope.submit_outcome("success", NOTE)


def test_a_name_before_the_host_does_not_pass_for_the_origin(endpoint: Endpoint) -> None:
    host = endpoint.url.removeprefix("http://")
    with pytest.raises(ValueError, match="is not an allowed origin"):
        receive_changed(endpoint.url, url=f"http://{host}@127.0.0.1:1/x").submit_outcome("success", NOTE)


def test_a_text_in_place_of_the_list_of_origins_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="is a list"):
        from_response(body("https://feedback.example.com"), allowed_origins="https://feedback.example.com")


@pytest.mark.parametrize("status", [HANG_UP, 500, 503])
def test_a_failure_that_may_pass_is_tried_once_more(endpoint: Endpoint, status: int) -> None:
    endpoint.replies.append(Reply(status))
    assert receive(endpoint.url).submit_outcome("success", NOTE) == ANSWER
    assert endpoint.requests[0].body == endpoint.requests[1].body


def test_it_is_not_tried_a_third_time(endpoint: Endpoint) -> None:
    endpoint.default_reply = Reply(503, b'{"error": "busy", "code": "unavailable"}')
    with pytest.raises(ServiceUnavailable, match="answered with status 503"):
        receive(endpoint.url).submit_outcome("success", NOTE)
    assert len(endpoint.requests) == 2


def test_a_service_that_hangs_up_twice_cannot_be_reached(endpoint: Endpoint) -> None:
    endpoint.default_reply = Reply(HANG_UP)
    with pytest.raises(ServiceUnavailable, match="could not be reached"):
        receive(endpoint.url).submit_outcome("success", NOTE)
    assert len(endpoint.requests) == 2


def test_a_service_that_is_not_there_cannot_be_reached() -> None:
    with pytest.raises(ServiceUnavailable, match="could not be reached"):
        receive(f"http://127.0.0.1:{closed_port()}").submit_outcome("success", NOTE)


def test_a_server_that_does_not_speak_tls_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_requests, "TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(ServiceUnavailable, match="could not be reached"):
            receive(url).submit_outcome("success", NOTE)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 422, 429])
def test_a_refusal_is_not_tried_again(endpoint: Endpoint, status: int) -> None:
    endpoint.default_reply = Reply(status, b'{"error": "no", "code": "refused"}')
    with pytest.raises(ServiceRefused) as error:
        receive(endpoint.url).submit_outcome("success", NOTE)
    assert (error.value.status, error.value.body) == (status, {"error": "no", "code": "refused"})
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_a_refusal(endpoint: Endpoint, status: int) -> None:
    endpoint.default_reply = Reply(status, b"<html>moved", (("Location", endpoint.url + "/elsewhere"),))
    with pytest.raises(ServiceRefused, match=f"{status}: <html>moved"):
        receive(endpoint.url).submit_outcome("success", NOTE)
    assert [request.path for request in endpoint.requests] == ["/api/v2/outcomes"]


@pytest.mark.parametrize("answer", [b"", b"[]", b"hello", b'{"accepted"'])
def test_a_success_that_is_no_object_is_not_taken_for_one(endpoint: Endpoint, answer: bytes) -> None:
    endpoint.default_reply = Reply(200, answer)
    with pytest.raises(ServiceUnavailable, match="without a JSON object"):
        receive(endpoint.url).submit_outcome("success", NOTE)
