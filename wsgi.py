"""What gunicorn and the flask command load."""

from app import create_app
from config.settings import Settings

app = create_app(Settings.from_env())
