"""The command `agent-feedback`."""

import argparse
from collections.abc import Sequence

from agent_feedback import __version__
from agent_feedback.evidence import cli as evidence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="agent-feedback", description="Agent Feedback on a company's own machines.")
    parser.add_argument("--version", action="version", version=f"agent-feedback {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    evidence.add_commands(commands)
    chosen = parser.parse_args(arguments)
    code: int = chosen.run(chosen)
    return code
