"""Hybrid search over passage models. Other apps import from this package, not from its modules."""

from retrieval.presets import Fusion, Mode, Preset, Rerank, get_preset
from retrieval.search.compiled_rows import (
    CompiledRows,
    clear_row_estimates,
    count_rows,
    get_compiled_rows,
    named_parameters,
)
from retrieval.search.engine import search, start_span
from retrieval.search.request import (
    MAX_HITS,
    Expansion,
    Hit,
    Leg,
    NamedPassage,
    SearchRequest,
    SearchResult,
)
from retrieval.search.statement import HIT_COLUMNS, execute_together
from retrieval.search.vector_share import clear_vector_shares, read_share

__all__ = [
    "HIT_COLUMNS",
    "MAX_HITS",
    "CompiledRows",
    "Expansion",
    "Fusion",
    "Hit",
    "Leg",
    "Mode",
    "NamedPassage",
    "Preset",
    "Rerank",
    "SearchRequest",
    "SearchResult",
    "clear_row_estimates",
    "clear_vector_shares",
    "count_rows",
    "execute_together",
    "get_compiled_rows",
    "get_preset",
    "named_parameters",
    "read_share",
    "search",
    "start_span",
]
