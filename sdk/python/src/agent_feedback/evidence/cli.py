"""`agent-feedback evidence ship`: its options, and how it ends."""

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

from agent_feedback.evidence import allowlist, ranges
from agent_feedback.evidence.allowlist import Allowlist
from agent_feedback.evidence.checkpoint import BadCheckpoint, Checkpoint, default_path, locked
from agent_feedback.evidence.checks import Checks
from agent_feedback.evidence.delivery import Deliver, Delivery, Receipt, Refused, Undelivered
from agent_feedback.evidence.dns import ReverseDns
from agent_feedback.evidence.exporter import Exporter, Labels
from agent_feedback.evidence.follow import follow
from agent_feedback.evidence.formats import FORMATS
from agent_feedback.evidence.jsonlines import FIELDS
from agent_feedback.evidence.once import Once
from agent_feedback.evidence.ranges import BadRanges, Ranges
from agent_feedback.evidence.shipping import Shipper
from agent_feedback.evidence.stopping import Stop, Stopped
from agent_feedback.evidence.tail import Desk
from agent_feedback.options import BadOption, read_company_key, read_endpoint

DONE, REFUSED, UNUSABLE, UNDELIVERED, UNREADABLE = 0, 1, 2, 3, 4
STOPPED = 128
"""And the number of the signal; with --follow a signal is the usual end."""

ATTEMPTS = 8
FLUSH_S = 3.0
SOURCE_KINDS = ("cdn_log", "edge_worker", "load_balancer_log", "server_log", "application")

ENDS = """\
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


def _matching(pattern: str, needed: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if not re.fullmatch(pattern, text, re.ASCII) or _is_address(text):
            raise argparse.ArgumentTypeError(needed)
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
    """Add `evidence` and what is below it."""
    evidence = commands.add_parser("evidence", help="evidence of AI agents in access logs")
    below = evidence.add_subparsers(required=True, metavar="COMMAND")
    ship = below.add_parser(
        "ship",
        help="send what access logs tell of AI agents",
        description="Reads access logs and sends, for each request of a known bot or from a known assistant's page, "
        "the time, method, status, and the bot's token or the page's host. Addresses, paths, queries and user agents "
        "never leave this machine.",
        epilog=ENDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ship.set_defaults(run=run)
    add = ship.add_argument
    add("logs", nargs="+", type=Path, metavar="LOGFILE", help="plain or gzip")
    add("--format", choices=("auto", *FORMATS), default="auto", help="default: told from the first lines")
    add(
        "--field", action="append", default=[], type=_pair("NAME", "KEY"), metavar="NAME=KEY",
        help=f"in JSON lines, the key (a.b for one inside another) of {', '.join(FIELDS)}",
    )  # fmt: skip
    add("--follow", action="store_true", help="go on as the logs grow, across rotation")
    add(
        "--flush-seconds", type=_seconds, default=FLUSH_S, metavar="S",
        help=f"with --follow, how long an event may wait for a full batch; default {FLUSH_S:g}",
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
    add("--max-attempts", type=int, metavar="N", help=f"tries of a batch; default {ATTEMPTS}, with --follow no limit")


def run(arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    stop = Stop()
    try:
        path = arguments.checkpoint or default_path()
        checks = _checks(arguments)
        if arguments.dry_run:
            return _run(arguments, checks, Checkpoint(path, is_kept=False), _printing(stop), stop)
        with closing(_delivery(arguments, stop)) as delivery, locked(path):
            return _run(arguments, checks, Checkpoint(path), delivery, stop)
    except (BadCheckpoint, BadOption, BadRanges, ValueError) as error:
        _say(str(error))
        return UNUSABLE


def _run(arguments: argparse.Namespace, checks: Checks, checkpoint: Checkpoint, deliver: Deliver, stop: Stop) -> int:
    labels = Labels(arguments.source_id or checkpoint.source_id, arguments.source_kind, arguments.provider)
    exporter = Exporter(checks, labels, FORMATS.get(arguments.format), dict(arguments.field))
    shipper = Shipper(deliver, checkpoint)
    complaints: list[str] = []
    desk, paths = Desk(exporter, shipper, checkpoint, stop), [path.absolute() for path in arguments.logs]

    def complain(text: str) -> None:
        complaints.append(text)
        _say(text)

    code = DONE
    stop.listen()
    try:
        if arguments.follow:
            follow(desk, paths, complain, arguments.flush_seconds)
        else:
            Once(desk, complain).ship(paths)
    except Stopped:
        code = DONE if arguments.follow or stop.signal is None else STOPPED + stop.signal
    except (Refused, Undelivered) as error:
        _say(str(error))
        code = REFUSED if isinstance(error, Refused) else UNDELIVERED
    checkpoint.save()
    _say(_summary(exporter, shipper, "would be sent" if arguments.dry_run else "sent"))
    return code or (UNREADABLE if complaints and not arguments.follow else DONE)


def _checks(arguments: argparse.Namespace) -> Checks:
    if any(name not in FIELDS for name, _ in arguments.field):
        raise ValueError(f"--field: there are {', '.join(FIELDS)}")
    allowed = allowlist.read().without(arguments.exclude)
    verdicts = dict(arguments.vendor_verified)
    unknown = set(verdicts.values()) - allowed.vendors
    if unknown:
        raise ValueError(f"--vendor-verified: there are the vendors {', '.join(sorted(allowed.vendors))}")
    dns = ReverseDns() if arguments.reverse_dns else None
    return Checks(allowed, _ranges(arguments.published_ranges, allowed), dns, verdicts)


def _ranges(named: list[tuple[str, str]], allowed: Allowlist) -> dict[str, Ranges]:
    found: dict[str, Ranges] = defaultdict(Ranges)
    for name, file in named:
        if name not in allowed.tokens and name not in allowed.providers:
            raise ValueError(f"--published-ranges: there are the providers {', '.join(sorted(allowed.providers))}")
        ranges.read(Path(file), found[name])
    return dict(found)


def _delivery(arguments: argparse.Namespace, stop: Stop) -> Delivery:
    key = read_company_key(None)
    if key is None:
        raise BadOption("AGENT_FEEDBACK_COMPANY_KEY: the company key is needed")
    attempts = arguments.max_attempts
    if attempts is None:
        attempts = 0 if arguments.follow else ATTEMPTS
    return Delivery(read_endpoint(None), key, stop, attempts)


def _printing(stop: Stop) -> Deliver:
    def deliver(body: bytes, count: int) -> Receipt:
        stop.check()
        try:
            sys.stdout.write(body.decode() + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            # Who reads has seen enough; what Python flushes at the end goes nowhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise Stopped from None
        return Receipt()

    return deliver


def _summary(exporter: Exporter, shipper: Shipper, deed: str) -> str:
    read, sent = exporter.counters, shipper.counters
    left = {"malformed": "malformed", "ahead": "ahead of the clock"}
    parts = [f"{read['lines']} lines, {read['events']} events"]
    parts += [f"{read[name]} {words}" for name, words in left.items() if read[name]]
    parts.append(f"{sent['sent']} {deed}")
    parts += [f"{sent[name]} {name}" for name in Receipt._fields if sent[name]]
    return ", ".join(parts)


def _say(text: str) -> None:
    sys.stderr.write(f"agent-feedback: {text}\n")
    sys.stderr.flush()
