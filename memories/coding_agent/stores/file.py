"""A store in one JSON file. Each write replaces the file as a whole, so that a crash leaves the old or the new one."""

import fcntl
import json
import os
import tempfile
from pathlib import Path
from typing import Any
from uuid import UUID

from memories.code_rules.rule import CodeRule
from memories.coding_agent.stores.in_memory import InMemoryStore, StoreContents, WriteTransaction
from memories.coding_agent.stores.protocol import MemoryRecord, StoreDamaged, StoreDown
from memories.vectors import VectorSource

FORMAT = 1


class FileStore(InMemoryStore):
    """Several processes may use the file: writers take turns by a lock beside it, readers see whole versions.

    A damaged file is never overwritten: every call raises `StoreDamaged` until it is mended or moved away.
    """

    def __init__(self, path: Path | str, *, vectors: VectorSource | None = None) -> None:
        super().__init__(vectors=vectors)
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._seen: tuple[int, int, int] | None = None

    def _read(self) -> StoreContents:
        stamp = self._stamp()
        if stamp is None:
            return StoreContents()
        if stamp != self._seen:
            self._contents, self._seen = _loaded(self.path), stamp
        return self._contents

    def _writing(self) -> WriteTransaction:
        return FileTransaction(self)

    def _store(self, contents: StoreContents) -> None:
        text = json.dumps(_as_json(contents), ensure_ascii=False)
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
        self._sync_folder()
        self._contents, self._seen = contents, self._stamp()

    def _sync_folder(self) -> None:
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size


class FileTransaction(WriteTransaction):
    store: FileStore

    def __enter__(self) -> StoreContents:
        self.lock = self.store.path.with_name(f".{self.store.path.name}.lock").open("w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        try:
            return super().__enter__()
        except BaseException:
            self.lock.close()
            raise

    def __exit__(self, kind: object, *rest: object) -> None:
        try:
            super().__exit__(kind, *rest)
        finally:
            self.lock.close()


def _as_json(contents: StoreContents) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "revision": contents.revision,
        "states": contents.states,
        "records": [record.as_dict() for record in contents.records.values()],
        "rules": [rule.as_dict() for rule in contents.rules.values()],
    }


def _loaded(path: Path) -> StoreContents:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        records = [MemoryRecord.from_dict(row) for row in data["records"]]
        rules = [CodeRule.from_dict(row) for row in data["rules"]]
        return StoreContents(_by_id(records), _by_id(rules), data["states"], data["revision"])
    except (ValueError, KeyError, TypeError) as error:
        raise StoreDamaged(
            f"{path.name} is not a whole memory file ({type(error).__name__}): restore a copy or move it away; "
            "it was not changed."
        ) from error


def _by_id(rows: list[Any]) -> dict[UUID, Any]:
    return {row.id: row for row in rows}
