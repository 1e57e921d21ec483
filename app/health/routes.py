"""HTTP endpoints of health, for the platform that runs the service."""

from flask import Response

from app.core.http.blueprint import Blueprint
from app.core.wire.serialization import dumps
from app.health import service
from app.health.rules import ProcessStatus
from app.health.schemas import AliveSchema, ReadySchema

blp = Blueprint("health", __name__, description="For the platform that runs the service.")


@blp.get("/healthz", operation_id="getLiveness")
@blp.response(200, AliveSchema)
def alive() -> Response:
    """Tell that this process answers.

    It asks neither the database nor the broker.
    """
    return _answer({"status": "alive"}, 200)


@blp.get("/readyz", operation_id="getReadiness")
@blp.response(200, ReadySchema)
@blp.alt_response(503, schema=ReadySchema, description="Something is missing.")
def ready() -> Response:
    """Tell whether database, migrations and broker are there, and whether worker and beat were seen lately.

    A platform sends requests to this process while the answer is 200.
    """
    readiness = service.check()
    return _answer(_body(readiness), 200 if readiness.is_ready else 503)


def _body(readiness: service.Readiness) -> dict[str, object]:
    processes = readiness.processes
    sentences = {"error": readiness.error, "warning": readiness.warning}
    return {
        "status": "ready" if readiness.is_ready else "not_ready",
        "database": readiness.database,
        "migrations": readiness.migrations,
        "broker": readiness.broker,
        "worker": _process(processes.worker) if processes else None,
        "beat": _process(processes.beat) if processes else None,
        **{name: sentence for name, sentence in sentences.items() if sentence},
    }


def _process(status: ProcessStatus) -> dict[str, object]:
    return {"running": status.is_running, "lastSeenAt": status.seen_at}


def _answer(body: dict[str, object], status: int) -> Response:
    return Response(dumps(body), status, mimetype="application/json", headers={"Cache-Control": "no-store"})
