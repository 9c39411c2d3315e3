"""A secret key made once for this installation, so that nobody runs with a published one."""

import os
import secrets
from pathlib import Path


def installation_secret(var_dir: Path) -> str:
    """Return the key in `var_dir/secret_key`, making it on first use (mode 0600, safe when two
    processes race)."""
    path = var_dir / "secret_key"
    var_dir.mkdir(parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(handle, "w") as file:
        file.write(key := secrets.token_urlsafe(50))
    return key
