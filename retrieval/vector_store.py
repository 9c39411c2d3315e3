"""The seam to other engines (requirement 1.5): an async store of chunks by domain. PostgreSQL
implements it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from asgiref.sync import sync_to_async
from django.db.models import Q, QuerySet

from retrieval.domains import Scope
from retrieval.errors import Invalid, NotFound
from retrieval.indexing.chunk_schema import Chunk, ChunkScore, Domain
from retrieval.presets import get_preset
from retrieval.search.engine import search
from retrieval.search.hits import Hit
from retrieval.search.request import SearchRequest

RANGE = {"gte", "gt", "lte", "lt"}


class VectorStore(Protocol):
    """What a search engine has to do for Memory37. A store is bound to one tenant: no call crosses
    that line."""

    async def upsert(self, *, domain: str, items: Sequence[Chunk]) -> int:
        """Store or replace `items` by their id; return how many changed something."""

    async def search(
        self,
        *,
        domain: str,
        query: str,
        k_vector: int,
        k_keyword: int | None = None,
        filters: Mapping[str, Any] | None = None,
    ) -> list[ChunkScore]:
        """Return the chunks that answer `query` best; without `k_keyword` by meaning alone."""


@dataclass(frozen=True)
class StoreDomain:
    """One domain of one tenant: what may be found in it, and who writes it."""

    rows: "Callable[[], QuerySet[Any, Any]]"
    """Narrowed by world and audience."""
    scopes: Sequence[Scope]
    write: Callable[[Sequence[Chunk]], int]
    """The app's own `ingest_…`: it knows the entries that passages belong to."""
    filters: frozenset[str] = frozenset()
    """Keys of `metadata` that may be filtered by."""
    hidden: bool = False


class PostgresStore:
    """The passage tables as a `VectorStore`."""

    def __init__(self, shelves: Mapping[Domain, StoreDomain]) -> None:
        self._domains = shelves

    async def upsert(self, *, domain: str, items: Sequence[Chunk]) -> int:
        strangers = [item.id for item in items if item.domain != domain]
        if strangers:
            raise Invalid(f"These chunks are not of the domain {domain}.", candidates=strangers[:5])
        return await sync_to_async(self._domain(domain).write)(items)

    async def search(
        self,
        *,
        domain: str,
        query: str,
        k_vector: int,
        k_keyword: int | None = None,
        filters: Mapping[str, Any] | None = None,
    ) -> list[ChunkScore]:
        shelf = self._domain(domain)
        settings = replace(get_preset(domain), k_vector=k_vector, k_keyword=k_keyword or 0)
        rows = filter_metadata(shelf.rows(), filters or {}, allowed_keys=shelf.filters)
        found = await sync_to_async(search)(
            rows,
            SearchRequest(
                query=query,
                scopes=shelf.scopes,
                hidden=shelf.hidden,
                preset=settings,
                limit=max(k_vector, k_keyword or 0),
                mode="hybrid" if k_keyword else "vector",
            ),
        )
        return [_chunk_score(domain, hit) for hit in found.hits]

    def _domain(self, domain: str) -> StoreDomain:
        shelves: Mapping[str, StoreDomain] = {
            str(name): shelf for name, shelf in self._domains.items()
        }
        if domain not in shelves:
            raise NotFound(
                f"There is no domain {domain!r} in this store.", candidates=sorted(shelves)
            )
        return shelves[domain]


def filter_metadata(
    rows: "QuerySet[Any, Any]", filters: Mapping[str, Any], *, allowed_keys: frozenset[str]
) -> "QuerySet[Any, Any]":
    """Narrow by metadata: a value, a list of which one must hold, or a range `{"gte": …, "lt":
    …}`."""
    if unknown := sorted(set(filters) - allowed_keys):
        raise Invalid(f"Unknown filter {unknown[0]!r}.", candidates=sorted(allowed_keys))
    for key, wanted in filters.items():
        rows = rows.filter(_condition(key, wanted))
    return rows


def _condition(key: str, wanted: Any) -> Q:
    if isinstance(wanted, Mapping):
        if not wanted or set(wanted) - RANGE:
            raise Invalid(f"A range for {key!r} takes {', '.join(sorted(RANGE))}.")
        return Q(**{f"metadata__{key}__{bound}": value for bound, value in wanted.items()})
    if isinstance(wanted, list | tuple | set):
        any_of = Q(pk__in=[])
        for value in wanted:
            any_of |= Q(metadata__contains={key: value})
        return any_of
    return Q(metadata__contains={key: wanted})


def _chunk_score(domain: str, hit: Hit) -> ChunkScore:
    legs = {
        name: leg
        for name, leg in hit.legs.items()
        if leg.rank is not None and leg.score is not None
    }
    return ChunkScore.model_validate(
        {
            "id": str(hit.id),
            "domain": domain,
            "text": hit.text,
            "payload": hit.payload,
            "metadata": hit.metadata,
            "score": hit.score,
            "legs": legs,
        }
    )
