"""A secret key made once for this installation, so that nobody runs with a published one."""

import os
import secrets
import tempfile
from pathlib import Path


def installation_secret(var_dir: Path) -> str:
    """Return the key in `var_dir/secret_key`, making it on first use (mode 0600, safe when two
    processes race or one is killed)."""
    path = var_dir / "secret_key"
    if not path.exists():
        var_dir.mkdir(parents=True, exist_ok=True)
        write_secret(path)
    return path.read_text().strip()


def write_secret(path: Path) -> None:
    """Write a new key, unless another process writes one first."""
    # Such a file is readable for its owner alone.
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".secret_key") as file:
        file.write(secrets.token_urlsafe(50))
        file.flush()
        os.fsync(file.fileno())
        try:
            # A link fails if the name exists, and it appears with its whole content.
            os.link(file.name, path)
        except FileExistsError:
            return
