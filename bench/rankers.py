"""The rankers that are compared: our legs, their fusion, and the baselines."""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from bench.datasets import Question
from bench.peers import PEERS, Ranking, Tenant
from retrieval.search import Fusion, Mode, Rerank, SearchRequest, search

Way = Callable[[Question], list[UUID]]


def ways(where: Tenant, limit: int = 10) -> dict[str, Way]:
    """Return every way to ask `where`, by its name. The re-ranker reads the best ten hits, with
    care thirty."""
    ours = {
        "keyword leg": _ours(where, limit, Mode.KEYWORD),
        "vector leg": _ours(where, limit, Mode.VECTOR),
        "fused, rrf": _ours(where, limit, Mode.HYBRID, Fusion.RRF),
        "fused, score": _ours(where, limit, Mode.HYBRID),
        "fused, re-ranked": _ours(where, limit, Mode.HYBRID, rerank=Rerank.FAST),
        "fused, re-ranked with care": _ours(where, limit, Mode.HYBRID, rerank=Rerank.CAREFUL),
    }
    return {**{name: _peer(peer, where) for name, peer in PEERS.items()}, **ours}


def _peer(peer: Callable[[Tenant, str, str], Ranking], where: Tenant) -> Way:
    return lambda question: peer(where, question.text, question.language)


def _ours(
    where: Tenant,
    limit: int,
    mode: Mode,
    fusion: Fusion = Fusion.SCORE,
    rerank: Rerank = Rerank.OFF,
) -> Way:
    preset = replace(where.preset, fusion=fusion)

    def ask(question: Question) -> list[UUID]:
        found = search(
            where.rows,
            SearchRequest(
                query=question.text,
                scopes=where.scopes,
                hidden=where.hidden,
                preset=preset,
                limit=limit,
                mode=mode,
                language=question.language,
                rerank=rerank,
            ),
        )
        return [hit.id for hit in found]

    return ask
