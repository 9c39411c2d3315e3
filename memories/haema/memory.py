"""HAEMA's `Memory` on a store that loses nothing: one `add`, three layers (core, latest, long-term).

    from memories.haema import EmbeddingClient, LLMClient, Memory

    memory = Memory("./store", 1536, MyEmbeddings(), MyModel())
    memory.add(["Mira prefers short answers."])
    memory.search("How should I answer?", 3)

Works in a plain script: importing this module sets Django up when nobody has, and the embedded database starts by
itself. Without clients, those of the settings are used.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from memories import folders
from memories.curation import lifecycle
from memories.haema import folder_import, standalone
from memories.ingest import add
from memories.ingest.add import AddResult, Models, site_model
from memories.ingest.answers import (
    CoreUpdateResponse,
    MemoryReconstructionResponse,
    PreMemorySplitResponse,
)
from memories.ledger.client_vectors import embed_missing
from memories.ledger.plan import Particulars
from memories.search import recall
from memories.search.recall import Recalled
from memories.vectors import ClientSource, SiteSource, VectorSource

__all__ = [
    "CoreUpdateResponse",
    "EmbeddingClient",
    "LLMClient",
    "Memory",
    "MemoryReconstructionResponse",
    "PreMemorySplitResponse",
]

P = ParamSpec("P")
R = TypeVar("R")


class EmbeddingClient(ABC):
    """Both methods return float32 of shape `(len(texts), output_dimensionality)`; their errors reach the caller."""

    @abstractmethod
    def embed_query(
        self, texts: Sequence[str], output_dimensionality: int
    ) -> NDArray[np.float32]: ...

    @abstractmethod
    def embed_document(
        self, texts: Sequence[str], output_dimensionality: int
    ) -> NDArray[np.float32]: ...


class LLMClient(ABC):
    """Returns a dict that `response_model` accepts. ValueError, TypeError and OSError are tried again, no others."""

    @abstractmethod
    def generate_structured(
        self, system_prompt: str, user_prompt: str, response_model: type[BaseModel]
    ) -> dict[str, Any]: ...


def _releasing(method: Callable[P, R]) -> Callable[P, R]:
    """A script has threads of its own and no requests: give the connection back after every call."""

    @wraps(method)
    def released(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(*args, **kwargs)
        finally:
            standalone.release_connection()

    return released


@dataclass(frozen=True)
class Stamp:
    """When a memory was recorded, as HAEMA's metadata says it."""

    timestamp_ms: int

    def as_metadata(self) -> dict[str, Any]:
        moment = datetime.fromtimestamp(self.timestamp_ms / 1000, tz=UTC).replace(microsecond=0)
        return {
            "timestamp": moment.isoformat().replace("+00:00", "Z"),
            "timestamp_ms": self.timestamp_ms,
        }


class Memory:
    """The memory behind one folder. Two folders never share a row; one folder may be open many times at once.

    `events` lists what this object changed: `("upsert", ids)` and `("delete", ids)`, where a superseded memory counts
    as deleted (it stays readable as history).
    """

    @_releasing
    def __init__(
        self,
        path: str | Path,
        output_dimensionality: int | None = None,
        embedding_client: EmbeddingClient | None = None,
        llm_client: LLMClient | None = None,
        merge_top_k: int = 3,
        merge_distance_cutoff: float = 0.25,
    ) -> None:
        _check(output_dimensionality, merge_top_k, merge_distance_cutoff)
        if embedding_client is not None and output_dimensionality is None:
            raise ValueError("output_dimensionality is required with an embedding_client")
        self.path = Path(path)
        self.output_dimensionality = output_dimensionality
        self.embedding_client, self.llm_client = embedding_client, llm_client
        self.merge_top_k, self.merge_distance_cutoff = merge_top_k, merge_distance_cutoff
        self.events: list[tuple[Literal["upsert", "delete"], list[str]]] = []
        standalone.ensure_tables()
        self._open()

    def _open(self) -> None:
        stored = (
            folder_import.read_rows(self.path) if not (self.path / folders.MARKER).exists() else []
        )
        self.namespace, is_new = folders.open_folder(self.path)
        if self.embedding_client is not None and self.output_dimensionality is not None:
            folders.set_width(self.namespace, self.output_dimensionality)
        self.namespace.merge_top_k = self.merge_top_k
        self.namespace.merge_distance_cutoff = self.merge_distance_cutoff
        if is_new and stored:
            folder_import.import_rows(self.namespace, stored)
            embed_missing(self.namespace, self._vectors)
        folders.synchronise_core(self.namespace, self.path)

    # --- HAEMA's surface

    @_releasing
    def get_core(self) -> str:
        """Return the whole core memory; `core.md` in the folder says the same, and may be edited."""
        return folders.synchronise_core(self.namespace, self.path)

    @overload
    def get_latest(self, begin: int, count: int) -> list[str]: ...
    @overload
    def get_latest(self, begin: int, count: int, *, details: Literal[True]) -> list[Recalled]: ...

    @_releasing
    def get_latest(
        self, begin: int, count: int, *, details: bool = False
    ) -> list[str] | list[Recalled]:
        """Return texts, latest first, from the `begin`-th (1 is the latest); with `details`, ids and sources too."""
        if begin < 1:
            raise ValueError("begin must be >= 1")
        if count <= 0:
            return []
        found = recall.latest(self.namespace, begin=int(begin), count=count)
        return found if details else [memory.text for memory in found]

    @overload
    def search(self, content: str, n: int) -> list[str]: ...
    @overload
    def search(
        self, content: str, n: int, *, mode: str | None = None, details: Literal[True]
    ) -> list[Recalled]: ...

    @_releasing
    def search(
        self, content: str, n: int, *, mode: str | None = None, details: bool = False
    ) -> list[str] | list[Recalled]:
        """Return the `n` memories that fit `content` best; with `details`, ids, scores and sources too.

        `mode` is vector, hybrid or keyword. By default a small memory is read by vectors, as HAEMA does; from
        `recall.WORDS_COUNT_FROM` memories on, words take part, because only then is it known which are rare.
        """
        if n <= 0:
            return []
        if not isinstance(n, int):
            raise ValueError(f"n must be an int, got {n!r}")
        embed_missing(self.namespace, self._vectors)
        found = recall.search(
            self.namespace, content, limit=n, mode=mode, vectors=self._vectors
        ).memories
        return list(found) if details else [memory.text for memory in found]

    @overload
    def add(self, contents: str | Iterable[str]) -> None: ...
    @overload
    def add(
        self, contents: str | Iterable[str], *, details: Literal[True], **about: Any
    ) -> AddResult: ...

    @_releasing
    def add(
        self, contents: str | Iterable[str], *, details: bool = False, **about: Any
    ) -> AddResult | None:
        """Remember `contents`; all of it or, when anything raises, nothing.

        `about` may give `source`, `subject`, `speaker`, `context`, `event_at` and the other `Particulars`; with
        `details`, what was written is returned.
        """
        written = add.add(self.namespace, contents, models=self._models, about=Particulars(**about))
        self._note(written)
        if written.core is not None:
            folders.synchronise_core(self.namespace, self.path)
        return written if details else None

    # --- more than HAEMA has

    @_releasing
    def records(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Return id, text and timestamps of every memory in use, oldest first."""
        rows = (
            self.namespace.memories.active()
            .order_by("timestamp_ms", "pk")
            .values_list("pk", "text", "timestamp_ms")
        )
        return [(str(pk), text, Stamp(stamp).as_metadata()) for pk, text, stamp in rows]

    @_releasing
    def history(self) -> list[Recalled]:
        """Return what is no longer in use and still kept, latest first."""
        return [
            recall.as_recalled(item) for item in self.namespace.memories.history().latest_first()
        ]

    @_releasing
    def restore(self, memory_id: str) -> None:
        """Put a superseded memory back into use."""
        lifecycle.restore(self.namespace, memory_id, by="script")

    @_releasing
    def export_core(self, file: str | Path | None = None) -> Path:
        """Write the core memory to `file`, or to `core.md` in the folder."""
        target = Path(file) if file else self.path / folders.CORE_FILE
        folders.export_core(folders.synchronise_core(self.namespace, self.path), target)
        return target

    @_releasing
    def import_core(self, file: str | Path | None = None) -> None:
        """Take the core memory of `file`, or of `core.md` in the folder, as a new version."""
        folders.import_core(self.namespace, Path(file) if file else self.path / folders.CORE_FILE)
        folders.synchronise_core(self.namespace, self.path)

    @_releasing
    def import_folder(self, folder: str | Path) -> int:
        """Bring in what HAEMA stored in another folder; return how many memories came."""
        source = Path(folder)
        count = folder_import.import_rows(self.namespace, folder_import.read_rows(source))
        embed_missing(self.namespace, self._vectors)
        if (source / folders.CORE_FILE).exists():
            folders.import_core(self.namespace, source / folders.CORE_FILE)
            folders.synchronise_core(self.namespace, self.path)
        return count

    def _note(self, written: AddResult) -> None:
        if written.ids:
            self.events.append(("upsert", [str(pk) for pk in written.ids]))
        if written.superseded:
            self.events.append(("delete", [str(pk) for pk in written.superseded]))

    @property
    def _vectors(self) -> VectorSource:
        if self.embedding_client is not None and self.output_dimensionality is not None:
            return ClientSource(self.embedding_client, self.output_dimensionality)
        return SiteSource()

    @property
    def _models(self) -> Models:
        return Models(self._vectors, self.llm_client or site_model())


def _check(
    output_dimensionality: int | None, merge_top_k: int, merge_distance_cutoff: float
) -> None:
    if output_dimensionality is not None and output_dimensionality <= 0:
        raise ValueError("output_dimensionality must be > 0")
    if merge_top_k <= 0:
        raise ValueError("merge_top_k must be > 0")
    if merge_distance_cutoff < 0:
        raise ValueError("merge_distance_cutoff must be >= 0")
