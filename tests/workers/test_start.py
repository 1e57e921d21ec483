"""Worker and beat where the servers cannot be reached."""

import json
import os
import subprocess
import sys

import pytest

from app.cli.dev.supervisor import read_procfile
from tests.conftest import ROOT, Servers, environment
from tests.journeys.stack import BIN

DATABASE_URL, BROKER_URL = "postgresql://nobody:secret@127.0.0.1:1/x", "redis://:secret@127.0.0.1:2/0"

SENTENCES = [
    "PostgreSQL at 127.0.0.1:1 refuses connections; is DATABASE_URL right?",
    "Redis at 127.0.0.1:2 refuses connections; is REDIS_URL right?",
]


# Beat needs no database.
@pytest.mark.parametrize(("name", "sentences"), [("worker", SENTENCES), ("beat", SENTENCES[1:])])
def test_a_wrong_url_is_a_sentence_in_the_log(name: str, sentences: list[str]) -> None:
    command = read_procfile(ROOT / "Procfile")[name]
    environ = {**os.environ, **environment(Servers("", BROKER_URL), DATABASE_URL), "AGENT_FEEDBACK_LOG_LEVEL": "INFO"}
    command_line = ["timeout", "60", BIN / command[0], *command[1:]]
    with subprocess.Popen(command_line, env=environ, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        lines = []
        for line in process.stderr:
            lines.append(line)
            if SENTENCES[-1] in line:
                break
        process.terminate()
    messages = [json.loads(line)["message"] for line in lines if line.startswith("{")]
    assert [message for message in messages if message.startswith(("PostgreSQL", "Redis"))] == sentences
    assert not any("Traceback" in line for line in lines)


def test_beat_loads_neither_the_app_nor_a_database_driver() -> None:
    program = "import sys, workers.beat; print({'app', 'flask', 'sqlalchemy', 'psycopg2'} & set(sys.modules))"
    environ = {**os.environ, **environment(Servers("", BROKER_URL), DATABASE_URL)}
    result = subprocess.run(
        [sys.executable, "-c", program], env=environ, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert result.stdout.strip() == "set()"
