"""What a person sees, and what a log of cron does not."""

import gzip
import os
import pty
import subprocess
from pathlib import Path

from tests.sdk.evidence_logs import BINGBOT, combined, command, environ, ship, write
from tests.sdk.evidence_service import Service


def on_terminal(service: Service, folder: Path, *arguments: Path) -> str:
    """Run the command with its complaints on a terminal and return what it shows there."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command(folder, *arguments), env=environ(service.url), stderr=theirs) as process:
        os.close(theirs)
        output = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # the terminal's other end is closed
                break
            if not chunk:
                break
            output += chunk
        assert process.wait(20) == 0
    os.close(ours)
    return output.decode()


def test_a_terminal_shows_a_bar_and_a_file_does_not(service: Service, tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", *[combined(at=number) for number in range(12_000)])
    output = on_terminal(service, tmp_path, log)
    assert "[#" in output
    assert "% [" in output
    # The bar is gone before the last word.
    assert output.rstrip().rpartition("\x1b[K")[2].startswith("agent-feedback: 12000 lines")
    result = ship(service.url, tmp_path / "other", log)
    assert "\r" not in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_packed_log_that_was_sent_is_not_unpacked_again(service: Service, tmp_path: Path) -> None:
    packed = tmp_path / "access.log.2.gz"
    packed.write_bytes(gzip.compress(combined().encode() * 40_000, 0))
    ship(service.url, tmp_path, packed)
    content = packed.read_bytes()
    # Whoever unpacks it to its end now finds the sum wrong.
    packed.write_bytes(content[:-8] + b"\xff" * 8)
    ship(service.url, tmp_path, packed)
    packed.write_bytes(content + gzip.compress(combined(BINGBOT).encode()))
    ship(service.url, tmp_path, packed)
    assert service.tokens == {"GPTBot": 40_000, "bingbot": 1}
