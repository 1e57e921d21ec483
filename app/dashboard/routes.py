"""Pages for people."""

from flask import Blueprint

blp = Blueprint("dashboard", __name__, template_folder="templates", static_folder="static", static_url_path="/static")
