"""A product of Flask."""

import os
from collections.abc import Iterator
from typing import Any

from flask import Flask, Response, jsonify, request

from tests.sdk.frameworks import product

feedback = product.make_feedback()
app = Flask(__name__)
app.wsgi_app = feedback.wsgi(app.wsgi_app)  # type: ignore[method-assign]  # as Flask's own documentation has it

# In the process that gunicorn forks: the workers begin with what is queued, and send nothing of it.
feedback.start("preload").finish(status_code=200)


@app.after_request
def tell_the_process(response: Response) -> Response:
    response.headers["X-Process"] = str(os.getpid())
    return response


@app.get("/orders")
def orders() -> Response:
    return Response(product.ORDERS, mimetype="application/json")


@app.get("/list")
def list_orders() -> Response:
    return jsonify([1, 2])


@app.get("/page")
def page() -> str:
    return product.PAGE


@app.get("/stream/<name>")
def stream(name: str) -> Response:
    return Response(product.stream(name), mimetype="application/json")


@app.get("/events/<name>")
def events(name: str) -> Response:
    return Response(product.stream(name), mimetype="text/event-stream")


@app.get("/context")
def context() -> dict[str, Any]:
    return product.answer_context(feedback, request)


@app.get("/error")
def error() -> Response:
    raise LookupError


@app.get("/late-error")
def late_error() -> Response:
    def chunks() -> Iterator[bytes]:
        yield product.CHUNKS[0]
        raise LookupError

    return Response(chunks(), mimetype="application/json")
