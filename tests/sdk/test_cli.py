"""The command `agent-feedback` says what there is, ends with a code that tells how it went, and shows no traceback."""

import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_feedback.agent import requests

from tests.certificates import create_authority
from tests.sdk.cli_product import CommandLine
from tests.sdk.endpoint import HANG_UP, Endpoint, Reply, closed_port, serving

COMMAND = [sys.executable, "-m", "agent_feedback"]


@pytest.fixture
def command_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([], ["agent", "doctor", "evidence"]),
        (["agent"], ["show", "ask", "report", "mcp"]),
        (["evidence"], ["ship"]),
    ],
)
def test_a_bare_command_is_answered_with_its_help(
    command_line: CommandLine, words: list[str], names: list[str]
) -> None:
    result = command_line.run(*words)
    assert result.code == 2
    assert all(name in result.errors for name in names)
    assert result.output == ""


@pytest.mark.parametrize(
    "words", [[], ["agent"], ["agent", "show"], ["agent", "ask"], ["agent", "report"], ["agent", "mcp"], ["doctor"],
              ["evidence"], ["evidence", "ship"]],
)  # fmt: skip
def test_every_command_has_a_help(command_line: CommandLine, words: list[str]) -> None:
    result = command_line.run(*words, "--help")
    assert result.code == 0
    assert result.output.startswith(f"usage: agent-feedback {' '.join(words)}".rstrip())


@pytest.mark.parametrize("words", [["agent", "show"], ["agent", "ask"], ["agent", "report"], ["doctor"]])
def test_the_help_lists_the_exit_codes(command_line: CommandLine, words: list[str]) -> None:
    assert "exit codes:\n  0 " in command_line.run(*words, "--help").output


@pytest.mark.parametrize("words", [["doctr"], ["agent", "shout"], ["agent", "show"], ["agent", "show", "--no"]])
def test_wrong_usage_is_2(command_line: CommandLine, words: list[str]) -> None:
    result = command_line.run(*words)
    assert (result.code, result.output) == (2, "")
    assert "usage: agent-feedback" in result.errors


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["shop"], "an https URL"),
        (["http://shop.example/"], "an https URL"),
        (["https://user:word@shop.example/"], "an https URL without credentials"),
        (["https://["], "the URL is malformed"),
        (["https://shop.example:99999/"], "the URL is malformed"),
        (["https://127.0.0.1/", "-H", "Authorization"], "--header: 'NAME: VALUE' is needed"),
        (["https://127.0.0.1/", "-H", "A b: c"], "the name of a header"),
        (["https://127.0.0.1/", "-H", "A: \u00e9"], "the header A needs"),
        (["https://127.0.0.1/", "--allow-origin", "feedback.example"], "feedback.example is no origin"),
        (["https://127.0.0.1/", "--allow-origin", "https://["], "the URL is malformed"),
    ],
)
def test_a_mistake_is_told_in_one_line(command_line: CommandLine, words: list[str], message: str) -> None:
    result = command_line.run("agent", "show", *words)
    assert (result.code, result.output) == (2, "")
    assert result.errors.startswith("agent-feedback: ")
    assert result.errors.count("\n") == 1
    assert message in result.errors


@pytest.fixture
def silent_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_product_that_does_not_answer_is_3(
    command_line: CommandLine, silent_port: int, monkeypatch: pytest.MonkeyPatch, endpoint: Endpoint
) -> None:
    monkeypatch.setattr(requests, "TIMEOUT_S", 0.2)
    endpoint.default_reply = Reply(HANG_UP)
    reasons = {
        f"http://127.0.0.1:{closed_port()}/": "nothing listens there",
        f"http://127.0.0.1:{silent_port}/": "there was no answer in time",
        f"https://127.0.0.1:{silent_port}/": "there was no answer in time",
        endpoint.url: "it closed the connection without an answer",
    }
    for url, reason in reasons.items():
        result = command_line.run("agent", "show", url)
        assert (result.code, result.output) == (3, ""), url
        assert f"could not be reached: {reason}\n" in result.errors, url


def test_a_server_without_tls_is_3(command_line: CommandLine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        result = command_line.run("agent", "show", f"https://127.0.0.1:{listener.getsockname()[1]}/")
        thread.join()
    assert result.code == 3
    assert result.errors.endswith("could not be reached: it does not speak TLS as is needed\n")


def test_a_host_that_is_not_there_is_3(command_line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    result = command_line.run("agent", "show", "https://shop.invalid/")
    assert (result.code, result.errors) == (
        3,
        "agent-feedback: https://shop.invalid could not be reached: there is no such host\n",
    )


def test_a_certificate_that_nobody_vouches_for_is_3(command_line: CommandLine, tmp_path: Path) -> None:
    certificate = create_authority(tmp_path / "tls", "localhost")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate.server_certificate, certificate.server_key)
    with serving(Endpoint(), tls) as endpoint:
        result = command_line.run("agent", "show", endpoint.url)
    assert result.code == 3
    assert "its certificate is not valid (unable" in result.errors


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let child processes be interrupted, also where the tests run in the background of a shell, which ignores it."""
    previous_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous_handler)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_it_quietly(endpoint: Endpoint) -> None:
    endpoint.gate.clear()
    with subprocess.Popen([*COMMAND, "agent", "show", endpoint.url], stderr=subprocess.PIPE, text=True) as process:
        release = threading.Timer(10, endpoint.gate.set)
        release.start()
        while not endpoint.requests:
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
        release.cancel()
    assert (process.returncode, errors) == (130, "agent-feedback: stopped\n")


def test_a_reader_that_leaves_is_no_failure() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [*COMMAND, "agent", "show", "-"]
    process = subprocess.run(
        command,
        input=b'{"_agentFeedback": {"v": 1}}',
        stdout=write_end,
        stderr=subprocess.PIPE,
        timeout=20,
        check=False,
    )
    os.close(write_end)
    assert (process.returncode, process.stderr) == (141, b"")


def test_a_command_imports_neither_the_exporter_nor_the_mcp_package() -> None:
    script = (
        "import sys; from agent_feedback.cli import main; main(['agent', 'show', '-', '--json']);"
        "print([name for name in sys.modules if name.split('.')[0] == 'mcp' or 'evidence' in name])"
    )
    process = subprocess.run(
        [sys.executable, "-c", script], input="{}", capture_output=True, text=True, timeout=20, check=True
    )
    assert process.stdout.endswith("}\n[]\n")


def test_without_the_package_mcp_the_server_says_what_to_install(
    command_line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "mcp"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "agent_feedback.cli.mcp_server", raising=False)
    result = command_line.run("agent", "mcp")
    assert result.code == 2
    assert "pip install 'agent-feedback[mcp]'" in result.errors
