"""What surrounds every request."""

import json
import logging

import pytest
from flask import Flask, g
from flask.testing import FlaskClient
from werkzeug.exceptions import BadRequest as WerkzeugBadRequest
from werkzeug.exceptions import NotFound as WerkzeugNotFound

from app.core.errors import BadRequest, Conflict, IncompleteBody, NotFound, Unprocessable
from app.core.http.errors import error_response
from config.logs import JsonFormatter
from tests.factories import Company, bearer


def test_a_safe_request_id_is_taken_over(client: FlaskClient) -> None:
    response = client.get("/healthz", headers={"X-Request-Id": "trace-1234.abcd"})
    assert response.headers["X-Request-Id"] == "trace-1234.abcd"


@pytest.mark.parametrize("request_id", ["", "short", "x" * 65, "with space in it", 'quote"quote"'])
def test_any_other_request_id_is_replaced(client: FlaskClient, request_id: str) -> None:
    response = client.get("/healthz", headers={"X-Request-Id": request_id})
    assert len(response.headers["X-Request-Id"]) == 32


def test_an_error_names_its_request(client: FlaskClient) -> None:
    response = client.get("/api/v2/nothing")
    assert response.json["requestId"] == response.headers["X-Request-Id"]


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/v2/nothing", 404, "not_found"),
        ("GET", "/api/v2/outcomes", 405, "method_not_allowed"),
        ("DELETE", "/api/v2/telemetry/batches", 405, "method_not_allowed"),
    ],
)
def test_404_and_405_have_the_shape_of_every_error(
    client: FlaskClient, method: str, path: str, status: int, code: str
) -> None:
    response = client.open(path, method=method)
    assert (response.status_code, response.json["code"]) == (status, code)
    assert response.json["error"]


def test_a_405_says_what_is_allowed(client: FlaskClient) -> None:
    assert "POST" in client.get("/api/v2/outcomes").headers["Allow"]


def test_what_nobody_foresaw_is_a_500_without_a_word_of_it(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("somebody's secret words")

    monkeypatch.setattr("app.outcomes.service.record", fail)
    body = {"outcome": "success", "note": "It worked as documented."}
    response = client.post("/api/v2/outcomes", json=body, headers=bearer(company.capability()))
    assert (response.status_code, response.json["code"]) == (500, "internal_error")
    assert b"secret words" not in response.data
    line = JsonFormatter().format(caplog.records[-1])
    assert "secret words" not in line
    assert json.loads(line)["exception"] == "ValueError"
    assert any("fail" in frame for frame in json.loads(line)["frames"])


def test_a_log_line_is_one_json_object() -> None:
    record = logging.makeLogRecord({"msg": "two\nlines", "levelname": "INFO", "name": "room", "requestId": "abc"})
    line = JsonFormatter().format(record)
    assert "\n" not in line
    assert json.loads(line)["message"] == "two\nlines"
    assert json.loads(line)["requestId"] == "abc"


def test_the_words_of_a_failed_task_are_not_logged() -> None:
    record = logging.makeLogRecord(
        {
            "name": "celery.app.trace",
            "levelname": "ERROR",
            "msg": "Task %(name)s raised unexpected: %(exc)s",
            "args": {"name": "telemetry.persist_batches", "exc": "DataError('secret words')"},
            "data": {"exc": "DataError('secret words')", "traceback": "secret words"},
        }
    )
    line = JsonFormatter().format(record)
    assert "secret words" not in line
    assert "telemetry.persist_batches raised unexpected" in line


@pytest.mark.parametrize("error", [WerkzeugBadRequest(), BadRequest(), Unprocessable(), IncompleteBody()])
def test_every_400_and_422_lists_its_problems(app: Flask, error: Exception) -> None:
    with app.test_request_context("/"):
        g.request_id = "trace-1234.abcd"
        body = json.loads(error_response(error).data)
    assert body["errors"] == [{"pointer": "", "code": body["code"], "message": body["error"]}]


@pytest.mark.parametrize("error", [NotFound(), Conflict(), WerkzeugNotFound()])
def test_other_errors_list_no_problems(app: Flask, error: Exception) -> None:
    with app.test_request_context("/"):
        g.request_id = "trace-1234.abcd"
        assert "errors" not in json.loads(error_response(error).data)


@pytest.mark.parametrize(
    ("logger", "message"),
    [
        ("celery.app.trace", "Task %(name)s[%(id)s] retry: %(exc)s"),
        ("celery.worker.request", "Task handler raised error: %(exc)s"),
    ],
)
def test_no_other_line_about_a_failed_task_repeats_its_exception(logger: str, message: str) -> None:
    arguments = {"name": "x", "id": "1", "exc": "secret words"}
    record = logging.makeLogRecord({"name": logger, "levelname": "INFO", "msg": message, "args": arguments})
    assert "secret words" not in JsonFormatter().format(record)


@pytest.mark.parametrize(
    ("logger", "message", "arguments"),
    [
        ("celery.beat", "beat: Starting...", {}),
        (
            "celery.worker.consumer.consumer",
            "consumer: Cannot connect to %(url)s: %(error)s",
            {"url": "x", "error": "y"},
        ),
        ("celery.app.trace", "Task succeeded in 0.1s: %(return_value)s", {"return_value": None}),
    ],
)
def test_celerys_other_lines_keep_their_text(logger: str, message: str, arguments: dict[str, str | None]) -> None:
    record = logging.makeLogRecord({"name": logger, "levelname": "INFO", "msg": message, "args": arguments})
    assert json.loads(JsonFormatter().format(record))["message"] == message % arguments
