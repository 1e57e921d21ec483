"""A product in the process of the tests, with the adapter around it, and an agent that uses and reviews it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agent_feedback import AgentFeedback
from agent_feedback.agent import from_response
from flask import Flask, jsonify


class OrdersProduct:
    """Answers with orders, which it has a few of."""

    def __init__(self, feedback: AgentFeedback) -> None:
        self._feedback = feedback
        app = Flask(__name__)
        app.add_url_rule("/orders/<int:number>", "order", lambda number: jsonify(number=number, state="shipped"))
        app.wsgi_app = feedback.wsgi(app.wsgi_app)  # type: ignore[method-assign]  # how the SDK's guide installs it
        self._client = app.test_client()

    def use(self, number: int, outcome: str | None = None, note: str = "") -> None:
        """Ask for an order as an agent, and review the answer if there is an outcome."""
        response = self._client.get(f"/orders/{number}")
        assert response.status_code == 200
        envelope = from_response(response.data, allowed_origins=[self._feedback.options.endpoint])
        assert envelope is not None
        if outcome:
            receipt: dict[str, Any] = envelope.submit_outcome(outcome, note)
            assert receipt["review"]["outcome"] == outcome


@contextmanager
def running_orders(key: str, url: str) -> Iterator[OrdersProduct]:
    """Run the product with a key that was copied from the dashboard; its telemetry is sent at the end."""
    feedback = AgentFeedback(key, endpoint=url)
    yield OrdersProduct(feedback)
    assert feedback.shutdown(20) == 0
