"""A store in one JSON file. Each write replaces the file: a crash leaves the old or the new one."""

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memories.code_rules.rule import CodeRule
from memories.coding_agent.stores.in_memory import InMemoryStore, StoreContents
from memories.coding_agent.stores.protocol import StoreDamaged, StoreDown
from memories.coding_agent.stores.records import MemoryRecord
from memories.vectors import VectorSource

FORMAT = 1


class FileStore(InMemoryStore):
    """Several processes may share the file: a lock file serializes writers, readers see whole
    versions.

    A damaged file is never overwritten: every call raises `StoreDamaged` until it is restored or
    moved away.
    """

    def __init__(self, path: Path | str, *, vectors: VectorSource | None = None) -> None:
        super().__init__(vectors=vectors)
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._version: tuple[int, int, int] | None = None

    @contextmanager
    def transaction(self) -> Iterator[StoreContents]:
        # A file of its own, because the store's file is replaced and a lock follows the inode.
        with self.path.with_name(f".{self.path.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with super().transaction() as contents:
                yield contents

    def read(self) -> StoreContents:
        version = self.file_version()
        if version is None:
            return StoreContents()
        if version != self._version:
            self._contents, self._version = load_contents(self.path), version
        return self._contents

    def write(self, contents: StoreContents) -> None:
        data = {
            "format": FORMAT,
            "revision": contents.revision,
            "states": contents.states,
            "records": [record.as_dict() for record in contents.records.values()],
            "rules": [rule.as_dict() for rule in contents.rules.values()],
        }
        text = json.dumps(data, ensure_ascii=False)
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as temporary:
                temporary.write(text)
                temporary.flush()
                os.fsync(temporary.fileno())
            Path(name).replace(self.path)
        except OSError as error:
            Path(name).unlink(missing_ok=True)
            raise StoreDown(f"{self.path.name} cannot be written: {error.strerror}.") from error
        # The rename itself survives a power cut only once the folder is on disk.
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        self._contents, self._version = contents, self.file_version()

    def file_version(self) -> tuple[int, int, int] | None:
        """Return inode, time and size, which differ after every write; None without a file."""
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            return None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size


def load_contents(path: Path) -> StoreContents:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        records = {row.id: row for row in map(MemoryRecord.from_dict, data["records"])}
        rules = {row.id: row for row in map(CodeRule.from_dict, data["rules"])}
        return StoreContents(records, rules, data["states"], data["revision"])
    except (ValueError, KeyError, TypeError) as error:
        raise StoreDamaged(
            f"{path.name} is not a complete memory file ({type(error).__name__}): "
            "restore a copy or move it away; it was not changed."
        ) from error
