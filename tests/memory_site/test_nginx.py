"""Debian's nginx with the example of `docs/deploy/nginx` before the real web process."""

import os
import re
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from http.client import HTTPSConnection
from pathlib import Path

import httpx2
import pytest
from axes.models import AccessAttempt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.conf import settings
from django.db import connection

from memory_site import web_server
from tests.loopback.brokers import free_port, require_program, running
from worlds import keys
from worlds.models import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
EXAMPLE = Path(settings.BASE_DIR) / "docs" / "deploy" / "nginx" / "memory37.conf"
MAIN = """
{user}
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/memory37.conf;
}}
"""
SECONDS = {"s": 1, "m": 60, "h": 3600}


def directive(name: str) -> str:
    """The first value of a directive of the example."""
    found = re.search(rf"^ *{name} (.+);", EXAMPLE.read_text(), re.M)
    assert found, name
    return found[1]


def seconds(name: str) -> int:
    value = directive(name)
    return int(value[:-1]) * SECONDS[value[-1]]


def test_limits_of_the_example_are_those_of_the_site() -> None:
    assert directive("client_max_body_size") == f"{settings.UPLOAD_MAX_MB}m"
    assert f"at most {settings.UPLOAD_MAX_MB} MB" in EXAMPLE.read_text()
    assert seconds("client_header_timeout") == web_server.HEAD_SECONDS
    assert seconds("keepalive_timeout") < web_server.KEEP_ALIVE_SECONDS
    assert seconds("proxy_read_timeout") > settings.MEMORY_MODEL_SECONDS
    assert seconds("proxy_read_timeout") > web_server.STATEMENT_SECONDS


def make_certificate(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    built = x509.CertificateBuilder(
        name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1)
    )
    signed = built.sign(key, hashes.SHA256())
    (folder / "fullchain.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (folder / "privkey.pem").write_bytes(private)


def configure(folder: Path, *, plain: int, secure: int, site: int) -> None:
    """Write the example with ports and a certificate of the test's own."""
    make_certificate(folder)
    text = EXAMPLE.read_text()
    changes = {
        "server 127.0.0.1:8000;": f"server 127.0.0.1:{site};",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ssl": f"listen 127.0.0.1:{secure} ssl",
        "/etc/ssl/example.org/": f"{folder}/",
    }
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    (folder / "memory37.conf").write_text(text)
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(MAIN.format(folder=folder, user=user))


@pytest.fixture
def ports(tmp_path: Path) -> Iterator[tuple[int, int]]:
    """Of plain and of secure HTTP, of an nginx before a web process on the test database."""
    program = require_program("/usr/sbin/nginx", "nginx-light")
    plain, secure, site = free_port(), free_port(), free_port()
    configure(tmp_path, plain=plain, secure=secure, site=site)
    web = [sys.executable, "-m", "memory_site.web_server", "--port", str(site)]
    own = {
        "EMBEDDED_DATABASE": str(connection.settings_dict["NAME"]),
        "EMBEDDER": "hashing",
        "HTTPS": "true",
        "SECRET_KEY": settings.SECRET_KEY,
        "PYTHONWARNINGS": "ignore",
    }
    nginx = [program, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
    with ExitStack() as stack:
        stack.enter_context(running(web, site, tmp_path / "web.log", own))
        stack.enter_context(running(nginx, secure, tmp_path / "nginx.log", {}))
        yield plain, secure


def test_pages_streams_and_refusals_pass_through_nginx(
    ports: tuple[int, int], world: World
) -> None:
    plain, secure = ports
    scopes = ["tools:read", "world:write"]
    key = keys.create_key(world, name="engine", audience="gm", scopes=scopes)[1]
    address = f"https://127.0.0.1:{secure}"
    with httpx2.Client(base_url=address, verify=False, timeout=30) as client:
        see_a_page(client, f"http://127.0.0.1:{plain}/login/")
        sign_in_wrongly(client)
        client.headers["Authorization"] = f"Bearer {key}"
        see_an_event_at_once(client)
    refuse_a_large_body(secure, key)


def see_a_page(client: httpx2.Client, plain_address: str) -> None:
    moved = httpx2.get(plain_address)
    assert (moved.status_code, moved.headers["location"][:8]) == (301, "https://")
    page = client.get("/login/")
    assert page.status_code == 200, page.text
    assert "<form" in page.text
    # The site knows that the client speaks TLS: else it would redirect for ever.
    assert "Secure" in page.headers["set-cookie"]
    assert page.headers["strict-transport-security"]


def sign_in_wrongly(client: httpx2.Client) -> None:
    """The address that a failed sign-in is counted for is nginx's client, not what it says."""
    fields = {"username": "anna", "password": "wrong"}
    fields["csrfmiddlewaretoken"] = client.cookies["csrftoken"]
    own = {"Referer": str(client.base_url), "X-Forwarded-For": "203.0.113.7"}
    answer = client.post("/login/", data=fields, headers=own)
    assert answer.status_code == 200, answer.text
    assert AccessAttempt.objects.get(username="anna").ip_address == "127.0.0.1"


def see_an_event_at_once(client: httpx2.Client) -> None:
    entry = {"slug": "pier", "title": "Pier", "body": "Boats moor here.", "visibility": "public"}
    with client.stream("GET", "/api/v1/events/stream") as stream:
        assert stream.status_code == 200
        lines = stream.iter_lines()
        next(lines)  # the stream is open
        begin = time.monotonic()
        assert client.put("/api/v1/world/lore", json=entry).status_code == 200
        assert any("pier" in line for line in lines)
        assert time.monotonic() - begin < 10


def refuse_a_large_body(port: int, key: str) -> None:
    """The client is told before it has sent anything of the body."""
    trusting = ssl._create_unverified_context()
    sender = HTTPSConnection("127.0.0.1", port, context=trusting, timeout=20)
    sender.putrequest("POST", "/api/v1/world/pictures")
    sender.putheader("Authorization", f"Bearer {key}")
    sender.putheader("Content-Length", str(settings.UPLOAD_MAX_MB * 2**20 + 1))
    sender.endheaders()
    answer = sender.getresponse()
    assert answer.status == 413
    assert (
        answer.read().decode().startswith(f"The request may have at most {settings.UPLOAD_MAX_MB}")
    )
    sender.close()


def test_nginx_accepts_the_example(tmp_path: Path) -> None:
    program = require_program("/usr/sbin/nginx", "nginx-light")
    configure(tmp_path, plain=free_port(), secure=free_port(), site=free_port())
    command = [program, "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "warn" not in done.stderr
