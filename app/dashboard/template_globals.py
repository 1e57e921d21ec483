"""What every template can use, macros included."""

from collections.abc import Callable
from typing import Any

from flask.blueprints import BlueprintSetupState
from heroicons.jinja import heroicon_outline

from app.accounts.rules import may_change
from app.dashboard.charts import spark_points
from app.dashboard.figures import duration, percent, thousands
from app.dashboard.forms import form_token
from app.dashboard.labels import label
from app.dashboard.navigation import NAVIGATION, scope_endpoint
from app.dashboard.scope import DAY_CHOICES, current_scope, scoped_url

TEMPLATE_GLOBALS: dict[str, object | Callable[..., Any]] = {
    "NAVIGATION": NAVIGATION,
    "DAY_CHOICES": DAY_CHOICES,
    "current_scope": current_scope,
    "scoped_url": scoped_url,
    "scope_endpoint": scope_endpoint,
    "form_token": form_token,
    "may_change": may_change,
    "icon": heroicon_outline,
    "percent": percent,
    "thousands": thousands,
    "duration": duration,
    "spark_points": spark_points,
    "label": label,
}


def install(state: BlueprintSetupState) -> None:
    """Add them to the templates of an app."""
    state.app.jinja_env.globals.update(TEMPLATE_GLOBALS)
