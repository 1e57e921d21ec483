"""What gunicorn and the flask command load."""

from app import create_app
from config.settings import settings_or_exit

app = create_app(settings_or_exit())
