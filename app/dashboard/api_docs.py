"""The page that shows the API description: Swagger UI, whose own page has an inline script and links made from Host."""

from pathlib import Path

import flask_swagger_ui

from app.core.settings import current_settings
from app.dashboard.pages import CONTENT_POLICY, Page, PageBlueprint

FILES = Path(flask_swagger_ui.__file__).with_name("dist")

docs = PageBlueprint("docs", has_forms=False, static_folder=FILES, static_url_path="")


@docs.page("/", "docs/page.html")
def show_docs() -> Page:
    """Show the API description."""
    # The icons of Swagger UI are data URLs in its style sheet; requests go to the server that the description names.
    policy = f"{CONTENT_POLICY}; img-src 'self' data:; connect-src 'self' {current_settings().feedback_url}"
    return Page({}, headers={"Content-Security-Policy": policy})
