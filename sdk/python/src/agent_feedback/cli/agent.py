"""The commands `agent-feedback agent show`, `ask`, `report` and `mcp`."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from agent_feedback.agent import Received
from agent_feedback.cli import exit_codes, feedback
from agent_feedback.cli.product import Visit, add_origin_argument, add_product_arguments, permit, read_origins, visit
from agent_feedback.cli.terminal import (
    ask,
    is_interactive,
    print_error,
    print_json,
    print_line,
    printable,
    redacted,
)
from agent_feedback.cli.why import find_reasons
from agent_feedback.errors import InvalidOption, ServiceError

EXIT_CODES_HELP = """\
exit codes:
  0    done
  1    the service refused it; the message names its error code
  2    wrong usage, or more than the product's bounds allow; nothing was sent
  3    the product or the service could not be reached, or gave no usable answer
  4    the response has no envelope (show --why tells which rule left it without one)
  5    you did not confirm; nothing was sent
  130  ended by Ctrl-C
"""
SERVICE_HELP = """
Feedback goes only to services that you allow: with --allow-origin, in the environment
(AGENT_FEEDBACK_ALLOWED_ORIGINS, AGENT_FEEDBACK_URL), or when you are asked on a terminal.
"""


def add_commands(commands: Any) -> None:
    """Add the command `agent` with its subcommands."""
    agent = commands.add_parser("agent", help="see what a response requests, ask, and send feedback")
    agent.set_defaults(parser=agent)
    subcommands = agent.add_subparsers(metavar="COMMAND")
    show = _add(subcommands, "show", run_show, "show what a product's response requests of an agent; sends no feedback")
    show.add_argument("--why", action="store_true", help="without an envelope, tell which rule left the response alone")
    ask = _add(subcommands, "ask", run_ask, "send the user's answer to the product's question, or change it")
    decision = ask.add_mutually_exclusive_group()
    decision.add_argument("--approve", action="store_const", const="approved", dest="decision", help="the user agrees")
    decision.add_argument("--decline", action="store_const", const="declined", dest="decision", help="the user refuses")
    report = _add(subcommands, "report", feedback.run_report, "send a review (--outcome) or a report (--summary)")
    feedback.add_arguments(report)
    mcp = subcommands.add_parser(
        "mcp",
        help="serve these commands as tools of the Model Context Protocol, over standard input and output",
        description="An MCP server for your own agent, over standard input and output. It needs the package mcp: "
        "pip install 'agent-feedback[mcp]'.",
    )
    add_origin_argument(mcp)
    mcp.set_defaults(run=run_mcp)


def _add(
    subcommands: Any, name: str, run: Callable[[argparse.Namespace], int], summary: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = subcommands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=EXIT_CODES_HELP + SERVICE_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_product_arguments(parser)
    parser.set_defaults(run=run)
    return parser


def run_show(arguments: argparse.Namespace) -> int:
    """Print the state, the question and what may be submitted."""
    product = visit(arguments)
    received = product.received
    introspection, problem = _introspect(received)
    reasons = [] if product.place or product.page is None or not arguments.why else find_reasons(product.page)
    if arguments.json:
        print_json(
            {
                "url": product.page.url if product.page else None,
                "status": product.page.status_code if product.page else None,
                "place": product.place,
                "state": received.state if received else "not_requested",
                # Before the service is asked, the question is in the product's own words: the envelope has them.
                "question": received.question if received and introspection else None,
                "envelope": redacted(received.content) if received and received.content else None,
                "introspection": redacted(introspection),
                "context": redacted(received.context.content) if received and received.context else None,
                "why": [reason._asdict() for reason in reasons],
            }
        )
    else:
        _print_visit(product, introspection, problem)
        for reason in reasons:
            print_line(f"  {reason.rule + ':':<13}{printable(reason.sentence)}")
        if not product.place and not reasons and product.page:
            print_line("  --why tells which rule left it without one")
    return exit_codes.DONE if product.place else exit_codes.NO_ENVELOPE


def run_ask(arguments: argparse.Namespace) -> int:
    """Send a decision of the user, who is asked here if no option says it."""
    received = feedback.require_envelope(visit(arguments))
    permit(received)
    decision = arguments.decision
    if decision is None:
        received.introspect()
        decision = ask_user(received)
    answer = received.decide(decision)
    if arguments.json:
        print_json({"state": answer.get("state"), "changed": answer.get("changed")})
    else:
        print_line(f"{decision}: the state is {printable(answer.get('state'))}")
        if decision == "approved" and received.content.get("configuredMode") == "ask_always":
            print_line("This product asks for each use: `agent-feedback agent report --approve` sends with a yes.")
    return exit_codes.DONE


def ask_user(received: Received) -> str:
    """Return the decision of the person at the terminal on the question that stands."""
    if received.question is None:
        raise InvalidOption(f"no question stands: the state is {received.state}")
    if not is_interactive():
        raise InvalidOption(f"the user has to be asked: {received.question} Pass --approve or --decline")
    is_approval = ask(printable(received.question))
    if is_approval is None:
        raise exit_codes.Failure("that is no clear answer; nothing was sent", exit_codes.NOT_CONFIRMED)
    return "approved" if is_approval else "declined"


def run_mcp(arguments: argparse.Namespace) -> int:
    """Serve the tools over standard input and output until the client ends."""
    origins = read_origins(arguments.allow_origin)
    try:
        # The package mcp is an extra, and takes a second to load.
        server = import_module("agent_feedback.cli.mcp_server")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        print_error("the package mcp is not installed; pip install 'agent-feedback[mcp]' brings it")
        return exit_codes.UNUSABLE
    server.serve(origins)
    return exit_codes.DONE


def _introspect(received: Received | None) -> tuple[dict[str, Any] | None, str | None]:
    """Return what the service says of the envelope, or why it was not asked."""
    if received is None or received.service_origin is None:
        return None, None
    if not received.is_allowed:
        return None, f"The service was not asked; --allow-origin {received.service_origin} allows it"
    try:
        return received.introspect(), None
    except ServiceError as error:
        return None, f"The service could not be asked: {error}"


def _print_visit(product: Visit, introspection: dict[str, Any] | None, problem: str | None) -> None:
    page, received = product.page, product.received
    if page:
        content_type = printable(page.headers.get("content-type", ""))
        print_line(f"{printable(page.url)} answered {page.status_code} {content_type}")
    if received is None or product.place is None:
        print_line("It has no envelope: no feedback is requested.")
    else:
        for name, value in _facts(product, received, introspection or {}):
            print_line(f"  {name + ':':<13}{printable(value)}")
    if problem:
        print_line(f"  {printable(problem)}")
    if received and received.context:
        keys = ", ".join(str(entry.get("key")) for entry in received.context.catalog)
        print_line(f"  {'context:':<13}{printable(received.context.state)} {printable(keys)}")


def _facts(product: Visit, received: Received, introspection: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield what there is to say of an envelope, by name."""
    content = received.content
    yield "envelope", _PLACES[product.place or ""]
    yield "state", received.state
    yield "service", received.service_origin or "none"
    if introspection:
        yield "product", introspection.get("productName")
        yield "mode", introspection.get("configuredMode")
    if received.question:
        origin = "" if introspection else "(in the product's own words, of which the service was not asked) "
        yield "question", origin + received.question
    yield from _submission_facts(content)
    if isinstance(content.get("manageConsent"), dict):
        yield "choice", f"{content['manageConsent'].get('current')}; ask --approve or --decline changes it"
    yield from ((name, content[member]) for name, member in _MEMBER_FACTS if member in content)


def _submission_facts(content: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield what may be submitted, as far as the envelope publishes its bounds."""
    with suppress(KeyError, TypeError, AttributeError):
        bounds = content["submitOutcome"]["bodySchema"]
        note = f"{bounds['note']['minLength']} to {bounds['note']['maxLength']} characters"
        yield "review", f"--outcome {'|'.join(bounds['outcome'])} --note of {note}"
    with suppress(KeyError, TypeError, AttributeError):
        bounds = content["submit"]["reportSchema"]
        summary = f"{bounds['summaryMinLength']} to {bounds['summaryMaxLength']} characters"
        yield "report", f"--summary of {summary}; it may have {', '.join(bounds['optional'])}"


_MEMBER_FACTS = (("expires", "expiresAt"), ("instruction", "instruction"), ("privacy", "privacy"))
_PLACES = {
    "json": "in the JSON",
    "html": "in the HTML",
    "header": "in the header",
    "request": "given on request, as the response's link says",
}
