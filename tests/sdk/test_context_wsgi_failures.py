"""A service that fails takes the context action away, and nothing else."""

import json
import time

import pytest
from agent_feedback import CustomerReferences

from tests.sdk.endpoint import HANG_UP, Endpoint, Reply, closed_port
from tests.sdk.shop import CompanyClient, json_reply, make_enrichment_app
from tests.sdk.site import BODY, JSON, CountingBody, fetch, make_app


@pytest.mark.parametrize(
    "reply",
    [Reply(HANG_UP), Reply(503), Reply(200, b"{"), Reply(302, b"{}", (("Location", "/x"),)), json_reply([])],
    ids=["hang up", "5xx", "no JSON", "redirect", "no object"],
)
@pytest.mark.parametrize("mode", ["off", "never_ask"])
def test_when_the_service_fails_the_response_is_sent_without_the_action(
    endpoint: Endpoint, mode: str, reply: Reply
) -> None:
    endpoint.default_reply = reply
    feedback = CompanyClient(endpoint.url, mode=mode)
    for body in (BODY, CountingBody(BODY)):
        headers = [JSON, ("ETag", '"1"'), *([] if body is BODY else [("Content-Length", str(len(BODY)))])]
        response = fetch(feedback.wsgi(make_enrichment_app(feedback, body, headers)))
        if mode == "off":
            assert response == fetch(make_app(BODY, headers=[JSON, ("ETag", '"1"')]))
        else:
            assert list(json.loads(response.body)) == ["a", "_agentFeedback"]


def test_an_unavailable_or_slow_service_holds_up_one_response_and_not_the_next(endpoint: Endpoint) -> None:
    endpoint.gate.clear()
    for url in (endpoint.url, f"http://127.0.0.1:{closed_port()}"):
        feedback = CompanyClient(url, mode="off", context_timeout=0.25)
        app = feedback.wsgi(make_enrichment_app(feedback))
        started_at = time.monotonic()
        for _ in range(100):
            assert fetch(app) == fetch(make_app())
        # A hundred time-outs would be twenty-five seconds.
        assert time.monotonic() - started_at < 10
    assert len(endpoint.requests) <= 1


def test_an_invalid_context_request_leaves_the_response_as_it_was(
    endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    feedback = CompanyClient(endpoint.url, mode="off")
    for arguments in ({"customer": CustomerReferences(object())}, {"field_keys": 1}, {"operation": b"bytes"}):
        response = fetch(feedback.wsgi(make_enrichment_app(feedback, **arguments)))
        assert response == fetch(make_app())
    assert {record.levelname for record in caplog.records} == {"WARNING"}


def test_an_unusable_answer_takes_only_the_context_action_away(endpoint: Endpoint) -> None:
    endpoint.default_reply = Reply(200, b'{"submit":' * 600 + b"1" + b"}" * 600)
    feedback = CompanyClient(endpoint.url)
    response = fetch(feedback.wsgi(make_enrichment_app(feedback)))
    assert list(json.loads(response.body)) == ["a", "_agentFeedback"]


def test_an_exception_of_the_library_lets_the_product_answer(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    feedback = CompanyClient(endpoint.url, mode="off")
    app = feedback.wsgi(make_enrichment_app(feedback))

    def fail(*arguments: object) -> None:
        raise RuntimeError("a mistake")

    for name in ("add_slot", "find_pending", "build"):
        monkeypatch.setattr(f"agent_feedback.context.action.ContextActions.{name}", fail)
        assert fetch(app) == fetch(make_app())


def test_an_operation_that_the_service_refuses_does_not_reach_telemetry(endpoint: Endpoint) -> None:
    endpoint.default_reply = json_reply({"error": "No.", "code": "invalid"}, 422)
    feedback = CompanyClient(endpoint.url)
    fetch(feedback.wsgi(make_enrichment_app(feedback, operation="no operation?")), "/orders/12")
    assert [event["operation"] for event in feedback.events] == ["/orders/:id"]
