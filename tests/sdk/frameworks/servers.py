"""Real servers of products, each a process of its own on a socket that the tests hold."""

import json
import os
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.sdk.endpoint import COMPANY_KEY, KEY

ROOT = Path(__file__).resolve().parents[3]
STOP_TIMEOUT_S = 20

GUNICORN = ["gunicorn", "--bind=fd://{fd}", "--log-level=warning", "--graceful-timeout=5"]
UVICORN = ["uvicorn", "--fd={fd}", "--log-level=warning", "--ws=wsproto"]


@dataclass(frozen=True)
class Product:
    """A product and the server that runs it."""

    name: str
    command: list[str]
    mount: str = ""
    options: dict[str, Any] = field(default_factory=dict)


PRODUCTS = [
    Product("flask", [*GUNICORN, "--workers=2", "--preload", "tests.sdk.frameworks.flask_site:app"]),
    Product(
        "django-wsgi", [*GUNICORN, "--worker-class=gthread", "--threads=8", "tests.sdk.frameworks.django_site:wsgi"]
    ),
    Product("django-asgi", [*UVICORN, "tests.sdk.frameworks.django_site:asgi"]),
    Product("fastapi", [*UVICORN, "tests.sdk.frameworks.fastapi_site:app"]),
    Product(
        "starlette",
        [*UVICORN, "--root-path=/shop", "tests.sdk.frameworks.starlette_site:app"],
        mount="/shop",
        options={"cache_mode": "request"},
    ),
]


class Server:
    """A product that runs; its socket listens before it does, so nobody needs to wait for it."""

    def __init__(self, product: Product, service_url: str, folder: Path) -> None:
        self.product, self.folder = product, folder
        listener = socket.create_server(("127.0.0.1", 0))
        listener.set_inheritable(True)
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        command = [part.replace("{fd}", str(listener.fileno())) for part in product.command]
        environment = {
            **os.environ,
            "AGENT_FEEDBACK_KEY": KEY,
            "AGENT_FEEDBACK_COMPANY_KEY": COMPANY_KEY,
            "AGENT_FEEDBACK_URL": service_url,
            "PRODUCT_FOLDER": str(folder),
            "PRODUCT_OPTIONS": json.dumps(product.options),
        }
        with (folder / f"{product.name}.log").open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *command],
                cwd=ROOT,
                env=environment,
                pass_fds=[listener.fileno()],
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        listener.close()

    def terminate(self) -> None:
        """Ask the server to stop."""
        if self._process.poll() is None:
            self._process.terminate()

    def wait(self) -> int:
        """Return the status of the server when it has stopped."""
        try:
            return self._process.wait(STOP_TIMEOUT_S)
        finally:
            self._process.kill()
