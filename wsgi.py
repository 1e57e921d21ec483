"""What gunicorn and the flask command load."""

import sys

from app import cli, create_app
from config.settings import settings_or_exit

app = cli.help_app() if cli.asks_for_help(sys.argv) else create_app(settings_or_exit())
