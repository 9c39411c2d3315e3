"""A folder as the handle of a namespace: scripts open their memory by a path, as HAEMA does.

The folder holds `memory37.json` (which namespace it stands for) and `core.md` (the core memory as a
file: an edit by hand becomes a version). So a folder that is deleted and made again is a new
memory, one that is moved stays the same, and one that is copied does not share rows with the
original.
"""

import contextlib
import json
import os
import tempfile
from pathlib import Path
from uuid import UUID

from memories import core, core_policy
from memories.ledger.commit import namespace_transaction
from memories.models import Namespace
from retrieval.models import uuid7
from worlds.models import World

MARKER, CORE_FILE = "memory37.json", "core.md"
WORLD = "agents"


def open_folder(path: str | Path) -> tuple[Namespace, bool]:
    """Return the namespace of the folder, made on first use, and whether it is new."""
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    for _ in range(3):
        if known := namespace_of_marker(folder):
            return known, False
        namespace = create_namespace(folder)
        if write_marker(folder, namespace):
            return namespace, True
        namespace.delete()
    raise OSError(
        f"{folder / MARKER} keeps changing while it is read: is another program writing there?"
    )


def agents_world() -> World:
    return World.objects.get_or_create(slug=WORLD, defaults={"name": "Agents"})[0]


def namespace_of_marker(folder: Path) -> Namespace | None:
    """The namespace the marker names, unless the folder is a copy of one that is still in its
    place."""
    marker = read_marker(folder / MARKER)
    if marker is None:
        return None
    namespace = Namespace.objects.filter(pk=UUID(marker["namespace"])).first()
    if namespace is None or _is_copy(folder, marker):
        (folder / MARKER).unlink(missing_ok=True)
        return None
    if namespace.path != str(folder):
        Namespace.objects.filter(pk=namespace.pk).update(path=str(folder))
        replace_file(
            folder / MARKER, json.dumps({"namespace": str(namespace.pk), "path": str(folder)})
        )
    return namespace


def _is_copy(folder: Path, marker: dict[str, str]) -> bool:
    original = Path(marker["path"])
    twin = read_marker(original / MARKER) if original != folder else None
    return twin is not None and twin["namespace"] == marker["namespace"]


def read_marker(marker: Path) -> dict[str, str] | None:
    try:
        marker_data = json.loads(marker.read_text(encoding="utf-8"))
        UUID(marker_data["namespace"]), Path(marker_data["path"])
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{marker} is not a marker of Memory37: delete it to start a new memory there"
        ) from error
    return dict(marker_data)


def create_namespace(folder: Path) -> Namespace:
    pk = uuid7()
    name = f"{folder.name or 'root'}-{pk.hex[-8:]}"[-120:]
    return Namespace.objects.create(pk=pk, world=agents_world(), name=name, path=str(folder))


def write_marker(folder: Path, namespace: Namespace) -> bool:
    """Write the marker unless another process was faster: of two, one wins, and no one reads
    half a file."""
    text = json.dumps({"namespace": str(namespace.pk), "path": str(folder)})
    with tempfile.NamedTemporaryFile("w", dir=folder, prefix=f".{MARKER}", delete=False) as file:
        file.write(text)
    try:
        os.link(file.name, folder / MARKER)
    except FileExistsError:
        return False
    finally:
        os.unlink(file.name)
    return True


# --- core.md


def synchronize_core(namespace: Namespace, folder: Path) -> str:
    """Take an edit of `core.md` over, then let the file say what the core memory says. Return
    the core memory."""
    file = folder / CORE_FILE
    if (edited_text := read_manual_edit(namespace, file)) is not None:
        core.write_by_hand(namespace, edited_text, reason=f"{CORE_FILE} was edited")
    text = core.current(namespace).markdown
    export_core(text, file)
    return text


def export_core(text: str, file: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        if file.read_text(encoding="utf-8") == text:
            return
    if file.parent.is_dir():
        replace_file(file, text)


def import_core(namespace: Namespace, file: Path, *, reason: str = "") -> None:
    """Write the text of a `core.md` as a new version."""
    core.write_by_hand(
        namespace, file.read_text(encoding="utf-8"), reason=reason or f"Imported from {file.name}"
    )


def read_manual_edit(namespace: Namespace, file: Path) -> str | None:
    """The text of the file if a hand wrote it: one that no version had. A stale export is not an
    edit."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    known = {core_policy.TEMPLATE.strip()} | {core.current(namespace).markdown.strip()}
    if text.strip() in known or core_policy.shape_problems(text):
        return None
    return None if namespace.core_versions.filter(markdown=text.strip() + "\n").exists() else text


def replace_file(file: Path, text: str) -> None:
    with tempfile.NamedTemporaryFile(
        "wb", dir=file.parent, prefix=f".{file.name}", delete=False
    ) as new:
        new.write(text.encode())
    os.chmod(new.name, 0o644)
    os.replace(new.name, file)


def set_vector_width(namespace: Namespace, dims: int) -> None:
    """Give the namespace the width of its client's vectors; an empty one may still change it."""
    if namespace.dims == dims:
        return
    with namespace_transaction(namespace) as locked:
        if locked.memories.exists() and locked.dims is not None:
            raise ValueError(
                f"output_dimensionality is {dims}, but this memory holds vectors of width "
                f"{locked.dims}: open it with that width, or use another path"
            )
        Namespace.objects.filter(pk=namespace.pk).update(dims=dims)
    namespace.dims = dims
