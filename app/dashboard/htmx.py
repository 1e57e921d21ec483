"""The file of htmx, which replaces parts of a page in place; its package for Django has nothing else."""

from pathlib import Path

import js_lib_htmx
from flask import Blueprint

FILES = Path(js_lib_htmx.__file__).parent / "static" / "htmx"

htmx = Blueprint("htmx", __name__, static_folder=FILES, static_url_path="")
