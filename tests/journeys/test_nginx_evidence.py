"""From real requests to a real nginx, through the exporter, to the counts of who is signed in."""

import json
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.conftest import ROOT
from tests.journeys.exporting import LISTS, SOURCE_ID, Owner
from tests.journeys.nginx import running_nginx
from tests.journeys.stack import BIN, Stack, wait_until
from tests.journeys.visited import PAGE_MOUNTS, SECRET_PAGE, SECRET_QUERY, Site, few_visits, many_visits
from tests.journeys.visitors import AGENTS, ASSISTANTS, GOOGLEBOT, OPENAI, OTHER_ADDRESS, RANGES


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with running_nginx(tmp_path / "nginx", PAGE_MOUNTS) as nginx:
        yield Site(nginx)


@pytest.fixture
def owner(stack: Stack, tmp_path: Path, request: pytest.FixtureRequest) -> Owner:
    name = f"nginx {request.node.name}"[:60]
    environment = stack.flask("environment", "create", "--product", str(stack.company.product_id), "--name", name)
    key = stack.flask("key", "create", "--environment", environment["environmentId"], "--kind", "company")["key"]
    for name, network in RANGES.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"prefixes": [{"ipv4Prefix": network}]}))
    browser = requests.Session()
    credentials = {"email": stack.company.email, "password": stack.company.password}
    assert browser.post(f"{stack.url}/api/session", json=credentials, timeout=30).status_code == 200
    return Owner(stack, tmp_path, environment["environmentId"], key, browser)


@pytest.fixture
def without_beat(stack: Stack) -> Iterator[None]:
    """Keep the job from running until a test calls for it."""
    with stack.stop_process("beat"):
        yield


def test_the_summary_counts_what_nginx_has_served_and_nothing_else(
    site: Site, owner: Owner, without_beat: None
) -> None:
    site.receive(many_visits())
    site.receive_noise()
    expected = site.counts()
    assert set(expected) == {"totals", *LISTS, "fetches", "referrals"}
    assert site.events == 3 * len(AGENTS) + 3 * len(ASSISTANTS)
    assert owner.ship(site.nginx.log).endswith(f"{site.events} sent, {site.events} accepted")
    assert owner.counts() == expected
    assert owner.summary()["bySource"] == [{"kind": "server_log", "provider": "web-server", "count": site.events}]
    owner.roll_up()
    assert owner.counts() == expected
    assert owner.ship(site.nginx.log).endswith("0 lines, 0 events, 0 sent")
    assert owner.counts() == expected


def test_after_a_rotation_only_what_is_new_is_sent(site: Site, owner: Owner, without_beat: None) -> None:
    site.receive(few_visits(6))
    owner.ship(site.nginx.log)
    first = site.events
    owner.roll_up()

    site.nginx.rename_log()
    site.receive(few_visits(3))  # into the renamed log
    site.nginx.reopen()
    site.receive(few_visits(9))
    assert len(site.nginx.log.read_text().splitlines()) == len(few_visits(9))
    new = site.events - first
    assert owner.ship(site.nginx.log).endswith(f"{new} sent, {new} accepted")
    assert owner.counts() == site.counts()
    owner.roll_up()
    assert owner.counts() == site.counts()


def test_what_was_answered_before_a_crash_is_counted_once(site: Site, owner: Owner) -> None:
    site.receive(few_visits(6))
    owner.ship(site.nginx.log)
    first_count, checkpoint_text = site.events, owner.checkpoint.read_text()
    site.receive(few_visits(3))
    owner.ship(site.nginx.log)
    # As if it had been killed between the answer and the checkpoint.
    owner.checkpoint.write_text(checkpoint_text)
    second_count = site.events - first_count
    site.nginx.rename_log()
    site.nginx.reopen()
    site.receive(few_visits(2))
    new = site.events - second_count - first_count
    assert owner.ship(site.nginx.log).endswith(f"{second_count + new} sent, {new} accepted, {second_count} duplicates")
    assert owner.counts() == site.counts()


def test_the_json_format_of_the_documentation_says_the_same(site: Site, owner: Owner) -> None:
    site.receive(many_visits())
    owner.ship(site.nginx.json_log)
    assert owner.counts() == site.counts()
    assert owner.summary()["bySource"] == [{"kind": "server_log", "provider": "nginx", "count": site.events}]


def test_a_follower_goes_on_across_a_rotation(site: Site, owner: Owner) -> None:
    site.receive(few_visits(2))
    command = [*owner.command("--follow", "--flush-seconds", "0.2"), str(site.nginx.log)]
    with subprocess.Popen(command, env=owner.environ, stderr=subprocess.PIPE, text=True) as follower:
        try:
            wait_until(lambda: owner.counts() == site.counts(), 60)
            site.nginx.rename_log()
            site.receive(few_visits(3))
            site.nginx.reopen()
            site.receive(few_visits(4))
            wait_until(lambda: owner.counts() == site.counts(), 60)
        finally:
            follower.send_signal(signal.SIGTERM)
        output = follower.communicate(timeout=60)[1]
    assert (follower.returncode, output.splitlines()[-1].partition(", ")[2]) == (
        0,
        f"{site.events} events, {site.events} sent, {site.events} accepted",
    )


def test_the_documented_line_of_cron_needs_nothing_that_cron_has_not(site: Site, owner: Owner) -> None:
    line = re.search(r"^```cron\n(.+)\n```", (ROOT / "docs" / "exporter.md").read_text(), re.MULTILINE)
    assert line
    command = line[1].split(" ", 6)[6].partition(" 2>&1 |")[0]
    variables = owner.folder / "agent-feedback.env"
    names = ("AGENT_FEEDBACK_URL", "AGENT_FEEDBACK_COMPANY_KEY")
    variables.write_text("".join(f"export {name}={owner.environ[name]}\n" for name in names))
    owner.checkpoint.parent.mkdir()
    # The documented line has no quotes, and the checkout may lie in a folder with a space.
    programs = owner.folder / "programs"
    programs.symlink_to(BIN)
    replacements = {
        "/etc/agent-feedback.env": variables,
        "/opt/agent-feedback/bin": programs,
        "/var/lib/agent-feedback": owner.checkpoint.parent,
        "/var/log/nginx": site.nginx.folder,
    }
    for placeholder, path in replacements.items():
        assert placeholder in command
        command = command.replace(placeholder, str(path))
    site.receive(few_visits(4))
    cron_environment = {"HOME": "/dev/null", "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}
    process = subprocess.run(
        ["/bin/sh", "-c", command], env=cron_environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert process.stderr.endswith(f"{site.events} sent, {site.events} accepted\n")
    assert owner.counts() == site.counts()


def test_a_dry_run_sends_nothing(site: Site, owner: Owner) -> None:
    site.receive(few_visits(5))
    # Neither a service nor a key is needed for it.
    unreachable_service = {"AGENT_FEEDBACK_URL": "http://127.0.0.1:1", "AGENT_FEEDBACK_COMPANY_KEY": ""}
    for environ in ({}, unreachable_service):
        *bodies, last = owner.ship("--dry-run", site.nginx.log, **environ).splitlines()
        events = [event for body in bodies for event in json.loads(body)["events"]]
        assert len(events) == site.events
        assert last.endswith(f"{site.events} events, {site.events} would be sent")
    assert not owner.checkpoint.exists()
    assert owner.counts() == {"totals": Counter(events=0, fetches=0, referrals=0)}
    assert owner.ship(site.nginx.log).endswith(f"{site.events} sent, {site.events} accepted")


def test_nothing_of_a_request_but_its_evidence_is_kept_or_said(site: Site, owner: Owner) -> None:
    site.receive(few_visits(1))
    owner.ship(site.nginx.log)
    site.receive(many_visits())
    *bodies, _ = owner.ship("--dry-run", site.nginx.log).splitlines()
    ids = [event["eventId"] for body in bodies for event in json.loads(body)["events"]]
    owner.ship(site.nginx.log)
    assert owner.counts() == site.counts()

    private = [SECRET_PAGE, SECRET_QUERY, "visit=", OTHER_ADDRESS, OPENAI, GOOGLEBOT, "evil.example", "/c/6f1d"]
    private += [visit.user_agent for visit in site.visits if " " in visit.user_agent]
    database_text, log_text = database(owner.stack), logs(owner.stack)
    # What may be there shows that these are the right places.
    assert all(word in database_text for word in ("GPTBot", "chatgpt.com", "web-server"))
    assert "/api/v1/evidence/http-requests/batches" in log_text
    for text in (database_text, log_text):
        assert find_words(text, [*private, SOURCE_ID, *ids]) == []
    for text in (owner.checkpoint.read_text(), *owner.output_lines):
        assert find_words(text, private) == []


def find_words(text: str, words: list[str]) -> list[str]:
    """Return the words that are in a text, as they are or as the digits of something binary."""
    return [word for word in words if word in text or word.encode().hex() in text]


def database(stack: Stack) -> str:
    """Return every row of every table as text; what is binary is in it as hexadecimal digits."""
    tables = stack.query(
        "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables "
        "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    )
    return "\n".join(row for (table,) in tables for (row,) in stack.query(f"SELECT whole::text FROM {table} whole"))


def logs(stack: Stack) -> str:
    """Return what web, workers, database and broker have written."""
    return "\n".join(log.read_text(errors="replace") for log in sorted(stack.log.parent.glob("*.log")))
