"""The HTTP endpoint of metrics, which is there only where a setting opens it, and not part of the API description."""

from flask import Blueprint, Response

from app.metrics import service
from app.metrics.guards import PATH

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

blp = Blueprint("metrics", __name__)


@blp.get(PATH)
def show_metrics() -> Response:
    """Return every metric in Prometheus' text format."""
    return Response(service.collect(), content_type=CONTENT_TYPE, headers={"Cache-Control": "no-store"})
