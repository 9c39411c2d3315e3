"""The end of the pipeline normalise → chunk → embed → index (requirement 1.4): chunks become entries of a world, once.

The passages are cut from the entry that the chunks make up; vectors follow after commit.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from knowledge.entry_store import Outcome
from knowledge.schemas import LoreIn, RuleIn
from knowledge.upsert import upsert_lore, upsert_rule
from retrieval.errors import Invalid
from retrieval.indexing import Chunk, Domain
from retrieval.text import slugify
from worlds.models import World

LORE_METADATA = set(LoreIn.model_fields) - {"title", "slug", "body", "aliases", "language", "extra"}


@transaction.atomic
def ingest_lore(chunks: Sequence[Chunk], *, world: World) -> dict[str, Outcome]:
    """Write the lore that `normalize_lore` cut; return what became of each entry, by its slug. The same twice changes
    nothing. What nobody said who may see stays the game master's."""
    outcomes: dict[str, Outcome] = {}
    for reference, parts in _by_entry(chunks, "lore").items():
        told = {key: value for key, value in parts[0].metadata.items() if key in LORE_METADATA}
        entry = LoreIn.model_validate(
            {
                **told,
                "slug": slugify(reference),
                "title": parts[0].payload["title"],
                "body": _body(parts),
                "aliases": parts[0].payload.get("aliases", []),
                "language": parts[0].metadata.get("language", ""),
            }
        )
        row, outcome = upsert_lore(world, entry, reason="ingest")
        outcomes[row.slug] = outcome
    return outcomes


@transaction.atomic
def ingest_srd(chunks: Sequence[Chunk], *, world: World) -> dict[str, Outcome]:
    """Write rules that `normalize_srd` cut as rules of the world's own; an id without a document gets `house/`."""
    outcomes: dict[str, Outcome] = {}
    for reference, parts in _by_entry(chunks, "srd").items():
        key = reference if "/" in reference else f"house/{slugify(reference)}"
        told: dict[str, Any] = {
            "rule_id": key,
            "title": parts[0].payload["title"],
            "body": _body(parts),
        }
        if kind := parts[0].metadata.get("kind"):
            told["kind"] = kind
        told["aliases"] = parts[0].payload.get("aliases", [])
        row, outcome = upsert_rule(world, RuleIn.model_validate(told), reason="ingest")
        outcomes[row.key] = outcome
    return outcomes


def _by_entry(chunks: Sequence[Chunk], domain: Domain) -> dict[str, list[Chunk]]:
    entries: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        if chunk.domain != domain:
            raise Invalid(f"The chunk {chunk.id!r} is of the domain {chunk.domain}, not {domain}.")
        entries[str(chunk.payload.get("entry") or chunk.id.partition("#")[0])].append(chunk)
    return {
        entry: sorted(parts, key=lambda each: each.metadata.get("position", 0))
        for entry, parts in entries.items()
    }


def _body(parts: Sequence[Chunk]) -> str:
    return "\n\n".join(_fenced(part) for part in parts)


def _fenced(part: Chunk) -> str:
    if not part.metadata.get("secret"):
        return part.text
    audiences = " ".join(part.metadata.get("audiences", []))
    return f":::secret {audiences}".rstrip() + f"\n{part.text}\n:::"
