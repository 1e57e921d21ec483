"""One attempt, against servers that behave in every way."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from app.webhooks import sender
from app.webhooks.sender import Attempt, Request, send
from tests.certificates import Authority, create_authority
from tests.webhooks.receiver import running_receiver

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

Serve = Callable[[socket.socket], None]


def request(url: str, *, allows_private: bool = True) -> Request:
    return Request(url, {"Content-Type": "application/json"}, b"{}", allows_private)


def attempt(url: str, *, allows_private: bool = True) -> tuple[int | None, str | None]:
    """Return status and error of an attempt."""
    result: Attempt = send(request(url, allows_private=allows_private))
    assert result.duration_ms >= 0
    return result.status, result.error


@contextmanager
def server(serve: Serve) -> Iterator[int]:
    """Serve connections one after another; yields the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client = listener.accept()[0]
                    with client, suppress(OSError):
                        serve(client)

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]


def receive(client: socket.socket) -> bytes:
    """Return a whole request: who closes before its body has arrived may lose the answer."""
    content = b""
    while not content.endswith(b"\r\n\r\n{}") and (part := client.recv(65_536)):
        content += part
    return content


def answer(content: bytes) -> Serve:
    def serve(client: socket.socket) -> None:
        receive(client)
        client.sendall(content)

    return serve


class Dns:
    """Resolves names to the answers in order, the last one for ever; addresses are themselves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
        self._answers = list(answers)
        self._resolve = socket.getaddrinfo
        self.lookups: list[str] = []
        monkeypatch.setattr(socket, "getaddrinfo", self._look_up)

    def _look_up(self, host: str, port: int, *arguments: Any, **options: Any) -> Any:
        if not host.endswith(".example"):
            return self._resolve(host, port, *arguments, **options)
        self.lookups.append(host)
        address = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return self._resolve(address, port, *arguments, **options)


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Authority]:
    """An authority that this machine trusts, with a certificate of receiver.example."""
    authority = create_authority(tmp_path / "authority", "receiver.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    sender._tls.cache_clear()
    yield authority
    sender._tls.cache_clear()


@contextmanager
def tls_server(authority: Authority, names: list[str | None], requests: list[bytes]) -> Iterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.server_certificate, authority.server_key)
    context.sni_callback = lambda _, name, __: names.append(name)

    def serve(client: socket.socket) -> None:
        with context.wrap_socket(client, server_side=True) as encrypted:
            requests.append(receive(encrypted))
            encrypted.sendall(OK)

    with server(serve) as port:
        yield port


def test_the_connection_goes_to_the_address_that_was_checked(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str | None] = []
    requests: list[bytes] = []
    with tls_server(authority, names, requests) as port:
        # Whoever asks a second time is sent elsewhere.
        dns = Dns(monkeypatch, "127.0.0.1", "203.0.113.1")
        assert attempt(f"https://receiver.example:{port}/hook") == (200, None)
    assert dns.lookups == ["receiver.example"]
    assert names == ["receiver.example"]
    assert requests[0].startswith(b"POST /hook HTTP/1.1\r\n")
    assert f"Host: receiver.example:{port}\r\n".encode() in requests[0]


def test_a_certificate_of_another_name_is_refused(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[bytes] = []
    with tls_server(authority, [], requests) as port:
        Dns(monkeypatch, "127.0.0.1")
        assert attempt(f"https://other.example:{port}/hook") == (None, "tls_failed")
    assert requests == []


def test_a_certificate_of_an_unknown_authority_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[bytes] = []
    with tls_server(create_authority(tmp_path / "unknown", "receiver.example"), [], requests) as port:
        Dns(monkeypatch, "127.0.0.1")
        assert attempt(f"https://receiver.example:{port}/hook") == (None, "tls_failed")
    assert requests == []


def test_nothing_is_sent_to_a_private_address(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[bytes] = []
    with tls_server(authority, [], requests) as port:
        Dns(monkeypatch, "127.0.0.1")
        assert attempt(f"https://receiver.example:{port}/", allows_private=False) == (None, "address_refused")
        assert attempt(f"https://127.0.0.1:{port}/", allows_private=False) == (None, "address_refused")
        assert attempt(f"http://127.0.0.1:{port}/", allows_private=False) == (None, "url_refused")
    assert requests == []


def test_a_second_address_is_tried_where_the_first_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    with server(answer(OK)) as port:
        monkeypatch.setattr(sender, "resolve", lambda *_, **__: ["127.0.0.2", "127.0.0.1"])
        assert attempt(f"http://receiver.example:{port}/") == (200, None)


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:1")
    with running_receiver() as receiver:
        assert attempt(receiver.url) == (200, None)


@pytest.mark.parametrize(
    ("content", "result"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", (204, None)),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", (302, "redirect")),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", (304, "redirect")),
        (b"HTTP/1.1 404 Not Found\r\n\r\n", (404, "status")),
        (b"HTTP/1.1 410 Gone\r\n\r\n", (410, "status")),
        (b"HTTP/1.1 503 Unavailable\r\n\r\n", (503, "status")),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nabc", (200, None)),
        (b"HTTP/1.1 200 OK\r\n" + b"X: 1\r\n" * 200 + b"\r\n", (None, "connection_lost")),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000, (None, "connection_lost")),
        (b"no HTTP at all\r\n\r\n", (None, "connection_lost")),
        (b"", (None, "connection_lost")),
    ],
)
def test_an_answer_is_its_status(content: bytes, result: tuple[int | None, str | None]) -> None:
    with server(answer(content)) as port:
        assert attempt(f"http://127.0.0.1:{port}/") == result


def test_an_endless_body_is_not_read() -> None:
    def serve(client: socket.socket) -> None:
        receive(client)
        client.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            client.sendall(b"1\r\nx\r\n")

    with server(serve) as port:
        assert attempt(f"http://127.0.0.1:{port}/") == (200, None)


def test_a_port_without_a_server_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert attempt(f"http://127.0.0.1:{port}/") == (None, "connection_refused")


def drip(client: socket.socket) -> None:
    receive(client)
    client.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        client.sendall(b"X")
        threading.Event().wait(0.02)


def stay_silent(client: socket.socket) -> None:
    while client.recv(65_536):
        pass


@pytest.mark.parametrize(("scheme", "serve"), [("http", drip), ("http", stay_silent), ("https", stay_silent)])
def test_a_receiver_that_takes_too_long_is_cut_off(monkeypatch: pytest.MonkeyPatch, scheme: str, serve: Serve) -> None:
    monkeypatch.setattr(sender, "TOTAL_TIMEOUT_S", 0.3)
    with server(serve) as port:
        assert attempt(f"{scheme}://127.0.0.1:{port}/") == (None, "timeout")


def test_a_receiver_may_take_all_of_the_time_for_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    sockets, connect = [], socket.create_connection

    def connect_and_remember(*arguments: Any) -> socket.socket:
        sockets.append(connect(*arguments))
        return sockets[-1]

    monkeypatch.setattr(socket, "create_connection", connect_and_remember)
    with running_receiver() as receiver:
        assert attempt(receiver.url) == (200, None)
    assert [connection.gettimeout() for connection in sockets] == [sender.TOTAL_TIMEOUT_S] == [15]
