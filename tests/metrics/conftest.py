"""An app whose metrics may be read, on the database of the other tests."""

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from config.observability import MetricsAccess
from config.secret_rings import Secret
from config.settings import Settings
from tests.conftest import Servers, environment
from tests.metrics.scrape import PORT, TOKEN


@pytest.fixture
def open_app(app: Flask, settings: Settings) -> Iterator[Flask]:
    """An app with a port and a token, in whose context the test runs."""
    open_app = create_app(replace(settings, metrics=MetricsAccess(PORT, Secret(TOKEN))))
    with open_app.app_context():
        yield open_app
    open_app.extensions["database"].dispose()


@pytest.fixture
def settings_environ(servers: Servers, settings: Settings) -> dict[str, str]:
    """The environment of a process of the service."""
    return {**os.environ, **environment(servers, settings.database_url)}


@pytest.fixture
def open_client(open_app: Flask) -> FlaskClient:
    return open_app.test_client()
