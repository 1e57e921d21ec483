"""The agent's side: finding the envelope in a response, and asking for it where a response says how."""

from typing import Any

import pytest

from conformance.agent_pages import PAGE, envelope, in_header, in_html, in_json, typed, url_of
from conformance.processes import Agent
from conformance.protocol import CONTRACT, ENVELOPE, INSTRUCTIONS
from conformance.recorder import CUT, Recorder, Reply
from conformance.routes import HTML, JSON

REQUEST_HEADER = CONTRACT["headers"]["request"].lower()
LINK = CONTRACT["headers"]["requestLink"]

SHAPES = {"JSON": in_json, "HTML": in_html, "header": in_header}
QUESTIONS = {state: row.get("question") for state, row in CONTRACT["states"].items()}


def link(target: str) -> tuple[str, str]:
    return "Link", LINK.replace("{target}", target)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("state", CONTRACT["states"])
def test_an_envelope_is_found(agent: Agent, recorder: Recorder, shape: str, state: str) -> None:
    content = envelope(recorder, state)
    recorder.always(PAGE, SHAPES[shape](content))
    result = agent.do("fetch", url=url_of(recorder))
    question = INSTRUCTIONS["questions"].get(QUESTIONS[state])
    expected = {"ok": True, "state": content["state"], "body": content}
    assert {name: result[name] for name in expected} == expected
    assert result["question"] == (question and question.replace("{service}", "Agent Feedback"))


WITHOUT = {
    "an object": typed('{"a": 1}', JSON),
    "a list": typed("[1]", JSON),
    "no JSON": typed("{", JSON),
    "a page": typed("<p>a", HTML),
    "text": typed("text", "text/plain"),
    "nothing": typed("", JSON),
    "another version": typed(f'{{"{ENVELOPE}": {{"v": 2, "state": "feedback_ready"}}}}', JSON),
    "no object": typed(f'{{"{ENVELOPE}": [1]}}', JSON),
    "a header that is none": typed("[1]", JSON, (CONTRACT["headers"]["envelope"], "!!!")),
    "a header that is no object": typed("[1]", JSON, (CONTRACT["headers"]["envelope"], "WzFd")),
    "an element that is no JSON": typed('<script id="agent-feedback" type="application/json">{</script>', HTML),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_there_is_no_envelope(agent: Agent, recorder: Recorder, name: str) -> None:
    recorder.always(PAGE, WITHOUT[name])
    result = agent.do("fetch", url=url_of(recorder))
    assert (result["ok"], result["state"], result["question"]) == (True, None, None)
    assert agent.do("submit_outcome", outcome="success", note="All of it worked.")["error"] == "invalid"
    assert len(recorder.all()) == 1


def test_a_fetch_sends_its_headers(agent: Agent, recorder: Recorder) -> None:
    recorder.always(PAGE, typed("{}", JSON))
    agent.do("fetch", url=url_of(recorder, f"{PAGE}?page=2"), headers={"Authorization": "Bearer a", "X-Own": "b"})
    (request,) = recorder.all()
    assert (request.method, request.target, request.body) == ("GET", f"{PAGE}?page=2", b"")
    assert (request.headers["authorization"], request.headers["x-own"]) == ("Bearer a", "b")
    assert REQUEST_HEADER not in request.headers


def test_a_redirect_is_not_followed(agent: Agent, recorder: Recorder) -> None:
    recorder.always(PAGE, Reply(302, headers=(("Location", url_of(recorder, "/elsewhere")),)))
    result = agent.do("fetch", url=url_of(recorder))
    assert (result["ok"], result["error"], result["status"]) == (False, "refused", 302)
    assert recorder.of("/elsewhere") == []


def test_a_product_that_hangs_up(agent: Agent, recorder: Recorder) -> None:
    recorder.always(PAGE, CUT)
    assert agent.do("fetch", url=url_of(recorder))["error"] == "unavailable"


@pytest.mark.parametrize("url", ["http://feedback.example.com/", "ftp://127.0.0.1/", "127.0.0.1", "", "http://"])
def test_an_unsafe_url_is_not_fetched(agent: Agent, url: str) -> None:
    assert agent.do("fetch", url=url)["error"] == "invalid"


def test_discovery(agent: Agent, recorder: Recorder) -> None:
    content = envelope(recorder)
    recorder.script(PAGE, typed("{}", JSON, link(f"{PAGE}?page=2")))
    recorder.always(PAGE, in_json(content))
    headers = {"Authorization": "Bearer a", "X-Own": "b"}
    assert agent.do("fetch", url=url_of(recorder, f"{PAGE}?page=2"), headers=headers)["state"] is None
    result = agent.do("discover")
    assert (result["ok"], result["state"], result["body"]) == (True, "feedback_ready", content)
    request = recorder.all()[1]
    assert (request.method, request.target, request.body) == ("GET", f"{PAGE}?page=2", b"")
    assert (request.headers["authorization"], request.headers["x-own"]) == ("Bearer a", "b")
    assert request.headers[REQUEST_HEADER] == "1"
    assert agent.do("submit_outcome", outcome="success", note="All of it worked.")["ok"]


def test_discovery_asks_at_most_once(agent: Agent, recorder: Recorder) -> None:
    recorder.always(PAGE, typed("{}", JSON, link(PAGE)))
    agent.do("fetch", url=url_of(recorder))
    result = agent.do("discover")
    assert (result["ok"], result["state"]) == (True, None)
    assert len(recorder.all()) == 2


def test_discovery_is_not_needed_where_an_envelope_is(agent: Agent, recorder: Recorder) -> None:
    recorder.always(PAGE, in_json(envelope(recorder)))
    agent.do("fetch", url=url_of(recorder))
    assert agent.do("discover")["state"] == "feedback_ready"
    assert len(recorder.all()) == 1


@pytest.mark.parametrize(
    "value",
    [
        LINK.replace("{target}", "http://127.0.0.1:1/orders"),
        LINK.replace("{target}", "//127.0.0.2/orders"),
        LINK.replace("{target}", "https://127.0.0.1/orders"),
        LINK.replace("{target}", PAGE).replace('rel="agent-feedback"', 'rel="next"'),
        f'<{PAGE}>; rel="agent-feedback"; type="application/json"',
        LINK.replace("{target}", PAGE).replace("Agent-Feedback-Request: 1", "Authorization: secret"),
        "rubbish",
        "<",
    ],
)
def test_other_links_are_not_followed(agent: Agent, recorder: Recorder, value: str) -> None:
    recorder.always(PAGE, typed("{}", JSON, ("Link", value)))
    agent.do("fetch", url=url_of(recorder))
    assert agent.do("discover")["state"] is None
    assert len(recorder.all()) == 1


def test_the_link_among_others(agent: Agent, recorder: Recorder) -> None:
    value = f'</style.css>; rel="preload"; title="a, b; c", {link(PAGE)[1]}, <{recorder.url}/x>; rel="agent-feedback"'
    recorder.script(PAGE, typed("{}", JSON, ("Link", value)))
    recorder.always(PAGE, in_header(envelope(recorder)))
    agent.do("fetch", url=url_of(recorder))
    assert agent.do("discover")["state"] == "feedback_ready"


def test_a_redirect_of_a_discovered_target_is_not_followed(agent: Agent, recorder: Recorder) -> None:
    recorder.script(PAGE, typed("{}", JSON, link(PAGE)))
    recorder.always(PAGE, Reply(307, headers=(("Location", url_of(recorder, "/elsewhere")),)))
    agent.do("fetch", url=url_of(recorder))
    result: dict[str, Any] = agent.do("discover")
    assert result.get("state") is None
    assert recorder.of("/elsewhere") == []
