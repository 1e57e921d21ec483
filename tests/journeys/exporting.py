"""The exporter as a command beside a log, and the summary as its owner sees it."""

import os
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from app.core.jobs import Job
from tests.conftest import ROOT
from tests.journeys.stack import BIN, Stack, wait_until
from tests.journeys.visited import Counts
from tests.journeys.visitors import RANGES

SOURCE_ID = "journey-source-8843"

LISTS = (
    *("byActorProvider", "byFetchClass", "byEvidenceTier"),
    *("byReferralProvider", "byNetworkEvidenceMethod"),
)


@dataclass
class Owner:
    """Who runs the exporter and looks at the counts, in an environment of their own."""

    stack: Stack
    folder: Path
    environment_id: str
    key: str
    browser: requests.Session
    output_lines: list[str] = field(default_factory=list)
    """What the exporter has printed."""

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "AGENT_FEEDBACK_URL": self.stack.url,
            "AGENT_FEEDBACK_COMPANY_KEY": self.key,
            "STATE_DIRECTORY": str(self.folder / "state"),
        }

    @property
    def checkpoint(self) -> Path:
        return self.folder / "state" / "evidence.json"

    def command(self, *arguments: str | Path) -> list[str]:
        ranges = [f"--published-ranges={name}={self.folder / name}.json" for name in RANGES]
        return [
            str(BIN / "agent-feedback"),
            "evidence",
            "ship",
            *ranges,
            "--source-id",
            SOURCE_ID,
            *map(str, arguments),
        ]

    def ship(self, *arguments: str | Path, **environ: str) -> str:
        """Run the exporter to its end; return its last line, which says how much it has read and sent."""
        process = subprocess.run(
            self.command(*arguments),
            env={**self.environ, **environ},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert process.returncode == 0, process.stderr
        self.output_lines.append(process.stdout + process.stderr)
        return process.stdout + process.stderr.splitlines()[-1]

    def summary(self) -> Any:
        path = f"/api/products/{self.stack.company.product_id}/evidence/http-requests/summary"
        response = self.browser.get(self.stack.url + path, params={"environmentId": self.environment_id}, timeout=10)
        assert response.status_code == 200
        return response.json()

    def counts(self) -> Counts:
        """Return the summary in the shape of what was counted by hand."""
        summary = self.summary()
        counts = {name: Counter({entry["name"]: entry["count"] for entry in summary[name]}) for name in LISTS}
        counts["totals"] = Counter(summary["totals"])
        for name in ("fetches", "referrals"):
            counts[name] = Counter({day["date"]: day[name] for day in summary["daily"] if day[name]})
        return {name: counter for name, counter in counts.items() if counter}

    def count_waiting(self) -> int:
        """Return how many changes are not in the day counts yet."""
        statement = "SELECT count(*) FROM evidence_changes WHERE environment_id = %s"
        return int(self.stack.value(statement, self.environment_id))

    def roll_up(self) -> None:
        """Send the job as beat does, and wait until the worker has done it."""
        assert self.count_waiting()
        call = [BIN / "celery", "--quiet", "--app", "workers.celery", "call", Job.ROLL_UP_EVIDENCE.value]
        subprocess.run(call, env=self.stack.environ, cwd=ROOT, check=True, capture_output=True, timeout=60)
        wait_until(lambda: not self.count_waiting(), 60)
