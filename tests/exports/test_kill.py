"""An export that is killed is continued by the same command."""

import json
import signal
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from flask import Flask
from sqlalchemy import text

from app.core.database import session, transaction
from config.settings import Settings
from tests.conftest import ROOT, Servers, environment
from tests.factories import Company
from tests.journeys.stack import BIN, wait_until

ROWS = 30_000

FILL = text("""
    INSERT INTO interactions (environment_id, id, received_at, surface, operation, classification)
    SELECT :environment_id, gen_random_uuid(), now() - interval '1 hour' - (number / 7) * interval '1 second',
           'http_json', '/orders', 'unclassified'
    FROM generate_series(1, :rows) AS number
""")


def exported_ids(folder: Path, format_: str) -> list[str]:
    """Return the ids of the exported interactions, in the order of their files."""
    if format_ == "parquet":
        paths = sorted(folder.glob("interactions*.parquet"), key=lambda path: (len(path.name), path.name))
        return [id_ for path in paths for id_ in pq.read_table(path).column("interactionId").to_pylist()]
    lines = (folder / "interactions.ndjson").read_text().splitlines()
    return [json.loads(line)["interactionId"] for line in lines]


@pytest.mark.parametrize("format_", ["ndjson", "parquet"])
def test_an_export_that_is_killed_goes_on_without_gap_or_repetition(
    app: Flask, settings: Settings, servers: Servers, company: Company, tmp_path: Path, format_: str
) -> None:
    with transaction():
        values = {"environment_id": company.environment_id, "rows": ROWS}
        session().execute(FILL, values)
    folder = tmp_path / "export"
    command = [BIN / "flask", "export", "--environment", str(company.environment_id), "--format", format_]
    environ = {"PATH": "/usr/bin:/bin", **environment(servers, settings.database_url)}

    def export() -> "subprocess.Popen[str]":
        return subprocess.Popen([*command, "--to", folder], cwd=ROOT, env=environ, text=True, stdout=subprocess.PIPE)

    with export() as process:
        wait_until(lambda: any(path.stat().st_size > 4 for path in folder.glob("interactions.*")), 60)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    with export() as process:
        output, _ = process.communicate(timeout=120)
    assert (process.returncode, output.startswith("Exported ")) == (0, True)
    with transaction():
        query = text(
            "SELECT id::text FROM interactions WHERE environment_id = :environment_id ORDER BY received_at, id"
        )
        assert exported_ids(folder, format_) == list(session().scalars(query, values))
