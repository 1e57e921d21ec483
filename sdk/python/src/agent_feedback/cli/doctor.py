"""The command `agent-feedback doctor`: a product seen from outside, as an agent sees it."""

import argparse
import json
import os
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from agent_feedback import protocol_files
from agent_feedback.agent import Received, requests
from agent_feedback.cli import exit_codes
from agent_feedback.cli.envelope_check import find_capability, find_endpoint, find_problems, read_claims
from agent_feedback.cli.product import Visit, add_product_arguments, visit
from agent_feedback.cli.terminal import print_json, print_line, printable, reason_of
from agent_feedback.cli.why import find_reasons
from agent_feedback.errors import InvalidOption, ServiceRefused, ServiceUnavailable
from agent_feedback.options import read_product_key

PASS, NEXT, FAIL = "PASS", "NEXT", "FAIL"
READ_KEY_VARIABLE = "AGENT_FEEDBACK_READ_KEY"
TELEMETRY_WAIT_S = 10.0
TELEMETRY_INTERVAL_S = 0.5

HELP = f"""\
each line is
  PASS  as it should be
  NEXT  what to do, or to configure, for more
  FAIL  what keeps feedback from arriving

exit codes:
  0    nothing fails
  1    something fails
  2    wrong usage
  130  ended by Ctrl-C

It asks the service for the state of the response's capability, and never files a review or a decision. With the
product key (AGENT_FEEDBACK_KEY) it checks that the product uses that key, with a read key ({READ_KEY_VARIABLE})
that the telemetry of this response arrives.
"""

_PATHS: dict[str, str] = protocol_files.read("contract.json")["paths"]
_INTERACTIONS = "/api/v2/interactions/"
_NOBODY = "afsub1_" + "A" * 43
"""A subject that no customer has, since it is no HMAC anybody has made."""


class Finding(NamedTuple):
    """One line: PASS, NEXT or FAIL, what was looked at, and what was seen."""

    status: str
    check: str
    message: str


Findings = Iterator[Finding]


def add_commands(commands: Any) -> None:
    """Add the command `doctor`."""
    doctor = commands.add_parser(
        "doctor",
        help="check a product from outside, as an agent sees it",
        description="Fetches a URL of a product as an agent would, and tells what works and what does not.",
        epilog=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_product_arguments(doctor)
    doctor.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print a line for each check, and return whether one fails."""
    has_failure = False
    findings = []
    for finding in check(arguments):
        has_failure |= finding.status == FAIL
        findings.append(finding)
        if not arguments.json:
            print_line(f"{finding.status}  {finding.check + ':':<12}{printable(finding.message)}")
    if arguments.json:
        print_json([finding._asdict() for finding in findings])
    return exit_codes.REFUSED if has_failure else exit_codes.DONE


def check(arguments: argparse.Namespace) -> Findings:
    """Yield what is seen of a product, as far as one check makes the next possible."""
    try:
        product = visit(arguments)
    except ServiceUnavailable as error:
        yield Finding(FAIL, "product", f"{error}{reason_of(error)}")
        return
    if product.page:
        yield Finding(PASS, "product", f"{product.page.url} answered {product.page.status_code}")
    if product.received is None or product.place is None:
        yield from _missing_envelope(product)
        return
    yield from _envelope(product, product.received)
    yield from _service(product.received)


def _missing_envelope(product: Visit) -> Findings:
    yield Finding(FAIL, "envelope", "the response has none")
    for reason in find_reasons(product.page) if product.page else ():
        yield Finding(NEXT, reason.rule, reason.sentence)


def _envelope(product: Visit, received: Received) -> Findings:
    yield Finding(PASS, "envelope", f"found ({product.place}), in the state {received.state}")
    problems = find_problems(received.content)
    if problems:
        yield Finding(FAIL, "protocol", "; ".join(problems))
    else:
        yield Finding(PASS, "protocol", "the envelope is as the protocol has it")
    if product.page and product.place != "request":
        policy = product.page.headers.get("cache-control", "")
        is_private = {"private", "no-store"} <= {part.strip().lower() for part in policy.split(",")}
        message = f"Cache-Control is {policy or 'missing'}"
        if is_private:
            yield Finding(PASS, "cache", message)
        else:
            yield Finding(FAIL, "cache", f"{message}; something behind the adapter changes private, no-store")


def _service(received: Received) -> Findings:
    service_origin = received.service_origin
    if not received.is_allowed:
        origin = service_origin or "a service"
        yield Finding(NEXT, "service", f"{origin} was not asked; --allow-origin {origin} allows it")
        return
    try:
        content = received.content
        introspection = received.introspect()
    except (ServiceRefused, InvalidOption) as error:
        yield Finding(FAIL, "capability", f"the service does not accept it: {error}")
    except ServiceUnavailable as error:
        yield Finding(FAIL, "service", f"{error}{reason_of(error)}")
    else:
        name = introspection.get("productName")
        yield Finding(PASS, "capability", f"the service accepts it, for the product {name}")
        yield _drift(content.get("configuredMode", content.get("mode")), introspection.get("configuredMode"))
        endpoint, capability = find_endpoint(content), find_capability(content)
        # The actions may name others, which have not been allowed.
        if endpoint is None or requests.origin_of(endpoint) != service_origin:
            yield Finding(FAIL, "service", "the envelope names no API of the service that is allowed; no key was sent")
            return
        yield from _key(endpoint, capability)
        yield from _telemetry(endpoint, capability)


def _drift(sdk_mode: Any, service_mode: Any) -> Finding:
    if sdk_mode == service_mode:
        return Finding(PASS, "mode", f"{sdk_mode}, in the SDK and in the service")
    message = f"the SDK has {sdk_mode}, the service {service_mode}; set AGENT_FEEDBACK_MODE or the environment"
    return Finding(FAIL, "mode", message)


def _key(endpoint: str, capability: str) -> Findings:
    if not os.environ.get("AGENT_FEEDBACK_KEY"):
        yield Finding(NEXT, "key", "AGENT_FEEDBACK_KEY is not set here, so whether the product uses it is not known")
        return
    key = read_product_key(None)
    if capability.partition(".")[0].removeprefix("afr2_") == key.id:
        yield Finding(PASS, "key", "the product signs with AGENT_FEEDBACK_KEY")
    else:
        yield Finding(FAIL, "key", "the product signs with another key than AGENT_FEEDBACK_KEY")
    try:
        body = json.dumps({"subjects": [_NOBODY]}).encode()
        requests.post(endpoint + _PATHS["consentState"], f"Bearer {key.reveal()}", body)
    except (ServiceRefused, ServiceUnavailable) as error:
        yield Finding(FAIL, "key", f"the service does not accept AGENT_FEEDBACK_KEY: {error}")
    else:
        yield Finding(PASS, "key", "the service accepts AGENT_FEEDBACK_KEY, as it needs to for telemetry")


def _telemetry(endpoint: str, capability: str) -> Findings:
    claims, key = read_claims(capability), os.environ.get(READ_KEY_VARIABLE, "").strip()
    if claims is None:
        return
    if not key:
        yield Finding(NEXT, "telemetry", f"whether it arrives is shown with a read key in {READ_KEY_VARIABLE}")
        return
    try:
        interaction = _wait_for_interaction(f"{endpoint}{_INTERACTIONS}{claims['i']}", f"Bearer {key}")
    except (ServiceRefused, ServiceUnavailable, InvalidOption) as error:
        yield Finding(FAIL, "telemetry", f"the service does not show it: {error}")
        return
    if interaction is None:
        message = f"none of this response arrived within {TELEMETRY_WAIT_S:.0f} seconds; see the product's log"
        yield Finding(FAIL, "telemetry", message)
    else:
        seen = ", ".join(str(interaction.get(name)) for name in ("operation", "surface", "statusCode"))
        yield Finding(PASS, "telemetry", f"that of this response has arrived: {seen}")


def _wait_for_interaction(url: str, authorization: str) -> dict[str, Any] | None:
    """Return the interaction as soon as its telemetry is there, or None."""
    deadline = time.monotonic() + TELEMETRY_WAIT_S
    while True:
        try:
            interaction = requests.get(url, authorization).get("interaction")
        except ServiceRefused as error:
            if error.status != 404:
                raise
            interaction = None
        # A review may be there before, with a placeholder for what it is about.
        if isinstance(interaction, dict) and interaction.get("occurredAt"):
            return interaction
        if time.monotonic() >= deadline:
            return None
        time.sleep(TELEMETRY_INTERVAL_S)
