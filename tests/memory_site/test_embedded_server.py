"""The embedded PostgreSQL: one folder, one server, whatever happens to the processes around it."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from memory_site.embedded import server as embedded_server
from memory_site.embedded.server import EmbeddedServer, EmbeddedServerError

USER = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    from memory_site.embedded.server import EmbeddedServer
    server = EmbeddedServer(Path(sys.argv[1]))
    server.ensure_running()
    print("joined", flush=True)
    sys.stdin.readline()
    """
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    server = EmbeddedServer(tmp_path / "postgres")
    yield server
    server.leave()
    server.stop()
    shutil.rmtree(server.home, ignore_errors=True)


def query(server: EmbeddedServer, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(
        host=str(server.socket_dir), user="memory37", dbname="memory37", autocommit=True
    ) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []


def postmaster(server: EmbeddedServer) -> int:
    return int((server.data / "postmaster.pid").read_text().split()[0])


def another_user(server: EmbeddedServer) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", USER, str(server.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "joined\n"
    return process


def test_it_survives_being_killed(server: EmbeddedServer) -> None:
    server.ensure_running()
    query(server, "CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n")
    os.kill(postmaster(server), signal.SIGKILL)
    deadline = time.monotonic() + 10
    while server.is_running() and time.monotonic() < deadline:
        time.sleep(0.05)
    again = EmbeddedServer(server.folder)
    again.ensure_running()
    assert query(again, "SELECT count(*) FROM kept") == [(1000,)]
    again.leave()


def test_two_processes_share_one_server_and_the_last_one_stops_it(server: EmbeddedServer) -> None:
    server.ensure_running()
    first = postmaster(server)
    other = another_user(server)
    assert postmaster(server) == first
    server.leave()
    assert server.is_running()
    other.communicate("\n", timeout=30)
    assert not server.is_running()


def test_a_user_that_is_killed_does_not_keep_the_server_from_stopping(
    server: EmbeddedServer,
) -> None:
    other = another_user(server)
    other.kill()
    other.wait()
    server.ensure_running()
    server.leave()
    assert not server.is_running()


def test_the_server_ends_after_its_last_user_was_killed(server: EmbeddedServer) -> None:
    other = another_user(server)
    assert server.is_running()
    other.kill()
    other.wait()
    deadline = time.monotonic() + 30
    while server.is_running() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not server.is_running()


def test_a_half_built_cluster_is_built_again(server: EmbeddedServer) -> None:
    server.ensure_running()
    server.leave()
    server.data.rename(server.home / "data.new")  # as if killed before the last step
    server.ensure_running()
    assert query(server, "SELECT 1") == [(1,)]


def test_data_of_another_version_is_refused_with_what_to_do(server: EmbeddedServer) -> None:
    server.ensure_running()
    server.leave()
    (server.data / "PG_VERSION").write_text("9\n")
    with pytest.raises(EmbeddedServerError, match="MEMORY37_VAR"):
        EmbeddedServer(server.folder).ensure_running()


def test_nobody_waits_for_ever_for_whoever_starts_it(
    server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_server, "LOCK_SECONDS", 0.1)
    server._prepare_home()
    with server.start_lock(), pytest.raises(EmbeddedServerError, match=r"fuser -v .*/start\.lock"):
        EmbeddedServer(server.folder).ensure_running()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another user")
def test_as_root_it_works_below_a_folder_that_others_may_not_enter(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    server = EmbeddedServer(closed / "postgres")
    server.ensure_running()
    assert query(server, "SELECT 1") == [(1,)]
    assert closed.stat().st_mode & 0o077 == 0
    server.leave()
    shutil.rmtree(server.home)


def test_its_folder_is_closed_to_others_and_it_listens_on_no_port(server: EmbeddedServer) -> None:
    server.ensure_running()
    assert server.home.stat().st_mode & 0o077 == 0
    assert query(server, "SHOW listen_addresses") == [("",)]
