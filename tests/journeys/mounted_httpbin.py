"""httpbin from PyPI, one mount for each consent mode, each wrapped in one line."""

import json
import os

from agent_feedback import AgentFeedback
from httpbin import app as httpbin
from werkzeug.exceptions import NotFound
from werkzeug.middleware.dispatcher import DispatcherMiddleware


def wrap(mode, key):
    feedback = AgentFeedback(key, mode=mode, customer_ref=lambda environ: environ.get("HTTP_X_CUSTOMER"))
    return feedback.wsgi(httpbin)


keys = json.loads(os.environ["PRODUCT_KEYS"])
app = DispatcherMiddleware(NotFound(), {f"/{mode}": wrap(mode, key) for mode, key in keys.items()})
