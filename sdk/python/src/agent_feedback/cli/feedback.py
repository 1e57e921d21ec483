"""The command `agent-feedback agent report`: a review or a report, shown before it is sent."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agent_feedback import protocol_files
from agent_feedback.agent import Received
from agent_feedback.agent.validation import checked_outcome, checked_report
from agent_feedback.cli import exit_codes
from agent_feedback.cli.product import STANDARD_INPUT, Visit, permit, visit
from agent_feedback.cli.terminal import confirm, is_interactive, print_json, print_line, printable
from agent_feedback.errors import InvalidOption

MAX_FILE_BYTES = 64 * 1024
_CONTRACT = protocol_files.read("contract.json")


class Feedback(NamedTuple):
    """One review or report."""

    is_review: bool
    body: Mapping[str, Any]

    def checked_body(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return what would be sent for an envelope, within its bounds, or those of the contract before an approval."""
        name, bounds = ("submitOutcome", "bodySchema") if self.is_review else ("submit", "reportSchema")
        action = content.get(name)
        if self.is_review:
            schema = action.get(bounds) if isinstance(action, dict) else _CONTRACT["outcomeBody"]
            return checked_outcome(self.body["outcome"], self.body["note"], schema)
        return checked_report(self.body, action.get(bounds) if isinstance(action, dict) else _CONTRACT["reportSchema"])

    def send(self, received: Received) -> dict[str, Any]:
        """Send it, and return the service's answer."""
        return received.submit_outcome(**self.body) if self.is_review else received.submit_report(**self.body)

    def preview(self, received: Received) -> dict[str, Any]:
        """Return what the service would store."""
        return received.preview_outcome(**self.body) if self.is_review else received.preview_report(**self.body)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is sent, and how far to go."""
    outcomes, bounds = _CONTRACT["outcomeBody"], _CONTRACT["reportSchema"]
    review = parser.add_argument_group("a review").add_argument
    review("--outcome", choices=outcomes["outcome"])
    review("--note", help="one factual sentence about the outcome")
    report = parser.add_argument_group("a report").add_argument
    report("--summary")
    report("--impact", choices=bounds["impacts"])
    report("--confidence", type=float, metavar="0..1")
    report(
        "--finding", action="append", nargs=3, default=[], metavar=("KIND", "TOPIC", "DETAIL"),
        help=f"KIND is one of {', '.join(bounds['findingKinds'])}, also with a severity, such as defect:minor",
    )  # fmt: skip
    report("--workaround", metavar="DETAIL", help="the workaround that was used")
    report("--file", metavar="FILE", help="the whole report as JSON; - is standard input")
    how = parser.add_argument_group("how far to go").add_argument
    how(
        "--preview",
        action="store_true",
        help="show what would be sent, and what the service would store of it; nothing is stored",
    )
    how("--approve", action="store_true", help="the user has agreed to the product's question: send the approval first")
    how("-y", "--yes", action="store_true", help="send without asking here")


def require_envelope(product: Visit) -> Received:
    """Return what was received, or raise `Failure`."""
    if product.received is None or product.place is None:
        message = "the response has no envelope; `agent-feedback agent show --why` tells which rule left it alone"
        raise exit_codes.Failure(message, exit_codes.NO_ENVELOPE)
    return product.received


def run_report(arguments: argparse.Namespace) -> int:
    """Show a review or a report, and send it if that is confirmed."""
    feedback = _read_feedback(arguments)
    received = require_envelope(visit(arguments))
    body = feedback.checked_body(received.content)
    if not (arguments.json and (arguments.yes or arguments.preview)):
        print_line(f"{'review' if feedback.is_review else 'report'} for {received.service_origin}:")
        print_json(body)
    if arguments.preview:
        return _preview(arguments, feedback, received, body)
    permit(received)
    _require_approval(arguments, received)
    if not arguments.yes:
        _require_confirmation()
    answer = feedback.send(received)
    if arguments.json:
        print_json(answer)
    else:
        print_line(f"accepted, for the interaction {printable(answer.get('interactionId'))}")
    return exit_codes.DONE


def _preview(arguments: argparse.Namespace, feedback: Feedback, received: Received, body: Mapping[str, Any]) -> int:
    permit(received)
    _ask_service(received)
    answer = feedback.preview(received) if received.question is None else None
    if arguments.json:
        print_json({"body": body, "question": received.question, "preview": answer})
        return exit_codes.DONE
    if answer is None:
        print_line(f"The user has to be asked first: {printable(received.question)}")
        print_line("Only then does the service tell what it would store. Nothing was sent.")
        return exit_codes.DONE
    is_first = answer.get("wouldBeStored")
    print_line("The service would store:" if is_first else "This would not be stored, since an earlier one stays:")
    print_json(answer.get("review" if feedback.is_review else "report"))
    print_line("Nothing is stored.")
    return exit_codes.DONE


def _ask_service(received: Received) -> None:
    """Ask the service about the product's question, or raise InvalidOption where the user has declined."""
    if received.question is not None and received.introspect().get("state") == "declined":
        raise InvalidOption("the user has declined, so nothing may be submitted")


def _require_approval(arguments: argparse.Namespace, received: Received) -> None:
    """Have the user approve where the product's question stands, or raise."""
    _ask_service(received)
    question = received.question
    if question is None:
        return
    if not arguments.approve and not is_interactive():
        raise InvalidOption(f"the user has to be asked: {question} Pass --approve after a clear yes")
    if not arguments.approve and not confirm(printable(question)):
        raise exit_codes.Failure("the user did not approve it; nothing was sent", exit_codes.NOT_CONFIRMED)
    received.decide("approved")


def _require_confirmation() -> None:
    if not is_interactive():
        raise InvalidOption("nothing was sent: nobody can be asked here; --yes sends it")
    if not confirm("Send it?"):
        raise exit_codes.Failure("nothing was sent", exit_codes.NOT_CONFIRMED)


def _read_feedback(arguments: argparse.Namespace) -> Feedback:
    review = [name for name in ("outcome", "note") if getattr(arguments, name) is not None]
    report = _read_report(arguments)
    if bool(review) == bool(report):
        raise InvalidOption("either a review (--outcome and --note) or a report (--summary or --file) is needed")
    if review:
        if len(review) < 2:
            raise InvalidOption("a review needs --outcome and --note")
        return Feedback(True, {"outcome": arguments.outcome, "note": arguments.note})
    if "summary" not in report:
        raise InvalidOption("a report needs --summary")
    return Feedback(False, report)


def _read_report(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("summary", "impact", "confidence")
    report = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    if arguments.finding:
        report["findings"] = [_read_finding(*words) for words in arguments.finding]
    if arguments.workaround is not None:
        report["workaround"] = {"used": True, "detail": arguments.workaround}
    if arguments.file is None:
        return report
    if report:
        raise InvalidOption("--file is the whole report; it goes with no other part of one")
    return _read_file(arguments)


def _read_finding(kind: str, topic: str, detail: str) -> dict[str, str]:
    name, colon, severity = kind.partition(":")
    return {"kind": name, "topic": topic, "detail": detail, **({"severity": severity} if colon else {})}


def _read_file(arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.file == STANDARD_INPUT == arguments.url:
        raise InvalidOption("only one of URL and --file can be standard input")
    try:
        if arguments.file == STANDARD_INPUT:
            text = sys.stdin.buffer.read(MAX_FILE_BYTES)
        else:
            with Path(arguments.file).open("rb") as file:
                text = file.read(MAX_FILE_BYTES)
        report = json.loads(text)
    except OSError as error:
        raise InvalidOption(f"--file: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise InvalidOption("--file: it is no JSON") from None
    if not isinstance(report, dict) or not report:
        raise InvalidOption("--file: a JSON object is needed")
    return report
