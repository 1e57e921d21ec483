"""Every example of the package's README is Python, and those of the frameworks run as they stand there."""

import json
from pathlib import Path
from typing import Any

import agent_feedback
import pytest
from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.urls import path

from tests.sdk.asgi_site import fetch_asgi
from tests.sdk.endpoint import KEY
from tests.sdk.readme import README, Example, examples_of, read_examples
from tests.sdk.site import Response, fetch

ROOT = Path(__file__).resolve().parents[2]


def run(example: Example, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run an example; return its names, and the events that its client will record."""
    monkeypatch.setenv("AGENT_FEEDBACK_KEY", KEY)
    monkeypatch.setenv("AGENT_FEEDBACK_URL", "http://127.0.0.1:9")
    names: dict[str, Any] = {"__name__": "example"}
    exec(example.code, names)
    events: list[dict[str, Any]] = []
    names["feedback"].telemetry.put = events.append
    return names, events


def check(response: Response, events: list[dict[str, Any]]) -> None:
    content = json.loads(response.body)
    assert (content["orders"], content["_agentFeedback"]["state"]) == ([], "feedback_ready")
    assert [event["customerRef"] for event in events] == ["account_42"]


@pytest.fixture(scope="module")
def django() -> None:
    """The settings of a Django project, whose pages are below."""
    settings.configure(
        ROOT_URLCONF=__name__,
        SECRET_KEY="for tests",
        ALLOWED_HOSTS=["*"],
        LOGGING_CONFIG=None,
        MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
    )


def orders(request: HttpRequest) -> JsonResponse:
    source = getattr(request, "scope", None) or request.environ
    source["shop.account"] = "account_42"
    return JsonResponse({"orders": []})


urlpatterns = [path("orders", orders)]


@pytest.mark.parametrize("example", read_examples(), ids=lambda example: example.title)
def test_an_example_is_python_and_the_test_that_runs_it_is_there(example: Example) -> None:
    compile(example.code, str(README), "exec")
    assert example.test is None or (ROOT / example.test).exists()


def test_flask(monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = examples_of("Flask")
    names, events = run(example, monkeypatch)
    check(fetch(names["app"], "/orders"), events)


@pytest.mark.usefixtures("django")
def test_django_under_wsgi(monkeypatch: pytest.MonkeyPatch) -> None:
    names, events = run(examples_of("Django")[0], monkeypatch)
    check(fetch(names["application"], "/orders"), events)


@pytest.mark.usefixtures("django")
def test_django_under_asgi(monkeypatch: pytest.MonkeyPatch) -> None:
    names, events = run(examples_of("Django")[1], monkeypatch)
    check(fetch_asgi(names["application"], "/orders").response, events)


def test_fastapi(monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = examples_of("FastAPI")
    names, events = run(example, monkeypatch)
    check(fetch_asgi(names["app"], "/orders").response, events)


def test_fastapi_with_the_adapter_as_its_middleware(monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = examples_of("FastAPI")
    names, events = run(example, monkeypatch)
    names["api"].add_middleware(names["feedback"].asgi)
    check(fetch_asgi(names["api"], "/orders").response, events)


def test_the_example_for_fastapi_sends_its_telemetry_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = examples_of("FastAPI")
    names, _ = run(example, monkeypatch)
    flushes: list[bool] = []
    monkeypatch.setattr(names["feedback"].telemetry, "flush", lambda: flushes.append(True))
    phases = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    result = fetch_asgi(names["app"], received=phases, type="lifespan")
    assert [message["type"] for message in result.messages] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]
    assert flushes == [True]


def test_every_option_is_in_the_table() -> None:
    table = README.read_text().partition("## Options")[2].partition("\n## ")[0]
    for name in agent_feedback.Options._fields:
        assert f"`{name}`" in table or name == "is_enabled"
