"""Pages that name an interaction and no environment are shown in the environment that has it."""

import uuid

from flask import redirect, request
from werkzeug.wrappers import Response

from app.dashboard.scope import ENVIRONMENT, Scope, environment_url
from app.interactions.queries import find_environment_of


def redirect_to_environment(scope: Scope, interaction_id: uuid.UUID) -> Response | None:
    """Return a redirect to another environment of the workspace that has an interaction.

    None where the address names an environment, or no other one has the interaction.
    """
    if ENVIRONMENT in request.args:
        return None
    environment_ids = [environment.id for entry in scope.products for environment in entry.environments]
    environment_id = find_environment_of(environment_ids, interaction_id)
    if environment_id in (None, scope.environment.id) or request.endpoint is None:
        return None
    return redirect(environment_url(request.endpoint, environment_id, **(request.view_args or {})), 302)
