"""What gunicorn and the flask command load."""

import sys

from app import cli, create_app
from config.settings import settings_or_exit

if cli.asks_for_help(sys.argv):
    app = cli.help_app()
else:
    app = create_app(settings_or_exit(), serves_http=not cli.runs_command(sys.argv))
