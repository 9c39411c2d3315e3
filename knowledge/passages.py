"""Passages of rules and lore. A passage whose text stays keeps its id, vector and reveals."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from django.utils import timezone
from rapidfuzz.fuzz import ratio

from knowledge.audience import narrow_audience
from knowledge.models import Lore, LorePassage, Rule, RulePassage
from retrieval.indexing import Chunk, SourceEntry, chunk_entry
from retrieval.text import guess_language, name_words, picture_targets, word_stem

AnyPassage = TypeVar("AnyPassage", LorePassage, RulePassage)
Chunks = Mapping[Any, Sequence[Chunk]]

SAME_SECRET = 70
"""From this similarity (0–100) on, a changed secret is the same secret: its reveals stay."""
MOST_PAIRS, MOST_CELLS, LEAST_COMPARED = 20_000, 10_000_000_000, 5
"""Of changed and stored passages of one entry: how many pairs are compared, how many characters
times characters (half a second), and how many stored ones each changed one is compared with at
least."""

SHARED_COLUMNS = (
    *("text", "context", "language", "payload", "metadata", "position"),
    *("world_id", "visibility", "known_to"),
)
LORE_COLUMNS = (
    *SHARED_COLUMNS,
    *("campaign_id", "published", "secret", "revealed_to", "pictures"),
)
RULE_COLUMNS = (*SHARED_COLUMNS, "campaign_id", "system_id")
BATCH = 500


def write_lore_passages(entries: Sequence[Lore], chunks: Chunks | None = None) -> int:
    """Bring the passages in step with the entries and return how many were written. Call within a
    transaction. `chunks` by primary key: entries that are cut already."""
    passages = {}
    for entry in entries:
        source = SourceEntry(entry.title, entry.body, id=entry.slug, language=entry.language)
        pieces = (chunks or {}).get(entry.pk) or chunk_entry(source, domain="lore")
        passages[entry.pk] = [_lore_passage(entry, *each) for each in enumerate(pieces)]
    return _replace(LorePassage, "lore_id", passages, LORE_COLUMNS)


def write_rule_passages(rules: Sequence[Rule], chunks: Chunks | None = None) -> int:
    """The same for rules; their documents should be loaded with them."""
    passages = {}
    for rule in rules:
        breadcrumb = tuple(rule.breadcrumb)
        source = SourceEntry(
            rule.title, rule.body, id=rule.key, language=rule.language, breadcrumb=breadcrumb
        )
        pieces = (chunks or {}).get(rule.pk) or chunk_entry(source, domain="srd")
        passages[rule.pk] = [_rule_passage(rule, *each) for each in enumerate(pieces)]
    return _replace(RulePassage, "rule_id", passages, RULE_COLUMNS)


# --- build the passages of an entry


def _lore_passage(entry: Lore, position: int, chunk: Chunk) -> LorePassage:
    passage = LorePassage(
        lore=entry,
        world_id=entry.world_id,
        campaign_id=entry.campaign_id,
        published=entry.status == Lore.Status.PUBLISHED,
        secret=chunk.metadata.get("secret", False),
        pictures=picture_targets(chunk.text),
        position=position,
        language=entry.language,
        metadata={
            "kind": entry.kind,
            **({"custom_kind": entry.custom_kind.slug} if entry.custom_kind else {}),
            "tags": entry.tags,
            "in_world_at": entry.in_world_at,
            "audiences": chunk.metadata.get("audiences"),
        },
        **_text_columns(chunk, entry.title, entry.aliases, entry.in_world_label),
    )
    passage.set_audience()
    return passage


def _rule_passage(rule: Rule, position: int, chunk: Chunk) -> RulePassage:
    visibility, known_to = narrow_audience(
        rule.visibility, rule.known_to, block=chunk.metadata.get("audiences")
    )
    # Aliases in another script would blur the vector, and the glossary finds them anyway.
    script = guess_language(rule.title)
    aliases = [alias for alias in rule.aliases if guess_language(alias) == script]
    document = rule.document
    return RulePassage(
        rule=rule,
        world_id=rule.world_id,
        campaign_id=rule.campaign_id,
        system_id=document.system_id,
        visibility=visibility,
        known_to=known_to,
        position=position,
        language=rule.language,
        metadata={"kind": rule.kind, "document": document.slug, "edition": document.edition},
        **_text_columns(chunk, rule.title, aliases, rule.get_kind_display()),
    )


def _text_columns(chunk: Chunk, title: str, aliases: Sequence[str], label: str) -> dict[str, Any]:
    headings = chunk.payload.get("headings", [])
    context = [title, ", ".join(other_names(title, aliases)), " › ".join(headings), label]
    return {
        "text": chunk.text,
        "context": "\n".join(filter(None, context)),
        "payload": {"title": chunk.payload["title"], "headings": headings},
    }


def other_names(title: str, aliases: Sequence[str]) -> list[str]:
    """Return the aliases without those that only hold words of the title or of another alias.

    A plural beside its singular is no further evidence of what an entry is about. Counted as such,
    two forms of one English alias made a Russian text rank above English ones.
    """
    names, others = [stems_of_name(title)], []
    for alias in aliases:
        stems = stems_of_name(alias)
        if stems and not any(stems <= name for name in names):
            names.append(stems)
            others.append(alias)
    return others


def stems_of_name(name: str) -> frozenset[str]:
    return frozenset(word_stem(word.norm) for word in name_words(name))


# --- compare with the stored rows


def _replace(
    model: type[AnyPassage],
    owner: str,
    passages: dict[Any, list[AnyPassage]],
    columns: tuple[str, ...],
) -> int:
    rows_by_owner: dict[Any, list[AnyPassage]] = defaultdict(list)
    rows = model.objects.filter(**{f"{owner}__in": list(passages)})
    for row in rows.defer("embedding", "search_vector"):
        rows_by_owner[getattr(row, owner)].append(row)
    new_rows, changed_rows = list[AnyPassage](), list[AnyPassage]()
    changed: set[str] = set()
    surplus: list[Any] = []
    for key, new_passages in passages.items():
        for passage, row in _match(new_passages, rows_by_owner[key]):
            if row is None:
                new_rows.append(passage)
            elif differing := _copy_columns(passage, row, columns):
                changed_rows.append(row)
                changed |= differing
        surplus += [row.pk for row in rows_by_owner[key]]
    model.objects.filter(pk__in=surplus).delete()
    model.objects.bulk_create(new_rows, batch_size=BATCH)
    # bulk_update takes the names of relations, not of their columns.
    fields: list[str] = [name.removesuffix("_id") for name in sorted(changed)]
    model.objects.bulk_update(changed_rows, [*fields, "version", "updated_at"], batch_size=BATCH)
    return len(new_rows) + len(changed_rows)


def _match(
    passages: Iterable[AnyPassage], rows: list[AnyPassage]
) -> list[tuple[AnyPassage, AnyPassage | None]]:
    """Pair each passage with the row that it continues, by equal, else most similar text. Removes
    those from `rows`."""
    pairs: list[tuple[AnyPassage, AnyPassage | None]] = []
    rest = []
    left = {row.pk: row for row in rows}
    # Reversed, so that of several rows with one text the first is taken.
    by_text = {row.text: row for row in reversed(rows)}
    for passage in passages:
        if same := by_text.pop(passage.text, None):
            pairs.append((passage, left.pop(same.pk)))
        else:
            rest.append(passage)
    # Only after all equal texts have found their rows, or a similar passage would take one of them.
    near = RowsByPosition(left.values(), rest)
    for passage in rest:
        scores = [
            (ratio(row.text, passage.text, score_cutoff=SAME_SECRET), row)
            for row in near.around(passage)
            if row.pk in left
        ]
        score, row = max(scores, key=lambda each: each[0], default=(0, None))
        pairs.append((passage, None if row is None or score < SAME_SECRET else left.pop(row.pk)))
    rows[:] = left.values()
    return pairs


class RowsByPosition(Generic[AnyPassage]):
    """The stored passages of an entry in order. All are compared with each of the `changed` ones,
    or the nearest: of thousands of secrets, each with each would take minutes."""

    def __init__(self, rows: Iterable[AnyPassage], changed: Sequence[AnyPassage]) -> None:
        self.rows: list[AnyPassage] = sorted(rows, key=lambda row: row.position)
        self.positions = [row.position for row in self.rows]
        longest = max((len(row.text) for row in self.rows), default=1)
        cells = longest * sum(len(passage.text) for passage in changed) + 1
        fitting = min(MOST_PAIRS // (len(changed) or 1), MOST_CELLS // cells)
        self.most = max(LEAST_COMPARED, fitting)

    def around(self, passage: AnyPassage) -> list[AnyPassage]:
        if len(self.rows) <= self.most:
            return self.rows
        start = bisect_left(self.positions, passage.position) - self.most // 2
        return self.rows[max(0, start) : max(0, start) + self.most]


def _copy_columns(passage: AnyPassage, row: AnyPassage, columns: tuple[str, ...]) -> set[str]:
    """Bring `row` to what `passage` holds; return the columns that changed."""
    # Reveals are written to the row alone, so a newly cut passage takes them over.
    if (
        isinstance(passage, LorePassage)
        and isinstance(row, LorePassage)
        and passage.secret
        and row.secret
    ):
        passage.revealed_to = row.revealed_to
        passage.set_audience()
    differing = {name for name in columns if getattr(passage, name) != getattr(row, name)}
    for name in differing:
        setattr(row, name, getattr(passage, name))
    if differing:
        row.version += 1
        row.updated_at = timezone.now()
    return differing
