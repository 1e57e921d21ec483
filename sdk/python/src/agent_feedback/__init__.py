"""Ask the agents that use your product whether it worked, and what helps to serve their users.

    from agent_feedback import AgentFeedback

    app.wsgi_app = AgentFeedback("af_live_…", endpoint="https://feedback.example").wsgi(app.wsgi_app)

For customer context see `agent_feedback.context`, for the agent's side `agent_feedback.agent`.
"""

from agent_feedback.client import AgentFeedback
from agent_feedback.context.client import Context, ContextItem, CustomerContext, Observation
from agent_feedback.context.fields import FieldDefinition
from agent_feedback.context.interaction import ContextRequest, CustomerReferences
from agent_feedback.envelope import Envelope
from agent_feedback.errors import InvalidOption, ServiceError, ServiceRefused, ServiceUnavailable
from agent_feedback.interaction import Interaction
from agent_feedback.options import Options
from agent_feedback.version import VERSION

__all__ = [
    "AgentFeedback",
    "Context",
    "ContextItem",
    "ContextRequest",
    "CustomerContext",
    "CustomerReferences",
    "Envelope",
    "FieldDefinition",
    "Interaction",
    "InvalidOption",
    "Observation",
    "Options",
    "ServiceError",
    "ServiceRefused",
    "ServiceUnavailable",
]
__version__ = VERSION
