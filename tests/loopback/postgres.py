"""PostgreSQL servers of the tests' own that listen on a TCP port of loopback, with a copy of the
migrated test database; PgBouncer before one."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from memory_site.backup.programs import environment, find_program
from memory_site.embedded.server import EmbeddedServer
from tests.loopback.brokers import free_port, require_program, running

PGBOUNCER = """
[databases]
* = host=127.0.0.1 port={server} user=memory37
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = any
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
unix_socket_dir =
user = nobody
"""


@dataclass(frozen=True)
class TcpServer:
    server: EmbeddedServer
    port: int

    def url(self, name: str = "site", *, port: int | None = None) -> str:
        """The DATABASE_URL of one of its databases."""
        return f"postgres://memory37:any@127.0.0.1:{port or self.port}/{name}"


@contextmanager
def tcp_server(folder: Path) -> Iterator[TcpServer]:
    """Yield a running server with the database `site`, a copy of the migrated test database."""
    server, port = EmbeddedServer(folder / "postgres"), free_port()
    server.ensure_running()
    try:
        with psycopg.connect(
            host=str(server.socket_dir), user="memory37", dbname="postgres", autocommit=True
        ) as raw:
            raw.execute("ALTER SYSTEM SET listen_addresses = '127.0.0.1'")
            raw.execute(f"ALTER SYSTEM SET port = {port}")
            raw.execute("CREATE DATABASE site")
        copy_test_database(server, "site")
        server.stop()
        start(server, port)
        yield TcpServer(server, port)
    finally:
        server.stop()
        server.leave()


def copy_test_database(server: EmbeddedServer, name: str) -> None:
    """Load the test database with its rows into the database `name` of `server`."""
    dump = server.folder.parent / "site.sql"
    options = ["--no-owner", f"--file={dump}"]
    subprocess.run(
        [find_program("pg_dump"), *options], env=environment(), check=True, capture_output=True
    )
    own = {**os.environ, "PGHOST": str(server.socket_dir), "PGUSER": "memory37"}
    load = [find_program("psql"), "--quiet", "--output=/dev/null", "-d", name, "-f", dump]
    subprocess.run(load, env=own, check=True, capture_output=True)


def start(server: EmbeddedServer, port: int) -> None:
    """Start it at its port, which pg_ctl reads from the server's own files."""
    wait = ("-w", "-t", "60", "-o", f"-c unix_socket_directories='{server.socket_dir}'")
    done = server.run("pg_ctl", "start", "-D", str(server.data), "-l", str(server.log), *wait)
    assert done.returncode == 0, server.log.read_text()[-2000:]
    assert port


@contextmanager
def pgbouncer(server: TcpServer, folder: Path) -> Iterator[str]:
    """Yield the DATABASE_URL through PgBouncer in transaction mode."""
    program, port = require_program("/usr/sbin/pgbouncer", "pgbouncer"), free_port()
    folder.chmod(0o755)
    (folder / "users").write_text('"memory37" "any"\n')
    text = PGBOUNCER.format(server=server.port, port=port, folder=folder)
    (folder / "pgbouncer.ini").write_text(text)
    command = [program, str(folder / "pgbouncer.ini")]
    with running(command, port, folder / "pgbouncer.log", {}):
        yield server.url(port=port)
