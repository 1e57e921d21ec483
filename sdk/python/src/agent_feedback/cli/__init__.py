"""The command `agent-feedback`."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from agent_feedback.cli import exit_codes
from agent_feedback.cli.terminal import print_error, reason_of
from agent_feedback.errors import InvalidOption, ServiceRefused, ServiceUnavailable
from agent_feedback.version import VERSION


class Command(NamedTuple):
    """A command: the module whose `add_commands` adds it, and its line in the overview."""

    module: str
    summary: str


COMMANDS = {
    "agent": Command("agent_feedback.cli.agent", "see what a response requests, ask, and send feedback"),
    "doctor": Command("agent_feedback.cli.doctor", "check a product from outside, as an agent sees it"),
    "evidence": Command("agent_feedback.evidence.cli", "send evidence of AI agents from access logs"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        parser = _make_parser(words[0] if words else "")
        options = parser.parse_args(words)
        if not hasattr(options, "run"):
            options.parser.print_help(sys.stderr)
            return exit_codes.UNUSABLE
        exit_code: int = options.run(options)
        sys.stdout.flush()
    except exit_codes.Failure as error:
        exit_code = _fail(str(error), error.exit_code)
    except InvalidOption as error:
        exit_code = _fail(str(error), exit_codes.UNUSABLE)
    except ServiceRefused as error:
        exit_code = _fail(f"the service refused it: {error}", exit_codes.REFUSED)
    except ServiceUnavailable as error:
        exit_code = _fail(f"{error}{reason_of(error)}", exit_codes.UNAVAILABLE)
    except KeyboardInterrupt:
        exit_code = _fail("stopped", exit_codes.STOPPED)
    except BrokenPipeError:
        # The reader has closed the pipe. What Python flushes when it ends must not raise again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        exit_code = exit_codes.PIPE_CLOSED
    except Exception as error:
        # Whatever a product sends, a person gets a sentence.
        exit_code = _fail(f"this could not be handled: {type(error).__name__}: {error}", exit_codes.UNAVAILABLE)
    return exit_code


def _make_parser(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agent-feedback",
        description="Agent Feedback on the command line: for people and their agents, and for companies.",
        epilog="`agent-feedback COMMAND --help` tells of a command, with its exit codes.",
    )
    parser.set_defaults(parser=parser)
    parser.add_argument("--version", action="version", version=f"agent-feedback {VERSION}")
    commands = parser.add_subparsers(metavar="COMMAND")
    for command_name, command in COMMANDS.items():
        if command_name == name:
            # Only the command that runs is imported: each brings modules that the others never need.
            import_module(command.module).add_commands(commands)
        else:
            commands.add_parser(command_name, help=command.summary)
    return parser


def _fail(message: str, exit_code: int) -> int:
    print_error(message)
    return exit_code
