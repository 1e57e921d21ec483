"""A company's own agent, with the official client, at a real server."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from flask import Flask
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from werkzeug.serving import make_server

from tests.factories import bearer
from tests.reading.fixtures import Reader

__all__ = ["OwnAgent", "Reader"]


class OwnAgent:
    """Connects to the read server with a key."""

    def __init__(self, url: str, key: str) -> None:
        self.url, self.key = url, key

    @asynccontextmanager
    async def connect(self, **options: str) -> AsyncIterator[Client]:
        async with (
            httpx2.AsyncClient(headers=bearer(self.key), timeout=20) as http_client,
            Client(streamable_http_client(self.url, http_client=http_client), **options) as client,
        ):
            yield client


@pytest.fixture
def own_agent(app: Flask, reader: Reader) -> Iterator[OwnAgent]:
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield OwnAgent(f"http://127.0.0.1:{server.port}/mcp", reader.key)
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
