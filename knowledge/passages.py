"""Bring the passages of entries in step with their text. Rows whose text stays keep their id, vector and reveals."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from django.utils import timezone
from rapidfuzz.fuzz import ratio

from knowledge.audience import narrow_audience
from knowledge.models import Lore, LorePassage, Rule, RulePassage
from retrieval.indexing import Chunk, SourceEntry, chunk_entry
from retrieval.text import guess_language

AnyPassage = TypeVar("AnyPassage", LorePassage, RulePassage)

SAME_SECRET = 70
"""From this likeness (0–100) on, a changed secret is the same secret: whoever was told it still knows it."""

SHARED = (
    "text",
    "context",
    "language",
    "payload",
    "metadata",
    "world_id",
    "visibility",
    "known_to",
    "position",
)
LORE_FIELDS = (*SHARED, "campaign_id", "published", "secret", "revealed_to")
RULE_FIELDS = (*SHARED, "system_id")
BATCH = 500


def write_lore_passages(entries: Sequence[Lore]) -> int:
    """Cut the entries anew and write what changed; return how many passages were written. Within a transaction."""
    wanted = {
        entry.pk: [_lore_passage(entry, chunk) for chunk in _lore_chunks(entry)]
        for entry in entries
    }
    return _replace(LorePassage, "lore_id", wanted, LORE_FIELDS)


def write_rule_passages(rules: Sequence[Rule]) -> int:
    """The same for rules; their documents should be loaded with them."""
    wanted = {
        rule.pk: [_rule_passage(rule, chunk) for chunk in _rule_chunks(rule)] for rule in rules
    }
    return _replace(RulePassage, "rule_id", wanted, RULE_FIELDS)


# --- what passages an entry should have


def _lore_chunks(entry: Lore) -> list[Chunk]:
    read = SourceEntry(
        entry.title,
        entry.body,
        id=entry.slug,
        language=entry.language,
        aliases=tuple(entry.aliases),
    )
    return chunk_entry(read, domain="lore")


def _rule_chunks(rule: Rule) -> list[Chunk]:
    read = SourceEntry(
        rule.title,
        rule.body,
        id=rule.key,
        language=rule.language,
        breadcrumb=tuple(rule.breadcrumb),
    )
    return chunk_entry(read, domain="srd")


def _lore_passage(entry: Lore, chunk: Chunk) -> LorePassage:
    passage = LorePassage(
        lore=entry,
        world_id=entry.world_id,
        campaign_id=entry.campaign_id,
        published=entry.status == Lore.Status.PUBLISHED,
        secret=chunk.metadata.get("secret", False),
        text=chunk.text,
        language=entry.language,
        context=_context(
            entry.title, entry.aliases, chunk.payload["headings"], entry.in_world_label
        ),
        payload=_payload(chunk),
        metadata={
            "kind": entry.kind,
            "tags": entry.tags,
            "in_world_at": entry.in_world_at,
            "audiences": chunk.metadata.get("audiences"),
        },
        position=chunk.metadata["position"],
    )
    passage.set_audience()
    return passage


def _rule_passage(rule: Rule, chunk: Chunk) -> RulePassage:
    visibility, known_to = narrow_audience(
        rule.visibility, rule.known_to, block=chunk.metadata.get("audiences")
    )
    return RulePassage(
        rule=rule,
        world_id=rule.world_id,
        system_id=rule.document.system_id,
        visibility=visibility,
        known_to=known_to,
        text=chunk.text,
        language=rule.language,
        context=_context(
            rule.title, _readable_with(rule), chunk.payload["headings"], rule.get_kind_display()
        ),
        payload=_payload(chunk),
        metadata={
            "kind": rule.kind,
            "document": rule.document.slug,
            "edition": rule.document.edition,
        },
        position=chunk.metadata["position"],
    )


def _context(title: str, aliases: Sequence[str], headings: Sequence[str], label: str) -> str:
    lines = [title, ", ".join(aliases), " › ".join(headings), label]
    return "\n".join(line for line in lines if line)


def _readable_with(rule: Rule) -> list[str]:
    """The aliases in the rule's own script. Others would blur its vector, and are found by the glossary anyway."""
    return [alias for alias in rule.aliases if guess_language(alias) == guess_language(rule.title)]


def _payload(chunk: Chunk) -> dict[str, Any]:
    return {"title": chunk.payload["title"], "headings": chunk.payload["headings"]}


# --- against what is stored


def _replace(
    model: type[AnyPassage],
    owner: str,
    wanted: dict[Any, list[AnyPassage]],
    fields: tuple[str, ...],
) -> int:
    stored: dict[Any, list[AnyPassage]] = defaultdict(list)
    for row in model.objects.filter(**{f"{owner}__in": list(wanted)}).defer(
        "embedding", "search_vector"
    ):
        stored[getattr(row, owner)].append(row)
    fresh: list[AnyPassage] = []
    changed: list[AnyPassage] = []
    gone: list[Any] = []
    for key, passages in wanted.items():
        for new, old in _paired(passages, stored[key]):
            if old is None:
                fresh.append(new)
            elif _take_over(new, old, fields):
                changed.append(old)
        gone += [row.pk for row in stored[key]]
    model.objects.filter(pk__in=gone).delete()
    model.objects.bulk_create(fresh, batch_size=BATCH)
    model.objects.bulk_update(
        changed, [*_relations(fields), "version", "updated_at"], batch_size=BATCH
    )
    return len(fresh) + len(changed)


def _paired(
    new: Iterable[AnyPassage], old: list[AnyPassage]
) -> list[tuple[AnyPassage, AnyPassage | None]]:
    """Pair each new passage with the stored one it continues: same text, else most alike. Takes those out of `old`."""
    pairs: list[tuple[AnyPassage, AnyPassage | None]] = []
    unmatched = []
    by_text = {row.text: row for row in reversed(old)}
    for passage in new:
        if same := by_text.pop(passage.text, None):
            old.remove(same)
            pairs.append((passage, same))
        else:
            unmatched.append(passage)
    for passage in unmatched:
        likeness, like = max(
            ((ratio(row.text, passage.text), row) for row in old),
            key=lambda x: x[0],
            default=(0, None),
        )
        if like is not None and likeness >= SAME_SECRET:
            old.remove(like)
            pairs.append((passage, like))
        else:
            pairs.append((passage, None))
    return pairs


def _take_over(new: AnyPassage, old: AnyPassage, fields: tuple[str, ...]) -> bool:
    """Bring `old` to what `new` says; return whether that changed anything."""
    if isinstance(new, LorePassage) and isinstance(old, LorePassage) and old.secret and new.secret:
        new.revealed_to = old.revealed_to
        new.set_audience()
    differs = any(getattr(new, name) != getattr(old, name) for name in fields)
    if differs:
        for name in fields:
            setattr(old, name, getattr(new, name))
        old.version += 1
        old.updated_at = timezone.now()
    return differs


def _relations(columns: tuple[str, ...]) -> list[str]:
    """bulk_update wants the names of relations, not of their columns."""
    return [name.removesuffix("_id") for name in columns]
