"""httpbinx from PyPI, a FastAPI application, one mount for each consent mode, each wrapped in one line."""

import json
import os

from agent_feedback import AgentFeedback
from httpbinx.main import app as httpbinx
from starlette.applications import Starlette
from starlette.routing import Mount


def customer(scope):
    return dict(scope["headers"]).get(b"x-customer", b"").decode() or None


def wrap(mode, key):
    feedback = AgentFeedback(key, mode=mode, customer_ref=customer)
    return feedback.asgi(httpbinx)


keys = json.loads(os.environ["PRODUCT_KEYS"])
app = Starlette(routes=[Mount(f"/{mode}", wrap(mode, key)) for mode, key in keys.items()])
