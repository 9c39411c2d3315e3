"""HAEMA's `Memory` class on the memory ledger: core, latest and long-term memory.

    from memories.haema import EmbeddingClient, LLMClient, Memory

    memory = Memory("./store", 1536, MyEmbeddings(), MyModel())
    memory.add(["Mira prefers short answers."])
    memory.search("How should I answer?", 3)

It works in a plain script: importing this module sets up Django, and the embedded database starts
by itself. Without clients, or with `...` in their place, those of the settings are used.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from types import EllipsisType
from typing import Any, Literal, ParamSpec, TypeVar, overload

from django.db import connection
from pydantic import BaseModel

from memories import core, folders
from memories.curation import lifecycle
from memories.found_memory import FoundMemory
from memories.haema import folder_import, standalone
from memories.ingest import add
from memories.ingest.add import site_model
from memories.ingest.model_add import AddResult, Models
from memories.ledger.client_vectors import embed_missing
from memories.ledger.plan import Particulars
from memories.namespaces import get_or_create_namespace
from memories.search import recall
from memories.search.filters import MemoryFilter
from memories.search.relevant import MENTIONS
from memories.vectors import ClientSource, SiteSource, Vectors, VectorSource
from worlds.lookup import find_world

P = ParamSpec("P")
R = TypeVar("R")


class EmbeddingClient:
    """Both methods return float32 of shape `(len(texts), output_dimensionality)`; their errors
    are raised to the caller. A class that has neither stands for the site's embedder."""

    def embed_query(self, texts: Sequence[str], output_dimensionality: int) -> Vectors:
        raise NotImplementedError(f"{type(self).__name__} has no embed_query().")

    def embed_document(self, texts: Sequence[str], output_dimensionality: int) -> Vectors:
        raise NotImplementedError(f"{type(self).__name__} has no embed_document().")


class LLMClient:
    """Returns a dict that `response_model` accepts. A class without the method stands for the
    site's language model.

    ValueError, TypeError and OSError are retried; other errors are raised to the caller.
    """

    def generate_structured(
        self, system_prompt: str, user_prompt: str, response_model: type[BaseModel]
    ) -> dict[str, Any]:
        raise NotImplementedError(f"{type(self).__name__} has no generate_structured().")


Client = TypeVar("Client", EmbeddingClient, LLMClient)


def own_client(client: Client | EllipsisType | None, interface: type[Client]) -> Client | None:
    """Return `client`, or None for one that HAEMA's pages leave open: `...`, or an empty class."""
    if client is None or isinstance(client, EllipsisType):
        return None
    methods = [name for name in vars(interface) if not name.startswith("_")]
    is_empty = all(getattr(type(client), m, None) is vars(interface)[m] for m in methods)
    return None if is_empty else client


def releases_connection(method: Callable[P, R]) -> Callable[P, R]:
    """Return the thread's connection to the pool after each call.

    The threads of a script serve no requests, so Django would never do it.
    """

    @wraps(method)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(*args, **kwargs)
        finally:
            # Inside the caller's own transaction the connection must stay open.
            if not connection.in_atomic_block:
                connection.close()

    return wrapper


class Memory:
    """The memory of one folder, or of the `namespace` of a game's `world` (its slug; the oldest
    without one), such as that of an NPC, `npc:jory-fenn`. Two folders never share a row.

    Several objects and processes may open one folder at the same time.

    `events` lists the changes by this object: `("upsert", ids)` and `("delete", ids)`. A superseded
    memory counts as deleted; it stays readable as history.
    """

    @releases_connection
    def __init__(
        self,
        path: str | Path | None = None,
        output_dimensionality: int | None = None,
        embedding_client: EmbeddingClient | EllipsisType | None = None,
        llm_client: LLMClient | EllipsisType | None = None,
        merge_top_k: int = 3,
        merge_distance_cutoff: float = 0.25,
        *,
        namespace: str = "",
        world: str = "",
    ) -> None:
        if (path is None) == (not namespace):
            raise ValueError("name either the folder of a memory or the namespace of a world")
        if output_dimensionality is not None and output_dimensionality <= 0:
            raise ValueError("output_dimensionality must be > 0")
        if merge_top_k <= 0:
            raise ValueError("merge_top_k must be > 0")
        if merge_distance_cutoff < 0:
            raise ValueError("merge_distance_cutoff must be >= 0")
        self.embedding_client = own_client(embedding_client, EmbeddingClient)
        self.llm_client = own_client(llm_client, LLMClient)
        if self.embedding_client is not None and output_dimensionality is None:
            raise ValueError("output_dimensionality is required with an embedding_client")
        self.path = None if path is None else Path(path)
        self.world, self.namespace_name = world, namespace
        self.output_dimensionality = output_dimensionality
        self.merge_top_k, self.merge_distance_cutoff = merge_top_k, merge_distance_cutoff
        self.events: list[tuple[Literal["upsert", "delete"], list[str]]] = []
        standalone.ensure_tables()
        self.open_namespace()

    def open_namespace(self) -> None:
        """Find or create the namespace; that of a new folder imports what HAEMA stored there."""
        if self.path is None:
            world = find_world(self.world or None)
            self.namespace = get_or_create_namespace(world, self.namespace_name)
            haema_rows, is_new = [], False
        else:
            is_haema_store = not (self.path / folders.MARKER).exists()
            haema_rows = folder_import.read_rows(self.path) if is_haema_store else []
            self.namespace, is_new = folders.open_folder(self.path)
        if self.embedding_client is not None and self.output_dimensionality is not None:
            folders.set_vector_width(self.namespace, self.output_dimensionality)
        # Not saved: they are parameters of this object, as in HAEMA, and not of the stored memory.
        self.namespace.merge_top_k = self.merge_top_k
        self.namespace.merge_distance_cutoff = self.merge_distance_cutoff
        if is_new and haema_rows:
            folder_import.import_rows(self.namespace, haema_rows)
            embed_missing(self.namespace, self.vector_source)
        self.synchronize_core()

    def synchronize_core(self) -> str:
        """Return the core memory; with a folder, after taking over edits of its `core.md`."""
        if self.path is None:
            return core.current(self.namespace).markdown
        return folders.synchronize_core(self.namespace, self.path)

    # --- HAEMA's interface

    @releases_connection
    def get_core(self) -> str:
        """Return the core memory, after taking over edits of `core.md` in the folder."""
        return self.synchronize_core()

    @overload
    def get_latest(self, begin: int, count: int) -> list[str]: ...
    @overload
    def get_latest(
        self, begin: int, count: int, *, details: Literal[True]
    ) -> list[FoundMemory]: ...

    @releases_connection
    def get_latest(
        self, begin: int, count: int, *, details: bool = False
    ) -> list[str] | list[FoundMemory]:
        """Return `count` texts, latest first, from the `begin`-th (1 is the latest).

        With `details`, return `FoundMemory` objects with ids and timestamps.
        """
        if begin < 1:
            raise ValueError("begin must be >= 1")
        memories = recall.latest(self.namespace, begin=int(begin), count=count) if count > 0 else []
        return memories if details else [memory.text for memory in memories]

    @overload
    def search(
        self,
        content: str,
        n: int,
        *,
        mode: str | None = None,
        details: Literal[False] = False,
        share: float = MENTIONS,
        **where: Any,
    ) -> list[str]: ...
    @overload
    def search(
        self,
        content: str,
        n: int,
        *,
        mode: str | None = None,
        details: Literal[True],
        share: float = MENTIONS,
        **where: Any,
    ) -> list[FoundMemory]: ...

    @releases_connection
    def search(
        self,
        content: str,
        n: int,
        *,
        mode: str | None = None,
        details: bool = False,
        share: float = MENTIONS,
        **where: Any,
    ) -> list[str] | list[FoundMemory]:
        """Return up to `n` memories that match `content` best: with a client's vectors the nearest,
        with those of the site the ones of at least `share` of the best one's relevance. `where` are
        fields of `MemoryFilter`, such as `scope`, `tags` and `metadata`.

        Texts of former memories, which a newer one contradicts, are left out. With `details`,
        return `FoundMemory` objects with ids, scores and sources, the former ones marked and after
        the current ones. `mode` is vector,
        hybrid or keyword. The default is vector for a small memory, as in HAEMA, and hybrid from
        `recall.HYBRID_FROM` memories on, which are enough to tell rare words from common ones.
        """
        if n <= 0:
            return []
        if not isinstance(n, int):
            raise ValueError(f"n must be an int, got {n!r}")
        source = self.vector_source
        # Imported and hand-written memories get the client's vectors when they are first searched.
        embed_missing(self.namespace, source)
        result = recall.search(
            self.namespace,
            content,
            limit=n,
            mode=mode,
            vectors=source,
            where=MemoryFilter(**where),
            share=share,
            former=details,
        )
        memories = list(result.memories)
        return memories if details else [memory.text for memory in memories]

    @overload
    def add(self, contents: str | Iterable[str]) -> None: ...
    @overload
    def add(
        self, contents: str | Iterable[str], *, details: Literal[True], **about: Any
    ) -> AddResult: ...

    @releases_connection
    def add(
        self, contents: str | Iterable[str], *, details: bool = False, **about: Any
    ) -> AddResult | None:
        """Remember all of `contents`, or nothing if an error is raised.

        `about` are fields of `Particulars`, such as `source`, `subject`, `speaker` and `event_at`.
        With `details`, return what was written.
        """
        models = Models(self.vector_source, self.llm_client or site_model(self.namespace))
        result = add.add(self.namespace, contents, models=models, about=Particulars(**about))
        if result.ids:
            self.events.append(("upsert", [str(pk) for pk in result.ids]))
        if result.superseded:
            self.events.append(("delete", [str(pk) for pk in result.superseded]))
        if result.core is not None:
            self.synchronize_core()
        return result if details else None

    # --- additions to HAEMA's interface

    @releases_connection
    def records(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Return id, text and timestamps (as HAEMA's metadata) of every active memory, oldest
        first."""
        memories = self.namespace.memories.active().order_by("timestamp_ms", "pk")
        records = []
        for pk, text, stamp in memories.values_list("pk", "text", "timestamp_ms"):
            moment = datetime.fromtimestamp(stamp // 1000, tz=UTC)
            metadata = {"timestamp": f"{moment:%Y-%m-%dT%H:%M:%SZ}", "timestamp_ms": stamp}
            records.append((str(pk), text, metadata))
        return records

    @releases_connection
    def history(self) -> list[FoundMemory]:
        """Return the superseded, archived, expired and rejected memories, latest first."""
        rows = self.namespace.memories.history().latest_first()
        return [FoundMemory.of_row(item) for item in rows]

    @releases_connection
    def restore(self, memory_id: str) -> None:
        """Make a superseded memory active again."""
        lifecycle.restore(self.namespace, memory_id, by="script")

    @releases_connection
    def export_core(self, file: str | Path | None = None) -> Path:
        """Write the core memory to `file`, or to `core.md` in the folder."""
        target = self.core_file(file)
        folders.export_core(self.synchronize_core(), target)
        return target

    @releases_connection
    def import_core(self, file: str | Path | None = None) -> None:
        """Store the text of `file`, or of `core.md` in the folder, as a new core version."""
        folders.import_core(self.namespace, self.core_file(file))
        self.synchronize_core()

    def core_file(self, file: str | Path | None) -> Path:
        """Return `file`, by default `core.md` in the folder; raise ValueError without both."""
        if file is None and self.path is None:
            raise ValueError("name a file: this memory has no folder")
        return Path(file) if file else Path(self.path or "") / folders.CORE_FILE

    @releases_connection
    def import_folder(self, folder: str | Path) -> int:
        """Import the HAEMA store in another folder; return the number of memories."""
        source = Path(folder)
        count = folder_import.import_rows(self.namespace, folder_import.read_rows(source))
        embed_missing(self.namespace, self.vector_source)
        if (source / folders.CORE_FILE).exists():
            folders.import_core(self.namespace, source / folders.CORE_FILE)
            self.synchronize_core()
        return count

    @property
    def vector_source(self) -> VectorSource:
        if self.embedding_client is not None and self.output_dimensionality is not None:
            return ClientSource(self.embedding_client, self.output_dimensionality)
        return SiteSource()
