"""The command `agent-feedback`."""

import argparse
from collections.abc import Sequence

from agent_feedback.evidence import cli as evidence
from agent_feedback.version import VERSION


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    parser = argparse.ArgumentParser(prog="agent-feedback", description="Agent Feedback on a company's own machines.")
    parser.add_argument("--version", action="version", version=f"agent-feedback {VERSION}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    evidence.add_commands(commands)
    options = parser.parse_args(arguments)
    exit_code: int = options.run(options)
    return exit_code
