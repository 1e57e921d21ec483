"""A collector of traces: an HTTP server that takes OTLP as protobuf."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass
class Collector:
    """The spans that have arrived, and the attributes of the resources that sent them."""

    url: str = ""
    spans: list[Span] = field(default_factory=list)
    resources: list[dict[str, str]] = field(default_factory=list)
    has_stopped: threading.Event = field(default_factory=threading.Event)
    """Once set, a request is taken and not answered until the collector ends."""
    is_ended: threading.Event = field(default_factory=threading.Event)
    unanswered: int = 0

    def receive(self, body: bytes) -> None:
        for resource_spans in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resources.append(
                {attribute.key: attribute.value.string_value for attribute in resource_spans.resource.attributes}
            )
            for scope_spans in resource_spans.scope_spans:
                self.spans += scope_spans.spans

    def trace(self, trace_id: str) -> list[Span]:
        """Return the spans of a trace."""
        return [span for span in self.spans if span.trace_id.hex() == trace_id]

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]


@contextmanager
def running_collector() -> Iterator[Collector]:
    """Run a collector on a port of its own."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the library's name
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if collector.has_stopped.is_set():
                collector.unanswered += 1
                collector.is_ended.wait()
                return
            assert self.path == "/v1/traces"
            collector.receive(body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        collector.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            collector.is_ended.set()
            server.shutdown()
            thread.join()
