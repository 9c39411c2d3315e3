"""The last step of the pipeline normalise → chunk → embed → index (requirement 1.4): chunks become
entries of a world.

The chunks are the passages of the entry; vectors follow after commit."""

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

LORE_METADATA = set(LoreIn.model_fields) - {"title", "slug", "body", "aliases", "extra"}


@transaction.atomic
def ingest_lore(chunks: Sequence[Chunk], *, world: World) -> dict[str, Outcome]:
    """Write lore that `normalize_lore` cut; return the outcome of each entry by its slug. An entry
    without a visibility is for the game master. Raises `Invalid` for chunks of another domain."""
    outcomes: dict[str, Outcome] = {}
    for reference, parts in _by_entry(chunks, "lore").items():
        metadata = parts[0].metadata
        fields = {key: value for key, value in metadata.items() if key in LORE_METADATA}
        entry = LoreIn.model_validate(fields | {"slug": slugify(reference)} | _texts(parts))
        row, outcome = upsert_lore(world, entry, reason="ingest", chunks=_passages(parts))
        outcomes[row.slug] = outcome
    return outcomes


@transaction.atomic
def ingest_srd(chunks: Sequence[Chunk], *, world: World) -> dict[str, Outcome]:
    """Write the rules that `normalize_srd` cut; an id without a document gets `house/`."""
    outcomes: dict[str, Outcome] = {}
    for reference, parts in _by_entry(chunks, "srd").items():
        key = reference if "/" in reference else f"house/{slugify(reference)}"
        kind = parts[0].metadata.get("kind") or "custom"
        entry = RuleIn.model_validate({"rule_id": key, "kind": kind} | _texts(parts))
        row, outcome = upsert_rule(world, entry, reason="ingest", chunks=_passages(parts))
        outcomes[row.key] = outcome
    return outcomes


def _by_entry(chunks: Sequence[Chunk], domain: Domain) -> dict[str, list[Chunk]]:
    entries: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        if chunk.domain != domain:
            raise Invalid(f"The chunk {chunk.id!r} is of the domain {chunk.domain}, not {domain}.")
        entries[str(chunk.payload.get("entry") or chunk.id.partition("#")[0])].append(chunk)
    for parts in entries.values():
        parts.sort(key=lambda chunk: chunk.metadata.get("position", 0))
    return entries


def _passages(parts: Sequence[Chunk]) -> Sequence[Chunk] | None:
    """The chunks as they are, or None for an entry that must be cut again: a fence that was left
    inside a chunk may open a secret that reaches into the next one."""
    return None if any(":::" in part.text for part in parts) else parts


def _texts(parts: Sequence[Chunk]) -> dict[str, Any]:
    """Title, aliases and body; the body is what people edit, so secrets get their fences again."""
    bodies = []
    for part in parts:
        fence = f":::secret {' '.join(part.metadata.get('audiences', []))}".rstrip()
        bodies.append(f"{fence}\n{part.text}\n:::" if part.metadata.get("secret") else part.text)
    payload = parts[0].payload
    return {
        "title": payload["title"],
        "aliases": payload.get("aliases", []),
        "body": "\n\n".join(bodies),
    }
