"""The agent's side: read what a response requests, ask the user where it says so, and send feedback.

from agent_feedback.agent import from_response

received = from_response(response, allowed_origins=["https://feedback.example"])
if received and received.state == "feedback_ready":
    received.submit_outcome("success", "All twelve orders matched what the documentation promised.")
"""

from agent_feedback.agent.context_action import ContextAction
from agent_feedback.agent.discovery import discover
from agent_feedback.agent.received import Received, from_response
from agent_feedback.agent.requests import Page, fetch

__all__ = ["ContextAction", "Page", "Received", "discover", "fetch", "from_response"]
