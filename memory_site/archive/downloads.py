"""Zip files as answers."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from django.http import FileResponse, HttpResponse


def download(name: str, write: Callable[[Path], Any]) -> HttpResponse:
    """Send the file that `write` makes. It is deleted before it is sent; the open file remains."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "download.zip"
        write(path)
        file = path.open("rb")
    return as_download(file, name)


def as_download(file: Any, name: str) -> HttpResponse:
    response = FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")
    # Both are responses; the decorators of pages are typed for the common one.
    return cast(HttpResponse, response)
