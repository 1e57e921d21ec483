"""The set-up page: how a product is connected, and whether telemetry and reviews arrive."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import request

from app.core.settings import current_settings
from app.dashboard.delivery import delivery_variables
from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope
from app.discovery import downloads
from app.interactions.queries import find_newest_telemetry_at
from app.outcomes.queries import find_newest_review_at
from app.products.queries import KeyItem, list_keys
from app.products.rules import KeyKind, KeyState
from app.telemetry.queries import find_oldest_batch_at

FRAMEWORKS = {
    "flask": "Flask",
    "django": "Django",
    "fastapi": "FastAPI",
    "mcp": "MCP server",
    "express": "Express",
    "curl": "Other (curl)",
}
NODE_FRAMEWORKS = ("express",)
DEFAULT_FRAMEWORK = "flask"

MAX_KEYS = 20
"""The newest product keys, which the check looks at."""

STOP_POLLING = 286
"""The status by which htmx asks no more."""

set_up = PageBlueprint("set_up", has_scope=True)


@dataclass(frozen=True, slots=True)
class Check:
    """What has arrived from the product of an environment so far."""

    keys: list[KeyItem]
    """The newest product keys."""
    telemetry_at: datetime | None
    waiting_since: datetime | None
    """Since when a batch waits for the job that stores its events."""
    review_at: datetime | None

    @property
    def usable_keys(self) -> list[KeyItem]:
        """The keys that are accepted."""
        return [key for key in self.keys if key.state in (KeyState.ACTIVE, KeyState.EXPIRING)]

    @property
    def last_used_at(self) -> datetime | None:
        """When a key was last accepted."""
        return max((key.last_used_at for key in self.keys if key.last_used_at), default=None)

    @property
    def refused_keys(self) -> list[KeyItem]:
        """Keys that a system still sends although they have ended, and since another was last accepted."""
        last_used_at = self.last_used_at
        return [key for key in self.keys if key.refused_at and (not last_used_at or key.refused_at > last_used_at)]

    @property
    def is_complete(self) -> bool:
        """Whether telemetry and a review have arrived."""
        return self.telemetry_at is not None and self.review_at is not None


@set_up.page("", "set_up/page.html")
def show_guide(scope: Scope) -> Page:
    """Show how the product is connected, for one framework."""
    name = request.args.get("framework", DEFAULT_FRAMEWORK)
    framework = name if name in FRAMEWORKS else DEFAULT_FRAMEWORK
    settings = current_settings()
    variables = {
        "frameworks": FRAMEWORKS,
        "framework": framework,
        "endpoint": settings.feedback_url,
        "install_command": _install_command(framework, settings.feedback_url),
        "mode": scope.environment.mode,
        "interaction_id": uuid.uuid4(),
    }
    return Page({**variables, **_check(scope.environment.id), **delivery_variables(scope)})


def _install_command(framework: str, endpoint: str) -> str:
    """Return the command that installs the SDK for a framework."""
    if framework in NODE_FRAMEWORKS:
        return f"npm install {endpoint}{downloads.paths()['node']}"
    return f"pip install {endpoint}{downloads.paths()['python']}"


@set_up.page("/check", "set_up/check.html")
def show_check(scope: Scope) -> Page:
    """Show the check alone, which htmx puts in the place of the old one until it is complete."""
    variables = _check(scope.environment.id)
    return Page(variables, STOP_POLLING if variables["check"].is_complete else 200)


def _check(environment_id: uuid.UUID) -> dict[str, Any]:
    check = Check(
        list_keys(environment_id, MAX_KEYS, filters={"kind": KeyKind.PRODUCT}),
        find_newest_telemetry_at(environment_id),
        find_oldest_batch_at(environment_id),
        find_newest_review_at(environment_id),
    )
    return {"check": check, "endpoint": current_settings().feedback_url}
