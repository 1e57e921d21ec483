"""Uses the library with an interpreter that has nothing else: its modules, a product, an agent, telemetry and context.

    python version_check.py URL_OF_A_SERVICE

The service is a stand-in whose every answer is 200 with `ANSWER`.
"""

import importlib
import json
import pkgutil
import sys
from wsgiref.util import setup_testing_defaults

import agent_feedback
from agent_feedback import AgentFeedback, CustomerReferences
from agent_feedback.agent import from_response

KEY = "af_live_0123456789abcdef0123456789abcdef_conformance_secret_0123456789abcdef"
ANSWER = {"retrievalId": "r1", "items": []}
NEED_EXTRAS = ("agent_feedback.mcp", "agent_feedback.cli.mcp_server")


def import_all() -> int:
    """Import every module of the library that needs no extra, and return how many there are."""
    names = [
        module.name
        for module in pkgutil.walk_packages(agent_feedback.__path__, "agent_feedback.")
        if not module.name.startswith(NEED_EXTRAS) and not module.name.endswith("__main__")
    ]
    for name in names:
        importlib.import_module(name)
    return len(names)


def answer(feedback: AgentFeedback) -> dict:
    """Return what a wrapped WSGI application answers."""

    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", "application/json")])
        return [b'{"orders": [12345678901234567890]}']

    environ: dict = {"PATH_INFO": "/orders/17"}
    setup_testing_defaults(environ)
    chunks = feedback.wsgi(app)(environ, lambda status, headers, exc_info=None: None)
    return json.loads(b"".join(chunks))


if __name__ == "__main__":
    count = import_all()
    feedback = AgentFeedback(KEY, endpoint=sys.argv[1], company_key=KEY)
    body = answer(feedback)
    assert body["orders"] == [12345678901234567890]
    received = from_response(body, allowed_origins=[sys.argv[1]])
    assert received.submit_outcome("success", "Both orders were there.") == ANSWER
    customer = CustomerReferences(user_ref="user_42")
    context = feedback.customer_context.context(purpose="product_personalization", customer=customer)
    assert context.retrieval_id == "r1"
    assert feedback.flush(5)
    assert feedback.shutdown(1) == 0
    json.dump({"version": list(sys.version_info[:2]), "modules": count}, sys.stdout)
