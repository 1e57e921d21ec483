"""Health over HTTP, for the platform that runs the service."""

from flask import Response

from app.core.http.blueprint import Blueprint
from app.core.wire.serialization import dumps
from app.health import service
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
    """Tell whether database, migrations and broker are there.

    A platform sends requests to this process while the answer is 200.
    """
    found = service.check()
    body = {
        "status": found.status,
        "database": found.database,
        "migrations": found.migrations,
        "broker": found.broker,
    }
    return _answer(body, 200 if found.status == "ready" else 503)


def _answer(body: dict[str, object], status: int) -> Response:
    return Response(dumps(body), status, mimetype="application/json", headers={"Cache-Control": "no-store"})
