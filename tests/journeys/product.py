"""A real product that we did not write, with the adapter around it: the PyPI package httpbin under gunicorn."""

from agent_feedback import AgentFeedback
from httpbin import app

feedback = AgentFeedback(
    session_ref=lambda environ: environ.get("HTTP_X_VISIT"), customer_ref=lambda environ: environ.get("HTTP_X_CUSTOMER")
)
app.wsgi_app = feedback.wsgi(app.wsgi_app)
