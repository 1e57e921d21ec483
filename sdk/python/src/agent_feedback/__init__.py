"""Ask the agents that use your product whether it worked, and what helps to serve their users.

    from agent_feedback import AgentFeedback

    app.wsgi_app = AgentFeedback("af_live_…", endpoint="https://feedback.example").wsgi(app.wsgi_app)

For customer context see `agent_feedback.customer_context`, for the agent's side `agent_feedback.agent`.
"""

from agent_feedback.client import AgentFeedback
from agent_feedback.context_calls import ContextError, ContextRefused, ContextUnavailable
from agent_feedback.customer_context import Context, ContextItem, CustomerContext, Evidence
from agent_feedback.options import BadOption, Options

__all__ = [
    "AgentFeedback",
    "BadOption",
    "Context",
    "ContextError",
    "ContextItem",
    "ContextRefused",
    "ContextUnavailable",
    "CustomerContext",
    "Evidence",
    "Options",
]
__version__ = "0.1.0"
