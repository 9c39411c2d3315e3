"""The interface to other search engines (requirement 1.5), and its PostgreSQL implementation."""

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
from retrieval.search.request import Hit, SearchRequest

RANGE = {"gte", "gt", "lte", "lt"}


class VectorStore(Protocol):
    """What Memory37 needs of a search engine. A store is bound to one tenant."""

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
    """One domain of one tenant: its visible rows and the function that writes to it."""

    rows: "Callable[[], QuerySet[Any, Any]]"
    """Narrowed by world and audience."""
    scopes: Sequence[Scope]
    write: Callable[[Sequence[Chunk]], int]
    """The app's own `ingest_…` function, which knows the entries that passages belong to."""
    filters: frozenset[str] = frozenset()
    """Keys of `metadata` that may be filtered by."""
    hidden: bool = False


class PostgresStore:
    """The passage tables as a `VectorStore`."""

    def __init__(self, domains: Mapping[Domain, StoreDomain]) -> None:
        self._domains = domains

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
        store_domain = self._domain(domain)
        settings = replace(get_preset(domain), k_vector=k_vector, k_keyword=k_keyword or 0)
        allowed_keys = store_domain.filters
        rows = filter_metadata(store_domain.rows(), filters or {}, allowed_keys=allowed_keys)
        limit, mode = max(k_vector, k_keyword or 0), "hybrid" if k_keyword else "vector"
        request = SearchRequest(
            query=query,
            scopes=store_domain.scopes,
            preset=settings,
            hidden=store_domain.hidden,
            limit=limit,
            mode=mode,
        )
        result = await sync_to_async(search)(rows, request)
        return [_chunk_score(domain, hit) for hit in result.hits]

    def _domain(self, domain: str) -> StoreDomain:
        by_name = {str(name): store_domain for name, store_domain in self._domains.items()}
        if domain not in by_name:
            detail = f"There is no domain {domain!r} in this store."
            raise NotFound(detail, candidates=sorted(by_name))
        return by_name[domain]


def filter_metadata(
    rows: "QuerySet[Any, Any]", filters: Mapping[str, Any], *, allowed_keys: frozenset[str]
) -> "QuerySet[Any, Any]":
    """Narrow by metadata: a value, a list of alternatives, or a range `{"gte": …, "lt": …}`."""
    if unknown := sorted(set(filters) - allowed_keys):
        raise Invalid(f"Unknown filter {unknown[0]!r}.", candidates=sorted(allowed_keys))
    for key, value in filters.items():
        rows = rows.filter(_condition(key, value))
    return rows


def _condition(key: str, value: Any) -> Q:
    if isinstance(value, Mapping):
        if not value or set(value) - RANGE:
            raise Invalid(f"A range for {key!r} takes {', '.join(sorted(RANGE))}.")
        return Q(**{f"metadata__{key}__{bound}": limit for bound, limit in value.items()})
    if isinstance(value, list | tuple | set):
        any_of = Q(pk__in=[])  # an empty list matches nothing
        for member in value:
            any_of |= Q(metadata__contains={key: member})
        return any_of
    return Q(metadata__contains={key: value})


def _chunk_score(domain: str, hit: Hit) -> ChunkScore:
    both = {name: leg for name, leg in hit.legs.items() if None not in (leg.rank, leg.score)}
    fields: dict[str, Any] = {"text": hit.text, "payload": hit.payload, "metadata": hit.metadata}
    fields |= {"id": str(hit.id), "domain": domain, "score": hit.score, "legs": both}
    return ChunkScore.model_validate(fields)
