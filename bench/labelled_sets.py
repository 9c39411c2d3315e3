"""Loads our own labelled sets (bench/data)."""

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


def load_rows(path: Path, *, half: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of a file, all or of one half: "tuning" or "reporting"."""
    rows = [
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    return [row for row in rows if half is None or row["half"] == half]
