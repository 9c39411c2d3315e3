"""Targets of webhooks that lie, hang, flood or lead elsewhere: real servers on the loopback
interface, to which the sender of webhooks really connects."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.core.checks import run_checks

from worlds.webhooks.sender import Answer, Sender

pytestmark = pytest.mark.timeout(60)
NAME = "engine.example.org"
FLOOD = 100 * 1024 * 1024
ACCEPTED = b"HTTP/1.1 204 No Content\r\n\r\n"
Serve = Callable[[socket.socket], None]


class Target:
    """A listening socket; `connections` counts who has connected, `sent` the bytes of answers."""

    def __init__(self, address: str = "127.0.0.1", port: int = 0) -> None:
        self.listener = socket.create_server((address, port))
        self.port = self.listener.getsockname()[1]
        self.connections, self.sent = 0, 0
        self.names: list[str | None] = []

    def send(self, connection: socket.socket, data: bytes) -> None:
        self.sent += connection.send(data)


@contextmanager
def serving(
    serve: Callable[[Target, socket.socket], None], address: str = "127.0.0.1", port: int = 0
) -> Iterator[Target]:
    """Answer each connection by `serve`, in a thread, until the block ends."""
    target = Target(address, port)

    def answer(connection: socket.socket) -> None:
        with connection, suppress(OSError, ssl.SSLError):
            serve(target, connection)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _peer = target.listener.accept()
                target.connections += 1
                threading.Thread(target=answer, args=[connection], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield target
    finally:
        # A listener that is only closed goes on waiting in `accept`.
        with suppress(OSError):
            target.listener.shutdown(socket.SHUT_RDWR)
        target.listener.close()


def read_request(connection: socket.socket) -> bytes:
    """Read it whole: what is left unread would reset the connection."""
    data = b""
    while b"\r\n\r\n{}" not in data:
        data += connection.recv(65536)
    return data


def post(url: str) -> Answer:
    with Sender(url) as sender:
        return sender.post({"Content-Type": "application/json"}, b"{}")


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings: Any) -> None:
    settings.WEBHOOK_PRIVATE_ADDRESSES = ["127.0.0.1"]


def resolve(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Have every name resolved to the next of `answers`, then to the last for ever. Returns the
    list of the names that are asked for."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def answer(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host != NAME:
            return real(host, port, *rest, **more)
        address = answers[min(len(asked), len(answers) - 1)]
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return asked


# --- TLS


def make_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """Return the files of a certificate for `name`, which signs itself, and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / f"{name}.pem", folder / f"{name}.key"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files


def serve_tls(certificate: Path, key: Path) -> Callable[[Target, socket.socket], None]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def serve(target: Target, connection: socket.socket) -> None:
        def note_name(_socket: Any, name: str | None, _context: Any) -> None:
            target.names.append(name)

        context.sni_callback = note_name
        with context.wrap_socket(connection, server_side=True) as secured:
            read_request(secured)
            target.send(secured, ACCEPTED)

    return serve


@pytest.mark.parametrize(("certified", "is_accepted"), [(NAME, True), ("other.example.org", False)])
def test_the_certificate_has_to_be_that_of_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, certified: str, is_accepted: bool
) -> None:
    """Although the connection goes to the number of the address that was checked."""
    resolve(monkeypatch, "127.0.0.1")
    files = make_certificate(tmp_path, certified)
    monkeypatch.setenv("SSL_CERT_FILE", str(files[0]))  # its issuer is trusted: only the name tells
    with serving(serve_tls(*files)) as target:
        answer = post(f"https://{NAME}:{target.port}/hook")
    assert target.names == [NAME]
    assert answer.is_success == is_accepted, answer
    assert is_accepted or ("certificate" in answer.error and target.sent == 0), answer


def test_a_certificate_that_nobody_has_signed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve(monkeypatch, "127.0.0.1")
    with serving(serve_tls(*make_certificate(tmp_path, NAME))) as target:
        answer = post(f"https://{NAME}:{target.port}/hook")
    assert (answer.status, target.sent) == (0, 0)
    assert "certificate" in answer.error


# --- slow and long answers


@pytest.mark.parametrize("begin", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"])
def test_a_target_that_sends_a_byte_a_second_wins_no_time(settings: Any, begin: bytes) -> None:
    settings.WEBHOOK_TIMEOUT = 2.5

    def serve(target: Target, connection: socket.socket) -> None:
        read_request(connection)
        target.send(connection, begin)
        for byte in b"HTTP/1.1 200 OK and many more words":
            target.send(connection, bytes([byte]))
            time.sleep(1)

    with serving(serve) as target:
        start = time.monotonic()
        answer = post(f"http://127.0.0.1:{target.port}/hook")
        assert 2 < time.monotonic() - start < 6
    assert (answer.status, answer.error) == (0, "no answer within 2.5 s")


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % FLOOD,
        b"HTTP/1.1 200 OK\r\nX-Flood: ",
    ],
)
def test_an_answer_of_100_megabytes_is_not_read(head: bytes) -> None:
    def serve(target: Target, connection: socket.socket) -> None:
        read_request(connection)
        target.send(connection, head)
        while target.sent < FLOOD:
            target.send(connection, b"x" * 65536)

    with serving(serve) as target:
        answer = post(f"http://127.0.0.1:{target.port}/hook")
        time.sleep(0.5)
        # What the buffers of the system hold has left the server; the rest never does.
        assert target.sent < FLOOD / 4
    assert len(answer.text) <= 500
    assert answer.status == 200 if b"Length" in head else answer.status == 0


def test_a_redirect_to_a_private_address_is_not_followed(settings: Any) -> None:
    with serving(lambda target, connection: target.send(connection, ACCEPTED)) as private:

        def serve(target: Target, connection: socket.socket) -> None:
            read_request(connection)
            place = f"http://127.0.0.1:{private.port}/latest/meta-data/"
            target.send(
                connection,
                f"HTTP/1.1 307 Moved\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode(),
            )

        with serving(serve) as target:
            answer = post(f"http://127.0.0.1:{target.port}/hook")
    assert answer.error == "answered 307: redirects are not followed"
    assert private.connections == 0


# --- names that mean another address the next time


def accept_all(target: Target, connection: socket.socket) -> None:
    read_request(connection)
    target.send(connection, ACCEPTED)


def test_the_address_that_was_checked_is_the_one_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The name means a permitted address when it is checked, and a private one from then on."""
    asked = resolve(monkeypatch, "127.0.0.1", "127.0.0.2")
    with serving(accept_all) as target, serving(accept_all, "127.0.0.2", target.port) as private:
        answer = post(f"http://{NAME}:{target.port}/hook")
    assert answer.status == 204
    assert (target.connections, private.connections, asked) == (1, 0, [NAME])


def test_each_new_connection_is_checked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kept connection was closed meanwhile; the name now means a private address."""
    resolve(monkeypatch, "127.0.0.1", "127.0.0.2")
    with (
        serving(accept_all) as target,
        serving(accept_all, "127.0.0.2", target.port) as private,
        Sender(f"http://{NAME}:{target.port}/hook") as sender,
    ):
        first, second = sender.post({}, b"{}"), sender.post({}, b"{}")
    assert (first.status, second.status) == (204, 0)
    assert "127.0.0.2 is no public address" in second.error
    assert private.connections == 0


# --- the setting


@pytest.mark.parametrize("text", ["10.0.0.0/33", "intranet", "127.0.0.1:9000", ""])
def test_a_malformed_network_is_found_at_the_start(settings: Any, text: str) -> None:
    settings.WEBHOOK_PRIVATE_ADDRESSES = ["10.0.0.0/8", text]
    found = [each for each in run_checks(tags=["security"]) if each.id == "memory37.E005"]
    assert len(found) == 1
    assert "WEBHOOK_PRIVATE_ADDRESSES=" in str(found[0].hint)


def test_sound_networks_pass(settings: Any) -> None:
    settings.WEBHOOK_PRIVATE_ADDRESSES = ["10.0.0.0/8", " 127.0.0.1", "fd00::/8"]
    assert not [each for each in run_checks(tags=["security"]) if each.id == "memory37.E005"]
