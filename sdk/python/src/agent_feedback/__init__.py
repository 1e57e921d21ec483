"""Ask the agents that use your product whether it worked.

    from agent_feedback import AgentFeedback

    app.wsgi_app = AgentFeedback("af_live_…", endpoint="https://feedback.example").wsgi(app.wsgi_app)

For the agent's side see `agent_feedback.agent`.
"""

from agent_feedback.client import AgentFeedback
from agent_feedback.options import BadOption, Options

__all__ = ["AgentFeedback", "BadOption", "Options"]
__version__ = "0.1.0"
