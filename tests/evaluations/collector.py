"""An OpenTelemetry collector: a real OTLP/HTTP receiver that decodes what it is sent."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse


@dataclass
class Collector:
    """Where a collector listens, what it was sent, and what it answers."""

    url: str = ""
    status: int = 200
    bad_ids: set[str] = field(default_factory=set)
    """Interactions whose reviews it refuses with a 400."""
    paths: list[str] = field(default_factory=list)
    requests: list[ExportLogsServiceRequest] = field(default_factory=list)
    """Only those that it took."""

    def records(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the name and the attributes of every record."""
        return _records(self.requests)


def _records(requests: list[ExportLogsServiceRequest]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (record.event_name, {pair.key: _value(pair.value) for pair in record.attributes})
        for request in requests
        for resource in request.resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]


def _value(value: Any) -> Any:
    return getattr(value, value.WhichOneof("value"))


@contextmanager
def running_collector(port: int = 0) -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.paths.append(self.path)
            request, status = ExportLogsServiceRequest.FromString(body), collector.status
            if any(attributes["gen_ai.response.id"] in collector.bad_ids for _, attributes in _records([request])):
                status = 400
            if status == 200:
                collector.requests.append(request)
            content = ExportLogsServiceResponse().SerializeToString()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        collector.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()
