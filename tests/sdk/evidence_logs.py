"""Log lines of several servers, and the command that reads them."""

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.sdk.evidence_service import KEY

TIMESTAMP = "2026-11-20T10:11:12.000Z"
EPOCH = 1_795_169_472

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
GPTBOT = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
BINGBOT = (
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) "
    "Chrome/131.0.0.0 Safari/537.36"
)
CHATGPT = "https://chatgpt.com/"


def combined_line(
    user_agent: str = GPTBOT,
    referrer: str = "-",
    *,
    at: int = EPOCH,
    method: str = "GET",
    status: int = 200,
    address: str = "20.171.206.9",
    path: str = "/private/report-7?customer=jane",
) -> str:
    """Return a line of nginx or Apache."""
    time_local = datetime.fromtimestamp(at, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
    return f'{address} - - [{time_local}] "{method} {path} HTTP/1.1" {status} 512 "{referrer}" "{user_agent}"\n'


def nginx_json(user_agent: str = GPTBOT, referrer: str = "", **fields: Any) -> str:
    """Return a line of nginx with the names of its variables."""
    return _line(
        {
            "time_iso8601": "2026-11-20T11:11:12+01:00",
            "remote_addr": "20.171.206.9",
            "request": "GET /private/report-7?customer=jane HTTP/1.1",
            "status": "200",
            "body_bytes_sent": "512",
            "http_referer": referrer,
            "http_user_agent": user_agent,
            **fields,
        }
    )


def caddy(user_agent: str = GPTBOT, referrer: str = "", **fields: Any) -> str:
    """Return a line of Caddy 2."""
    headers = {"User-Agent": [user_agent], "Accept": ["*/*"], **({"Referer": [referrer]} if referrer else {})}
    request = {
        "remote_ip": "10.0.0.1",
        "remote_port": "41342",
        "client_ip": "20.171.206.9",
        "proto": "HTTP/2.0",
        "method": "GET",
        "host": "shop.example.com",
        "uri": "/private/report-7?customer=jane",
        "headers": headers,
    }
    return _line(
        {
            "level": "info",
            "ts": float(EPOCH),
            "logger": "http.log.access.log0",
            "msg": "handled request",
            "request": request,
            "bytes_read": 0,
            "user_id": "",
            "duration": 0.000929675,
            "size": 512,
            "status": 200,
            "resp_headers": {"Server": ["Caddy"]},
            **fields,
        }
    )


def cloudflare(user_agent: str = GPTBOT, referrer: str = "", **fields: Any) -> str:
    """Return a line of Logpush."""
    return _line(
        {
            "ClientIP": "20.171.206.9",
            "ClientRequestHost": "shop.example.com",
            "ClientRequestMethod": "GET",
            "ClientRequestReferer": referrer,
            "ClientRequestURI": "/private/report-7?customer=jane",
            "ClientRequestUserAgent": user_agent,
            "EdgeResponseStatus": 200,
            "EdgeStartTimestamp": "2026-11-20T10:11:12Z",
            "RayID": "8f0b1c2d3e4f5a6b",
            **fields,
        }
    )


def fastly(user_agent: str = GPTBOT, referrer: str = "", **fields: Any) -> str:
    """Return a line in the form that Fastly documents."""
    return _line(
        {
            "timestamp": "2026-11-20T10:11:12+0000",
            "client_ip": "20.171.206.9",
            "geo_country": "united states",
            "host": "shop.example.com",
            "url": "/private/report-7?customer=jane",
            "request_method": "GET",
            "request_protocol": "HTTP/1.1",
            "request_referer": referrer,
            "request_user_agent": user_agent,
            "response_state": "HIT",
            "response_status": 200,
            **fields,
        }
    )


CLOUDFRONT_HEAD = (
    "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status "
    "cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id\n"
)


def cloudfront(user_agent: str = GPTBOT, referrer: str = "-") -> str:
    """Return a line of CloudFront, which encodes user agents."""
    user_agent_field = user_agent.replace("%", "%25").replace(" ", "%20")
    columns = "2026-11-20\t10:11:12\tIAD89-C3\t335\t20.171.206.9\tGET\td1.cloudfront.net\t/private/report-7\t200"
    return f"{columns}\t{referrer}\t{user_agent_field}\tcustomer=jane\t-\tHit\t2kP01Cgw2cMXMKlogaJwkCt7MVHA8Flx==\n"


def _line(content: dict[str, Any]) -> str:
    return json.dumps(content) + "\n"


def environ(url: str) -> dict[str, str]:
    """Return the environment of the command."""
    return {**os.environ, "AGENT_FEEDBACK_URL": url, "AGENT_FEEDBACK_COMPANY_KEY": KEY}


def command(folder: Path, *arguments: str | Path) -> list[str]:
    """Return the command with its checkpoint in a folder of the test."""
    ship_command = [sys.executable, "-W", "error", "-m", "agent_feedback", "evidence", "ship"]
    return [*ship_command, "--checkpoint", str(folder / "state" / "evidence.json"), *map(str, arguments)]


def ship(url: str, folder: Path, *arguments: str | Path, code: int = 0) -> "subprocess.CompletedProcess[str]":
    """Run the command to its end."""
    result = subprocess.run(
        command(folder, *arguments), env=environ(url), capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    return result


def write(path: Path, *lines: str | bytes) -> Path:
    """Append lines to a log."""
    with path.open("ab") as file:
        file.writelines(line.encode() if isinstance(line, str) else line for line in lines)
    return path


def wait_for_follower() -> None:
    """Wait long enough for a follower to poll the logs several times."""
    time.sleep(0.6)
