"""Discovery and downloads over HTTP."""

from typing import Any

from flask import Response

from app.core.http.blueprint import Blueprint, cacheable
from app.core.settings import current_settings
from app.discovery import document, downloads
from app.discovery.schemas import DeprecatedDiscoverySchema, DiscoverySchema, ManifestSchema

CACHE_S = 300

well_known = Blueprint("discovery", __name__, description="Where everything is.")
sdk = Blueprint("sdk", __name__, description="The SDKs and the protocol archive.")


@well_known.get("/agent-feedback-v1.json")
@well_known.response(200, DiscoverySchema, cache_s=CACHE_S)
def current() -> dict[str, Any]:
    """Describe the service: submission URLs, SDK downloads and guarantees."""
    settings = current_settings()
    return document.current(settings.service_name, settings.feedback_url, downloads.paths())


@well_known.get("/agent-feedback.json")
@well_known.response(200, DeprecatedDiscoverySchema, cache_s=CACHE_S)
def deprecated() -> dict[str, Any]:
    """Point to the current document. Deprecated."""
    settings = current_settings()
    return document.deprecated(settings.service_name, settings.feedback_url)


@sdk.get("/manifest.json")
@sdk.response(200, ManifestSchema, cache_s=CACHE_S)
def manifest() -> dict[str, Any]:
    """List the downloads with their SHA-256 sums."""
    return {"files": downloads.manifest()}


@sdk.get("/<name>")
@sdk.response(200, errors=(404,))
def download(name: str) -> Response:
    """Download an SDK or the protocol archive."""
    file = downloads.get_download(name)
    response = Response(file.content, mimetype="application/octet-stream")
    response.headers["Content-Disposition"] = f'attachment; filename="{file.name}"'
    return cacheable(response, CACHE_S)
