"""The settings of the running app."""

from flask import current_app

from config.settings import Settings


def current_settings() -> Settings:
    """Return the settings of the current app."""
    settings: Settings = current_app.extensions["settings"]
    return settings
