"""The command `agent-feedback evidence ship`: its options and exit codes."""

import argparse
import ipaddress
import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from agent_feedback.errors import InvalidOption
from agent_feedback.evidence import allowlist, ranges
from agent_feedback.evidence.address_checks import AddressChecks
from agent_feedback.evidence.allowlist import Allowlist
from agent_feedback.evidence.checkpoint import Checkpoint, InvalidCheckpoint, default_path, locked
from agent_feedback.evidence.delivery import BatchRefused, BatchUndelivered, Deliver, Delivery, Receipt
from agent_feedback.evidence.dns import ReverseDns
from agent_feedback.evidence.exporter import Exporter, Labels
from agent_feedback.evidence.follow import follow
from agent_feedback.evidence.formats import FORMATS
from agent_feedback.evidence.jsonlines import FIELDS
from agent_feedback.evidence.ranges import InvalidRanges, Ranges
from agent_feedback.evidence.shipper import Shipper
from agent_feedback.evidence.single_run import SingleRun
from agent_feedback.evidence.stop_signal import Stopped, StopSignal
from agent_feedback.evidence.tail import ExportContext
from agent_feedback.options import read_company_key, read_endpoint

DONE, REFUSED, UNUSABLE, UNDELIVERED, UNREADABLE = 0, 1, 2, 3, 4
STOPPED = 128
"""Plus the number of the signal; with --follow a signal is the usual end and the code 0."""

DEFAULT_ATTEMPTS = 8
DEFAULT_FLUSH_S = 3.0
SOURCE_KINDS = ("cdn_log", "edge_worker", "load_balancer_log", "server_log", "application")

EXIT_CODES_HELP = """\
exit codes:
  0    everything was sent (with --follow: ended by a signal)
  1    the service refused a batch; the message names its error code
  2    wrong usage: an option, the environment, or the checkpoint
  3    the service could not be reached or was busy; run again
  4    a log could not be read; the others were sent
  130  ended by Ctrl-C; 143 by SIGTERM

The environment holds the address of the service (AGENT_FEEDBACK_URL) and the company key
(AGENT_FEEDBACK_COMPANY_KEY).
"""


def _pair(left: str, right: str) -> Callable[[str], tuple[str, str]]:
    def read(text: str) -> tuple[str, str]:
        name, is_pair, value = text.partition("=")
        if not (name and is_pair and value):
            raise argparse.ArgumentTypeError(f"{left}={right} is needed")
        return name, value

    return read


def _matching(pattern: str, requirement: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if not re.fullmatch(pattern, text, re.ASCII) or _is_address(text):
            raise argparse.ArgumentTypeError(requirement)
        return text

    return read


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < 3600:
        raise argparse.ArgumentTypeError("seconds above 0 and below 3600 are needed")
    return seconds


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def add_commands(commands: Any) -> None:
    """Add the command `evidence` with its subcommands."""
    evidence = commands.add_parser("evidence", help="evidence of AI agents in access logs")
    evidence.set_defaults(parser=evidence)
    subcommands = evidence.add_subparsers(metavar="COMMAND")
    ship = subcommands.add_parser(
        "ship",
        help="send the requests of AI agents from access logs",
        description="Reads access logs and sends, for each request of a known bot or from a known assistant's page, "
        "the time, method, status, and the bot's token or the page's host. Addresses, paths, queries and user agents "
        "never leave this machine.",
        epilog=EXIT_CODES_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ship.set_defaults(run=run)
    add = ship.add_argument
    add("logs", nargs="+", type=Path, metavar="LOGFILE", help="plain or gzip")
    add("--format", choices=("auto", *FORMATS), default="auto", help="default: detected from the first lines")
    add(
        "--field", action="append", default=[], type=_pair("NAME", "KEY"), metavar="NAME=KEY",
        help=f"in JSON lines, the key (a.b for one inside another) of {', '.join(FIELDS)}",
    )  # fmt: skip
    add("--follow", action="store_true", help="go on as the logs grow, across rotation")
    add(
        "--flush-seconds", type=_seconds, default=DEFAULT_FLUSH_S, metavar="S",
        help=f"with --follow, how long an event may wait for a full batch; default {DEFAULT_FLUSH_S:g}",
    )  # fmt: skip
    add("--dry-run", action="store_true", help="print each request body on a line instead of sending it")
    add("--exclude", action="append", default=[], metavar="NAME", help="leave a token or host of the allowlist out")
    add("--checkpoint", type=Path, metavar="FILE", help="default: evidence.json in the state folder")
    _add_checks(ship)
    _add_labels(ship)


def _add_checks(ship: argparse.ArgumentParser) -> None:
    add = ship.add_argument_group("checks of the address, done on this machine").add_argument
    add(
        "--published-ranges", action="append", default=[], type=_pair("NAME", "FILE"), metavar="NAME=FILE",
        help="address ranges that a provider publishes for all its bots, or for the token that is named",
    )  # fmt: skip
    add("--reverse-dns", action="store_true", help="ask DNS about bots whose providers document their domains")
    add(
        "--vendor-verified", action="append", default=[], type=_pair("FIELD", "VENDOR"), metavar="FIELD=VENDOR",
        help="a field of JSON lines that the vendor fills for bots it has verified, such as "
        "VerifiedBotCategory=cloudflare",
    )  # fmt: skip


def _add_labels(ship: argparse.ArgumentParser) -> None:
    add = ship.add_argument_group("the source, as the service shows it").add_argument
    add("--source-kind", choices=SOURCE_KINDS, help="default: follows from the format")
    label = _matching(r"[a-z0-9][a-z0-9_.-]{0,63}", "up to 64 of a-z 0-9 _ . - are needed")
    add("--provider", type=label, help="default: follows from the format")
    opaque = _matching(r"[A-Za-z0-9_.:-]{8,128}", "8 to 128 of A-Z a-z 0-9 _ . : - are needed, and no address")
    add("--source-id", type=opaque, help="default: a random name, kept in the checkpoint")
    add(
        "--max-attempts",
        type=int,
        metavar="N",
        help=f"tries of a batch; default {DEFAULT_ATTEMPTS}, with --follow no limit",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    stop = StopSignal()
    try:
        path = arguments.checkpoint or default_path()
        checks = _make_checks(arguments)
        if arguments.dry_run:
            return _run(arguments, checks, Checkpoint(path, is_writable=False), _make_printer(stop), stop)
        with closing(_make_delivery(arguments, stop)) as delivery, locked(path):
            return _run(arguments, checks, Checkpoint(path), delivery, stop)
    except (InvalidCheckpoint, InvalidOption, InvalidRanges, ValueError) as error:
        _print_error(str(error))
        return UNUSABLE


def _run(
    arguments: argparse.Namespace, checks: AddressChecks, checkpoint: Checkpoint, deliver: Deliver, stop: StopSignal
) -> int:
    labels = Labels(arguments.source_id or checkpoint.source_id, arguments.source_kind, arguments.provider)
    exporter = Exporter(checks, labels, FORMATS.get(arguments.format), dict(arguments.field))
    shipper = Shipper(deliver, checkpoint)
    problems: list[str] = []
    context, paths = ExportContext(exporter, shipper, checkpoint, stop), [path.absolute() for path in arguments.logs]

    def report_problem(text: str) -> None:
        problems.append(text)
        _print_error(text)

    code = DONE
    stop.listen()
    try:
        if arguments.follow:
            follow(context, paths, report_problem, arguments.flush_seconds)
        else:
            SingleRun(context, report_problem).ship(paths)
    except Stopped:
        code = DONE if arguments.follow or stop.signal is None else STOPPED + stop.signal
    except (BatchRefused, BatchUndelivered) as error:
        _print_error(str(error))
        code = REFUSED if isinstance(error, BatchRefused) else UNDELIVERED
    checkpoint.save()
    _print_error(_summary(exporter, shipper, "would be sent" if arguments.dry_run else "sent"))
    return code or (UNREADABLE if problems and not arguments.follow else DONE)


def _make_checks(arguments: argparse.Namespace) -> AddressChecks:
    if any(name not in FIELDS for name, _ in arguments.field):
        raise ValueError(f"--field: there are {', '.join(FIELDS)}")
    entries = allowlist.read().without(arguments.exclude)
    vendor_fields = dict(arguments.vendor_verified)
    if not set(vendor_fields.values()) <= entries.vendors:
        raise ValueError(f"--vendor-verified: there are the vendors {', '.join(sorted(entries.vendors))}")
    dns = ReverseDns() if arguments.reverse_dns else None
    return AddressChecks(entries, _read_ranges(arguments.published_ranges, entries), dns, vendor_fields)


def _read_ranges(files: list[tuple[str, str]], entries: Allowlist) -> dict[str, Ranges]:
    ranges_by_name: dict[str, Ranges] = defaultdict(Ranges)
    for name, file in files:
        if name not in entries.tokens and name not in entries.providers:
            raise ValueError(f"--published-ranges: there are the providers {', '.join(sorted(entries.providers))}")
        ranges.read(Path(file), ranges_by_name[name])
    return dict(ranges_by_name)


def _make_delivery(arguments: argparse.Namespace, stop: StopSignal) -> Delivery:
    key = read_company_key(None)
    if key is None:
        raise InvalidOption("AGENT_FEEDBACK_COMPANY_KEY: the company key is needed")
    max_attempts = arguments.max_attempts
    if max_attempts is None:
        max_attempts = 0 if arguments.follow else DEFAULT_ATTEMPTS
    return Delivery(read_endpoint(None), key, stop, max_attempts)


def _make_printer(stop: StopSignal) -> Deliver:
    def deliver(body: bytes, count: int) -> Receipt:
        stop.check()
        try:
            sys.stdout.write(body.decode() + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader has closed the pipe. What Python flushes when it ends must not raise again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise Stopped from None
        return Receipt()

    return deliver


def _summary(exporter: Exporter, shipper: Shipper, verb: str) -> str:
    lines, batches = exporter.counters, shipper.counters
    labels = {"malformed": "malformed", "ahead": "ahead of the clock"}
    parts = [f"{lines['lines']} lines, {lines['events']} events"]
    parts += [f"{lines[name]} {label}" for name, label in labels.items() if lines[name]]
    parts.append(f"{batches['sent']} {verb}")
    parts += [f"{batches[name]} {name}" for name in Receipt._fields if batches[name]]
    return ", ".join(parts)


def _print_error(text: str) -> None:
    sys.stderr.write(f"agent-feedback: {text}\n")
    sys.stderr.flush()
