"""What gunicorn and the flask command load."""

import sys

from app import WEB_TIMEOUTS, WORKER_TIMEOUTS, cli, create_app
from config.settings import settings_or_exit

if cli.needs_no_settings(sys.argv):
    app = cli.app_without_settings()
else:
    serves_http = not cli.runs_command(sys.argv)
    timeouts = WEB_TIMEOUTS if serves_http else WORKER_TIMEOUTS
    app = create_app(settings_or_exit(), timeouts=timeouts, serves_http=serves_http)
