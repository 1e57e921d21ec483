"""The command over whole logs: what it sends, what it never sends, and how it ends."""

import gzip
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.sdk.endpoint import closed_port
from tests.sdk.evidence_logs import (
    BINGBOT,
    CHATGPT,
    CHROME,
    CLOUDFRONT_HEAD,
    GPTBOT,
    TIMESTAMP,
    caddy,
    cloudflare,
    cloudfront,
    combined_line,
    command,
    environ,
    fastly,
    nginx_json,
    ship,
    write,
)
from tests.sdk.evidence_service import HOSTS, KEY, PATH, TOKENS, Service, check_batch

FORMATS = {
    "combined_line": (combined_line, "server_log", "web-server"),
    "nginx-json": (nginx_json, "server_log", "nginx"),
    "caddy": (caddy, "server_log", "caddy"),
    "cloudfront": (cloudfront, "cdn_log", "cloudfront"),
    "cloudflare": (cloudflare, "cdn_log", "cloudflare"),
    "fastly": (fastly, "cdn_log", "fastly"),
}


def log_of(name: str, folder: Path) -> Path:
    make = FORMATS[name][0]
    head = CLOUDFRONT_HEAD if name == "cloudfront" else ""
    return write(
        folder / f"{name}.log", head, make(GPTBOT), make(CHROME), make(CHROME, CHATGPT), make(BINGBOT, CHATGPT)
    )


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_becomes_the_same_events(name: str, service: Service, tmp_path: Path) -> None:
    ship(service.url, tmp_path, log_of(name, tmp_path))
    usual = {"observedAt": TIMESTAMP, "method": "GET", "responseStatus": 200}
    events = [{key: value for key, value in event.items() if key != "eventId"} for event in service.events]
    assert events == [
        {**usual, "agentToken": "GPTBot"},
        {**usual, "referrerHost": "chatgpt.com"},
        {**usual, "agentToken": "bingbot", "referrerHost": "chatgpt.com"},
    ]
    assert {(batch["source"]["kind"], batch["source"]["provider"]) for batch in service.batches} == {FORMATS[name][1:]}


def test_logs_of_several_formats_are_several_sources(service: Service, tmp_path: Path) -> None:
    ship(service.url, tmp_path, *[log_of(name, tmp_path) for name in FORMATS])
    assert Counter(key[1] for key in service.stored) == {provider: 3 for _, _, provider in FORMATS.values()}
    assert len({batch["source"]["sourceId"] for batch in service.batches}) == 1


def test_the_source_can_be_named(service: Service, tmp_path: Path) -> None:
    names = ["--source-kind", "load_balancer_log", "--provider", "haproxy", "--source-id", "edge-eu-1"]
    ship(service.url, tmp_path, *names, log_of("combined_line", tmp_path))
    assert service.batches[0]["source"] == {
        "kind": "load_balancer_log",
        "provider": "haproxy",
        "sourceId": "edge-eu-1",
    }


def test_a_second_run_sends_nothing_and_a_third_only_what_is_new(service: Service, tmp_path: Path) -> None:
    log = log_of("combined_line", tmp_path)
    ship(service.url, tmp_path, log)
    ship(service.url, tmp_path, log)
    assert len(service.batches) == 1
    write(log, combined_line(CHROME), combined_line("ClaudeBot/1.0"))
    result = ship(service.url, tmp_path, log)
    assert [len(batch["events"]) for batch in service.batches] == [3, 1]
    assert "2 lines, 1 events, 1 sent, 1 accepted" in result.stderr


def test_no_batch_has_more_than_500_events(service: Service, tmp_path: Path) -> None:
    ship(service.url, tmp_path, write(tmp_path / "a.log", *[combined_line(at=number) for number in range(1201)]))
    assert [len(batch["events"]) for batch in service.batches] == [500, 500, 201]
    assert len(service.stored) == 1201


def test_packed_logs_are_read_to_their_last_line(service: Service, tmp_path: Path) -> None:
    archive = tmp_path / "access.log.2.gz"
    archive.write_bytes(
        gzip.compress((combined_line() + combined_line(CHROME) + combined_line(BINGBOT)).rstrip().encode())
    )
    ship(service.url, tmp_path, archive)
    ship(service.url, tmp_path, archive)
    assert service.tokens == {"GPTBot": 1, "bingbot": 1}
    assert len(service.batches) == 1


def test_a_last_line_that_has_not_ended_is_left_for_the_next_run(service: Service, tmp_path: Path) -> None:
    line = combined_line(BINGBOT)
    log = write(tmp_path / "a.log", combined_line(), line[:-30])
    ship(service.url, tmp_path, log)
    assert service.tokens == {"GPTBot": 1}
    write(log, line[-30:])
    ship(service.url, tmp_path, log)
    assert service.tokens == {"GPTBot": 1, "bingbot": 1}


def test_hostile_lines_are_counted_and_stop_nothing(service: Service, tmp_path: Path) -> None:
    log = write(
        tmp_path / "a.log",
        b"\x00\xff\xfe GPTBot\n",
        combined_line("GPTBot " + "A" * 1024 * 1024),
        b"GPTBot " + b"B" * (3 * 1024 * 1024) + b"\n",
        combined_line(r"say \"hello\" ClaudeBot/1.0"),
        combined_line().replace(" 200 ", " 000 "),
        combined_line("x\x00y GPTBot \x1b[2J").encode().replace(b"x", b"\xff"),
        combined_line(at=4_000_000_000),
        combined_line(BINGBOT),
    )
    result = ship(service.url, tmp_path, log)
    assert service.tokens == {"GPTBot": 2, "ClaudeBot": 1, "bingbot": 1}
    assert "8 lines, 4 events, 3 malformed, 1 ahead of the clock, 4 sent" in result.stderr


SECRET_PARTS = ["20.171.206", "2001:db8", "private", "report-7", "jane", "Mozilla", "AppleWebKit", "openai.com/gptbot"]


@pytest.mark.parametrize("name", FORMATS)
def test_no_byte_of_address_path_query_or_user_agent_leaves_the_machine(
    name: str, service: Service, tmp_path: Path
) -> None:
    log = log_of(name, tmp_path)
    ranges = tmp_path / "ranges"
    ranges.write_text("20.171.206.0/24\n")
    result = ship(service.url, tmp_path, "--published-ranges", f"openai={ranges}", log)
    dry_run = ship("", tmp_path / "other", "--dry-run", log)
    assert [event.get("networkEvidence") for event in service.events] == [{"method": "published_ip_range"}, None, None]
    traces = service.raw.decode() + result.stdout + result.stderr + dry_run.stdout + dry_run.stderr
    traces += (tmp_path / "state" / "evidence.json").read_text()
    assert "GPTBot" in traces
    assert [part for part in SECRET_PARTS if part in traces] == []
    assert KEY not in traces.replace(f"Authorization: Bearer {KEY}", "")


def test_the_request_is_what_the_contract_says(service: Service, tmp_path: Path) -> None:
    ship(service.url, tmp_path, log_of("combined_line", tmp_path))
    head = service.raw.partition(b"\r\n\r\n")[0].decode()
    assert head.startswith(f"POST {PATH} HTTP/1.1\r\n")
    names = {line.partition(":")[0] for line in head.split("\r\n")[1:]}
    assert names == {"Host", "Accept-Encoding", "Content-Length", "Content-Type", "Authorization", "User-Agent"}


def test_a_dry_run_prints_what_would_be_sent_and_leaves_no_trace(service: Service, tmp_path: Path) -> None:
    log = log_of("combined_line", tmp_path)
    result = ship(service.url, tmp_path, "--dry-run", log)
    assert not service.raw
    assert not (tmp_path / "state").exists()
    batches = [json.loads(line) for line in result.stdout.splitlines()]
    for batch in batches:
        check_batch(batch)
    assert "3 would be sent" in result.stderr
    ship(service.url, tmp_path, log)
    second_run = ship(service.url, tmp_path, "--dry-run", log)
    assert second_run.stdout == ""
    assert [event["observedAt"] for event in batches[0]["events"]] == [event["observedAt"] for event in service.events]


def test_a_dry_run_needs_neither_address_nor_key_and_may_be_cut_short(tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", *[combined_line(at=number) for number in range(20_000)])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AGENT_FEEDBACK")}
    with subprocess.Popen(
        command(tmp_path, "--dry-run", log), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        check_batch(json.loads(process.stdout.readline()))
        process.stdout.close()
        error_text = process.stderr.read()
        assert (process.wait(20), b"Traceback" in error_text) == (0, False)


def test_a_vendors_verdict_is_sent_for_bots_only(service: Service, tmp_path: Path) -> None:
    verified_bot: dict[str, Any] = {"VerifiedBotCategory": "AI Crawler"}
    lines = [
        cloudflare(**verified_bot),
        cloudflare(VerifiedBotCategory=""),
        cloudflare(CHROME, CHATGPT, **verified_bot),
    ]
    log = write(tmp_path / "a.log", *lines)
    ship(service.url, tmp_path, "--vendor-verified", "VerifiedBotCategory=cloudflare", log)
    methods = [event.get("networkEvidence") for event in service.events]
    assert methods == [{"method": "cloudflare_verified_bot"}, None, None]


def test_what_is_excluded_is_not_sent(service: Service, tmp_path: Path) -> None:
    ship(service.url, tmp_path, "--exclude", "GPTBot", "--exclude", "chatgpt.com", log_of("combined_line", tmp_path))
    assert [(event.get("agentToken"), event.get("referrerHost")) for event in service.events] == [("bingbot", None)]


def test_every_token_and_host_of_the_list_arrives(service: Service, tmp_path: Path) -> None:
    lines = [combined_line(f"x ({token}/1.0)") for token in TOKENS] + [
        combined_line(CHROME, f"https://{host}/") for host in HOSTS
    ]
    ship(service.url, tmp_path, write(tmp_path / "a.log", *lines))
    assert {event.get("agentToken") for event in service.events} - {None} == TOKENS
    assert {event.get("referrerHost") for event in service.events} - {None} == HOSTS


def test_one_log_that_cannot_be_read_does_not_keep_the_others(service: Service, tmp_path: Path) -> None:
    damaged_log, strange_log = tmp_path / "damaged.gz", write(tmp_path / "strange.log", "hello GPTBot\n" * 3)
    damaged_log.write_bytes(gzip.compress(combined_line().encode() * 3)[:-12])
    logs = [
        tmp_path / "none.log",
        damaged_log,
        strange_log,
        write(tmp_path / "empty.log"),
        log_of("combined_line", tmp_path),
    ]
    result = ship(service.url, tmp_path, *logs, code=4)
    assert len(service.events) >= 3
    for name, reason in (("none.log", "FileNotFoundError"), ("damaged.gz", "EOFError"), ("strange.log", "--format")):
        assert any(name in line and reason in line for line in result.stderr.splitlines())
    assert "empty.log" not in result.stderr


def test_a_format_that_is_named_is_not_guessed(service: Service, tmp_path: Path) -> None:
    log = write(
        tmp_path / "a.log", json.dumps({"at": 1_700_000_000, "verb": "GET", "status": 204, "ua": GPTBOT}) + "\n"
    )
    keys = ["--field", "time=at", "--field", "method=verb", "--field", "user_agent=ua"]
    ship(service.url, tmp_path, "--format", "nginx-json", *keys, log)
    assert service.events[0]["responseStatus"] == 204


WRONG: list[tuple[list[str], str]] = [
    (["--provider", "A B"], "64 of a-z"),
    (["--source-id", "2001:db8::1234"], "no address"),
    (["--source-id", "short"], "8 to 128"),
    (["--exclude", "gptbot"], "neither a token nor a host"),
    (["--published-ranges", "acme=x"], "there are the providers"),
    (["--published-ranges", "openai=/none"], "cannot be read"),
    (["--vendor-verified", "X=acme"], "there are the vendors"),
    (["--field", "name=key"], "--field: there are"),
    (["--field", "status"], "NAME=KEY is needed"),
    (["--format", "iis"], "invalid choice"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_a_wrong_option_is_said_before_anything_is_read(options: list[str], message: str, tmp_path: Path) -> None:
    result = ship(f"http://127.0.0.1:{closed_port()}", tmp_path, *options, log_of("combined_line", tmp_path), code=2)
    assert message in result.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AGENT_FEEDBACK_COMPANY_KEY", ""),
        ("AGENT_FEEDBACK_COMPANY_KEY", "af_private"),
        ("AGENT_FEEDBACK_URL", ""),
        ("AGENT_FEEDBACK_URL", "http://private.example"),
    ],
)
def test_a_wrong_environment_is_said_without_showing_it(name: str, value: str, tmp_path: Path) -> None:
    env = {**environ("https://feedback.example.com"), name: value}
    log = log_of("combined_line", tmp_path)
    result = subprocess.run(command(tmp_path, log), env=env, capture_output=True, text=True, timeout=20, check=False)
    assert result.returncode == 2
    assert name in result.stderr
    assert "private" not in result.stderr
    assert "0123456789" not in result.stderr


def test_the_command_is_installed_and_says_what_it_can() -> None:
    for program in ([str(Path(sys.executable).parent / "agent-feedback")], [sys.executable, "-m", "agent_feedback"]):
        for arguments in (["--help"], ["evidence", "ship", "--help"], ["--version"]):
            result = subprocess.run([*program, *arguments], capture_output=True, text=True, timeout=20, check=True)
            assert "agent-feedback" in result.stdout
    assert subprocess.run([*program], capture_output=True, timeout=20, check=False).returncode == 2
