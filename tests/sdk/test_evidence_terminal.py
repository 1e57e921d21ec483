"""What a person sees, and what a log of cron does not."""

import gzip
import os
import pty
import subprocess
from pathlib import Path

from tests.sdk.evidence_logs import BINGBOT, combined_line, command, environ, ship, write
from tests.sdk.evidence_service import Service


def on_terminal(service: Service, folder: Path, *arguments: Path) -> str:
    """Run the command with its complaints on a terminal and return what it shows there."""
    parent_end, child_end = pty.openpty()
    with subprocess.Popen(command(folder, *arguments), env=environ(service.url), stderr=child_end) as process:
        os.close(child_end)
        output = b""
        while True:
            try:
                chunk = os.read(parent_end, 65536)
            except OSError:  # the terminal's other end is closed
                break
            if not chunk:
                break
            output += chunk
        assert process.wait(20) == 0
    os.close(parent_end)
    return output.decode()


def test_a_terminal_shows_a_bar_and_a_file_does_not(service: Service, tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", *[combined_line(at=number) for number in range(12_000)])
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
    archive = tmp_path / "access.log.2.gz"
    archive.write_bytes(gzip.compress(combined_line().encode() * 40_000, 0))
    ship(service.url, tmp_path, archive)
    content = archive.read_bytes()
    # Whoever unpacks it to its end now finds the sum wrong.
    archive.write_bytes(content[:-8] + b"\xff" * 8)
    ship(service.url, tmp_path, archive)
    archive.write_bytes(content + gzip.compress(combined_line(BINGBOT).encode()))
    ship(service.url, tmp_path, archive)
    assert service.tokens == {"GPTBot": 40_000, "bingbot": 1}
