"""What row-level security would add to a prepared statement: python -m bench.row_security."""

import statistics
import tempfile
import uuid
from contextlib import closing
from pathlib import Path
from shutil import rmtree

import psutil
import psycopg2
from psycopg2.extras import register_uuid

from app.cli.dev.postgres import SERVICE, EmbeddedPostgres
from app.cli.dev.server_process import socket_folder
from bench.measure import own_cpu_s

RUNS = 7
STATEMENTS = 4_000
TABLES = f"""
    CREATE TABLE plain (environment_id uuid, id uuid, note text, PRIMARY KEY (environment_id, id));
    CREATE TABLE secured (LIKE plain INCLUDING ALL);
    ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
    CREATE POLICY tenant ON secured USING (environment_id = current_setting('app.environment_id')::uuid);
    GRANT ALL ON plain, secured TO {SERVICE}
"""
NOTE = "x" * 200


def main() -> None:
    """Measure in turns, and print processor time of client and server for a statement, the middle of all runs."""
    sockets = socket_folder()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        postgres = EmbeddedPostgres(Path(folder) / "postgres", sockets, Path(folder) / "log", is_durable=False)
        postgres.start()
        try:
            with closing(psycopg2.connect(postgres.url())) as connection:
                connection.cursor().execute(TABLES)
                connection.commit()
            url = postgres.url("postgres", SERVICE)
            rounds = [(_measure(url, "plain", ""), _measure(url, "secured", _SET)) for _ in range(RUNS)]
        finally:
            postgres.stop()
            rmtree(sockets)
    for number, name in enumerate(("insert", "select")):
        plain, secured = (statistics.median(entry[kind][number] for entry in rounds) for kind in (0, 1))
        print(f"{name}: {plain:.1f} us, with row-level security {secured:.1f} us, added {secured - plain:.1f} us")


# In the same message as the statement, so that it costs no round trip.
_SET = "SELECT set_config('app.environment_id', %s, false);"


def _measure(url: str, table: str, prefix: str) -> tuple[float, float]:
    """Return processor microseconds of an insert and of a select."""
    environment_id = uuid.uuid4()
    values = (str(environment_id),) if prefix else ()
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        register_uuid(conn_or_curs=connection)
        cursor.execute(f"PREPARE store AS INSERT INTO {table} VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING id")
        cursor.execute(f"PREPARE find AS SELECT note FROM {table} WHERE environment_id = $1 AND id = $2")
        server = psutil.Process(connection.info.backend_pid)
        ids = [uuid.uuid4() for _ in range(STATEMENTS)]
        times = [_cpu_s(server)]
        for id_ in ids:
            cursor.execute(f"{prefix}EXECUTE store (%s, %s, %s)", (*values, environment_id, id_, NOTE))
            cursor.fetchall()
        times.append(_cpu_s(server))
        for id_ in ids:
            cursor.execute(f"{prefix}EXECUTE find (%s, %s)", (*values, environment_id, id_))
            cursor.fetchall()
        times.append(_cpu_s(server))
    return (times[1] - times[0]) / STATEMENTS * 1e6, (times[2] - times[1]) / STATEMENTS * 1e6


def _cpu_s(server: psutil.Process) -> float:
    spent = server.cpu_times()
    return spent.user + spent.system + own_cpu_s()


if __name__ == "__main__":
    main()
