"""Present a deciding fact: in words, with its source and the passage of lore that states it."""

from django.db.models import Q
from django.utils.translation import gettext as _

from knowledge.fact_check.prose import ProseEvidence
from knowledge.fact_check.schemas import FactSource, LoreAssertResult
from knowledge.fact_check.verdicts import TRUE
from knowledge.graph.entity_linking import parse_uuid
from knowledge.graph.labels import in_words
from knowledge.graph.models import GraphEdge, SourceKind
from knowledge.models import LorePassage
from retrieval.text import fold_name
from worlds.callers import Caller

MAX_TEXT_CHARS = 500
MAX_PASSAGES = 50


def present_prose(evidence: ProseEvidence) -> LoreAssertResult:
    """Present the sentence of lore that decides, quoted."""
    passage = evidence.passage
    source = FactSource(
        id=passage.pk,
        statement=evidence.sentence[:MAX_TEXT_CHARS],
        source=SourceKind.LORE,
        title=passage.lore.title,
        text=passage.text[:MAX_TEXT_CHARS],
    )
    is_true = evidence.result == TRUE
    reason = (
        _("A sentence of the lore says so.")
        if is_true
        else _("A sentence of the lore says otherwise.")
    )
    return LoreAssertResult(result=evidence.result, reason=reason, sources=[source])


def to_fact_source(fact: GraphEdge, caller: Caller) -> FactSource:
    source = FactSource(
        id=fact.pk,
        statement=" – ".join(map(str, in_words(fact))),
        since=fact.since,
        until=fact.until,
        source=fact.source_kind,
    )
    if caller.audience.is_gm:
        source.ref, source.note = fact.source_ref or None, fact.source_note or None
        source.confidence = fact.confidence
    if passage := _find_passage(fact, caller):
        source.title, source.text = passage.lore.title, passage.text[:MAX_TEXT_CHARS]
    return source


def _find_passage(fact: GraphEdge, caller: Caller) -> LorePassage | None:
    """Return the passage of the fact's lore entry that names most of its two ends; None if
    the caller may read none, or plays in another campaign than the entry is of."""
    if fact.source_kind != SourceKind.LORE or not fact.source_ref:
        return None
    # A source_ref is the slug or id of an entry, optionally with "#" and a place in it.
    entry = fact.source_ref.partition("#")[0]
    of_entry = Q(lore__slug=entry) | (Q(lore=entry) if parse_uuid(entry) else Q())
    passages = (
        LorePassage.objects.in_world(caller.world)
        .visible_to(caller.audience)
        .known_in(caller.campaign, caller.audience)
        .filter(of_entry, published=True)
        .select_related("lore")
        .defer("embedding", "search_vector")
        .order_by("position")[:MAX_PASSAGES]
    )

    def count_ends(passage: LorePassage) -> int:
        text = fold_name(passage.text)
        return sum(
            any(fold_name(name) in text for name in (node.name, *node.aliases))
            for node in (fact.src, fact.dst)
        )

    return max(passages, key=count_ends, default=None)
