"""A folder as the handle of a namespace: scripts open their memory by a path, as HAEMA does.

The folder holds `memory37.json` (the id of its namespace) and `core.md` (the core memory; an edit
of the file becomes a version). A folder that was deleted and created again is a new memory, one
that was moved is the same memory, and a copy does not share rows with the original.
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
    """Return the namespace of the folder, created on first use, and whether it is new."""
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    for _attempt in range(3):
        if namespace := namespace_of_marker(folder):
            return namespace, False
        world, _is_new = World.objects.get_or_create(slug=WORLD, defaults={"name": "Agents"})
        pk = uuid7()
        name = f"{folder.name or 'root'}-{pk.hex[-8:]}"[-120:]
        namespace = Namespace.objects.create(pk=pk, world=world, name=name, path=str(folder))
        if write_marker(folder, namespace):
            return namespace, True
        # Another process wrote its marker first: its namespace is the one to use.
        namespace.delete()
    raise OSError(f"{folder / MARKER} keeps changing: is another program writing to it?")


def namespace_of_marker(folder: Path) -> Namespace | None:
    """Return the namespace that the marker names; None for a copy of a folder that still exists."""
    marker = read_marker(folder)
    if marker is None:
        return None
    original = Path(marker["path"])
    original_marker = read_marker(original) if original != folder else None
    is_copy = original_marker is not None and original_marker["namespace"] == marker["namespace"]
    namespace = Namespace.objects.filter(pk=UUID(marker["namespace"])).first()
    if namespace is None or is_copy:
        (folder / MARKER).unlink(missing_ok=True)
        return None
    if namespace.path != str(folder):
        Namespace.objects.filter(pk=namespace.pk).update(path=str(folder))
        replace_file(folder / MARKER, marker_text(folder, namespace))
    return namespace


def read_marker(folder: Path) -> dict[str, str] | None:
    marker = folder / MARKER
    try:
        values = json.loads(marker.read_text(encoding="utf-8"))
        # Only to check the types: a marker that fails here is not ours.
        UUID(values["namespace"]), Path(values["path"])
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{marker} is not a marker of Memory37: delete it to start a new memory there"
        ) from error
    return dict(values)


def marker_text(folder: Path, namespace: Namespace) -> str:
    return json.dumps({"namespace": str(namespace.pk), "path": str(folder)})


def write_marker(folder: Path, namespace: Namespace) -> bool:
    """Create the marker; return False if another process created it first."""
    with tempfile.NamedTemporaryFile("w", dir=folder, prefix=f".{MARKER}", delete=False) as file:
        file.write(marker_text(folder, namespace))
    try:
        # A link fails if the name exists, and it appears with its whole content.
        os.link(file.name, folder / MARKER)
    except FileExistsError:
        return False
    finally:
        os.unlink(file.name)
    return True


# --- core.md


def synchronize_core(namespace: Namespace, folder: Path) -> str:
    """Store an edit of `core.md` as a version, write the current core memory to the file, and
    return it."""
    file = folder / CORE_FILE
    with contextlib.suppress(FileNotFoundError):
        text = file.read_text(encoding="utf-8")
        if is_manual_edit(namespace, text):
            core.write_by_hand(namespace, text, reason=f"{CORE_FILE} was edited")
    text = core.current(namespace).markdown
    export_core(text, file)
    return text


def is_manual_edit(namespace: Namespace, text: str) -> bool:
    """Whether a person wrote this text of `core.md`: no version has it, so it is not an old
    export."""
    exports = (core_policy.TEMPLATE.strip(), core.current(namespace).markdown.strip())
    if text.strip() in exports or core_policy.shape_problems(text):
        return False
    return not namespace.core_versions.filter(markdown=text.strip() + "\n").exists()


def export_core(text: str, file: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        if file.read_text(encoding="utf-8") == text:
            return
    if file.parent.is_dir():
        replace_file(file, text)


def import_core(namespace: Namespace, file: Path) -> None:
    """Store the text of a `core.md` as a new version."""
    markdown = file.read_text(encoding="utf-8")
    core.write_by_hand(namespace, markdown, reason=f"Imported from {file.name}")


def replace_file(file: Path, text: str) -> None:
    """Write the file in one step, so that no reader sees half of it."""
    with tempfile.NamedTemporaryFile("wb", dir=file.parent, prefix=".new-", delete=False) as new:
        new.write(text.encode())
    os.chmod(new.name, 0o644)
    os.replace(new.name, file)


def set_vector_width(namespace: Namespace, dims: int) -> None:
    """Set the width of the client's vectors. Raise ValueError if the namespace holds vectors of
    another width."""
    if namespace.dims == dims:
        return
    with namespace_transaction(namespace) as row:
        if row.memories.exists() and row.dims is not None:
            raise ValueError(
                f"output_dimensionality is {dims}, but this memory holds vectors of width "
                f"{row.dims}: open it with that width, or use another path"
            )
        Namespace.objects.filter(pk=namespace.pk).update(dims=dims)
    namespace.dims = dims
