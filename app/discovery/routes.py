"""HTTP endpoints of discovery and downloads."""

from typing import Any

from flask import Response

from app.core import clock
from app.core.errors import NotFound
from app.core.http.blueprint import Blueprint, cacheable
from app.core.settings import current_settings
from app.discovery import document, downloads
from app.discovery.schemas import DeprecatedDiscoverySchema, DiscoverySchema, ManifestSchema

CACHE_S = 300
BINARY = {"type": "string", "format": "binary"}
TEXT = {"type": "string"}

well_known = Blueprint("discovery", __name__, description="Where everything is.")
agent_texts = Blueprint("agent_texts", __name__, title="Texts for agents", description="What this is, for agents.")
sdk = Blueprint("sdk", __name__, title="SDK downloads", description="The SDKs and the protocol archive.")


@well_known.get("/agent-feedback-v1.json", operation_id="getDiscovery")
@well_known.response(200, DiscoverySchema, cache_s=CACHE_S)
def current() -> dict[str, Any]:
    """Describe the service: submission URLs, SDK downloads and guarantees.

    Programs that know nothing else of the service begin here. Caches may keep it for five minutes.
    """
    settings = current_settings()
    return document.current(settings.service_name, settings.feedback_url, downloads.paths())


@well_known.get("/agent-feedback.json", operation_id="getDeprecatedDiscovery")
@well_known.response(200, DeprecatedDiscoverySchema, cache_s=CACHE_S)
def deprecated() -> dict[str, Any]:
    """Point to the current document. Deprecated.

    Programs of the first days look here; it names the address that replaces it.
    """
    settings = current_settings()
    return document.deprecated(settings.service_name, settings.feedback_url)


@well_known.get("/security.txt", operation_id="getSecurityContact")
@well_known.response(200, TEXT, content_type="text/plain", cache_s=CACHE_S, errors=(404,))
def security() -> Response:
    """Say where a vulnerability is reported (RFC 9116).

    404 where the operator has named no contact, since the file must not be there without one.
    """
    settings = current_settings()
    if settings.security_contact is None:
        raise NotFound
    text = document.security(settings.security_contact, settings.security_policy, settings.feedback_url, clock.now())
    return cacheable(Response(text, mimetype="text/plain"), CACHE_S)


@agent_texts.get("/llms.txt", operation_id="getLlmsText")
@agent_texts.response(200, TEXT, content_type="text/plain", cache_s=CACHE_S)
def llms() -> Response:
    """Say what this service is, for agents (llmstxt.org).

    Markdown with links to the discovery document, the API description and the downloads.
    """
    settings = current_settings()
    text = document.llms(settings.service_name, settings.feedback_url, settings.app_url, downloads.paths())
    return cacheable(Response(text, mimetype="text/plain"), CACHE_S)


@sdk.get("/manifest.json", operation_id="getManifest")
@sdk.response(200, ManifestSchema, cache_s=CACHE_S)
def manifest() -> dict[str, Any]:
    """List the downloads with their SHA-256 sums.

    A build that pins a download compares its sum with this.
    """
    return {"files": downloads.manifest()}


@sdk.get("/<name>", operation_id="downloadSdk")
@sdk.response(200, BINARY, content_type="application/octet-stream", errors=(404,))
def download(name: str) -> Response:
    """Download an SDK or the protocol archive.

    The manifest lists the names. The same release always has the same bytes.
    """
    file = downloads.get_download(name)
    response = Response(file.content, mimetype="application/octet-stream")
    response.headers["Content-Disposition"] = f'attachment; filename="{file.name}"'
    return cacheable(response, CACHE_S)
