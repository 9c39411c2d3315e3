"""Search for people: one question over everything in a world, the best kind of thing first.

Names find things, NPCs, parties and sessions in any script, with inflections and slips; the search
statement finds lore, rules, episodes and pictures by words and meaning.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from django.db.models import Count, F, Q
from django.urls import reverse
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from art.models import ArtCard
from episodes.asked_sessions import AskedSession, Evening, find_evening, read_asked_session
from episodes.models import Episode
from episodes.titles import title_of
from episodes.views import visible_sessions
from knowledge.glossary.common_words import COMMON_WORDS
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.labels import fact_sentence
from knowledge.graph.protocol import View
from knowledge.links.hidden_targets import without_hidden_matches
from knowledge.models import LorePassage, RulePassage
from knowledge.name_matching import LONGEST_QUESTION
from knowledge.presenters import GmHitOut
from knowledge.schemas import LoreQuestion, RulesQuestion
from knowledge.search import find_lore
from knowledge.tools import rules_lookup
from memory_site.search_evidence import FoundText, has_evidence
from memory_site.site_hits import KindOfHits, SiteHit, SiteResults, without_needless_paths
from npcs.models import NPC
from retrieval.search import SearchRequest, count_rows, read_share, search
from retrieval.text import WORD, KnownName, NameIndex, has_hangul, light_stem, name_words
from worlds.audiences import Visibility
from worlds.callers import Caller
from worlds.pages import Viewer
from worlds.stored_names import index_of_names

MOST_PER_KIND = 8
LEAST = 0.04
"""The least relevance of a hit by words and meaning (see docs/search.md)."""
CUT_OFF = 0.6
"""A hit is shown when its score is at least this share of the best one of its kind. Scores of
different kinds come from different statements, so they are not compared."""
SHORTEST_WORD = 3
LONGEST_NAME = 80
NAMED = 1.0
"""Score of a row whose name is the whole question; above every score of the search statement."""
WHOLE_NAME = 0.97
"""Least score of an NPC whose name, alias or inflected name is the whole question."""
MENTIONED = 0.9
NAME_OF_QUESTION = 0.75
"""Score from which a name that resembles the question, as its translation, is its name."""
ALL_WORDS = 1.0
"""Relevance of a kind of which a hit holds every word of the question, or its name."""


NAME_MATCHES = ("exact", "alias")
LABELS = {
    "npc": _("People"),
    "thing": _("Lore"),
    "party": _("Parties"),
    "session": _("Sessions"),
    "rule": _("Rules"),
    "relation": _("Relations"),
    "episode": _("Episodes"),
    "art": pgettext_lazy("search results", "Pictures"),
}
"""Kinds in the order of those with equal scores."""

ScoredRow = tuple[Any, float, dict[str, Any]]
"""A row, its fused score, and the scores of the legs."""
Finder = Callable[[Viewer, str, SiteResults], Iterable[SiteHit]]


def search_site(
    viewer: Viewer, question: str, *, kinds: Collection[str] = LABELS.keys()
) -> SiteResults:
    """Answer `question` for the viewer's audience and campaign by rows of these kinds. Raises a
    `Problem` of the tools."""
    results = SiteResults()
    stems = _stems(question)
    for kind in kinds:
        label = LABELS[kind]
        hits = sorted(FINDERS[kind](viewer, question, results), key=lambda hit: -hit.score)
        hits = [hit for hit in hits if hit.score >= CUT_OFF * hits[0].score][:MOST_PER_KIND]
        hits = without_needless_paths(hits)
        if hits:
            relevance = max(_relevance(hit, stems) for hit in hits)
            results.kinds.append(KindOfHits(kind, label, hits, relevance))
    results.kinds.sort(key=lambda kind: -kind.relevance)
    shares = {part: read_share(part) for part in results.degraded}
    partial = [share for share in shares.values() if share is not None]
    share = percentage_embedded(viewer) if partial or "vector" in shares else None
    if partial or share is not None:
        results.degraded -= {part for part, each in shares.items() if each is not None} | {"vector"}
        results.embedded = min(partial) if share is None else share
    results.is_answered = _is_answered(results, question, viewer)
    return results


def _is_answered(results: SiteResults, question: str, viewer: Viewer) -> bool:
    """Whether a hit answers: what the question names, and what has all its words, does. Without the
    vectors nobody knows, so what was found counts."""
    hits = [hit for kind in results.kinds for hit in kind.hits]
    if results.embedded is not None or "vector" in results.degraded or not hits:
        return True
    if any(hit.is_named or hit.name_score >= NAME_OF_QUESTION for hit in hits):
        return True
    if all(word.norm in COMMON_WORDS for word in name_words(question)):
        return False
    if any(kind.relevance >= ALL_WORDS for kind in results.kinds):
        return True
    found = [
        FoundText(hit.cosine, hit.words, f"{hit.title}. {hit.text}", is_first=number == 0)
        for kind in results.kinds
        for number, hit in enumerate(kind.hits)
        if hit.cosine is not None
    ]
    return has_evidence(question, found, passages_of(viewer))


def passages_of(viewer: Viewer) -> int:
    """How many passages of lore and rules the viewer searches; an estimate of many."""
    return sum(
        count_rows(rows) for rows in (known_lore_passages(viewer), known_rule_passages(viewer))
    )


def percentage_embedded(viewer: Viewer) -> int | None:
    """The percentage of the texts of lore and rules that have a vector, of those that the viewer
    may know; None when none waits for its first try, so that a missing vector means a model that
    does not answer."""
    kinds = (known_lore_passages(viewer), known_rule_passages(viewer))
    is_stale = Q(embedded_rev__lt=F("rev"))
    # There is an index of the rows that wait; the others are counted only when there are some.
    if not any(rows.filter(is_stale, embed_tries=0).exists() for rows in kinds):
        return None
    counts = [rows.aggregate(all=Count("pk"), ready=Count("pk", ~is_stale)) for rows in kinds]
    total: int = sum(each["all"] for each in counts)
    ready: int = sum(each["ready"] for each in counts)
    return 100 * ready // total


def known_lore_passages(viewer: Viewer) -> Any:
    rows = LorePassage.objects.in_world(viewer.world).visible_to(viewer.audience)
    if viewer.is_gm:
        return rows
    return rows.only_published().known_in(viewer.campaign, viewer.audience)


def known_rule_passages(viewer: Viewer) -> Any:
    rows = RulePassage.objects.in_force(viewer.world, viewer.campaign, viewer.audience)
    return rows.visible_to(viewer.audience)


def _relevance(hit: SiteHit, stems: set[str]) -> float:
    """2 for a row whose name is the question, over 1 for one that it mentions, else the share of
    its words in the hit.

    The search statement adds the score of words to that of a name, so the scores of an entry and
    of the NPC of the same name do not compare: both get 2, and `LABELS` says which comes first."""
    if hit.is_named and hit.score >= WHOLE_NAME:
        return 2.0
    if hit.is_named and hit.score >= MENTIONED / 2:
        return 1 + hit.score
    return len(stems & _stems(f"{hit.title} {hit.text}")) / max(len(stems), 1)


def _stems(text: str) -> set[str]:
    words = (word.lower() for word in WORD.findall(text))
    return {light_stem(word) for word in words if len(word) >= SHORTEST_WORD or has_hangul(word)}


# --- by name


def find_npcs(viewer: Viewer, question: str, _results: SiteResults) -> Iterable[SiteHit]:
    npcs = NPC.objects.in_world(viewer.world).visible_to(viewer.audience)
    matches = dict(_matches(index_of_names(npcs, question, name="name"), question))
    rows = npcs.in_bulk(list(matches))
    for npc, score in ((rows[pk], score) for pk, score in matches.items() if pk in rows):
        url = reverse("npc", args=[viewer.world.slug, npc.slug])
        text, language = npc.open_summary, npc.language
        yield SiteHit(
            npc.name,
            url,
            score,
            npc.role,
            text,
            language,
            secret=npc.visibility != Visibility.PUBLIC and viewer.is_gm,
            is_named=True,
            ref=npc.slug,
        )


def find_parties(viewer: Viewer, question: str, _results: SiteResults) -> Iterable[SiteHit]:
    index = NameIndex(KnownName(party, party.name, ()) for party in viewer.parties)
    for party, score in _matches(index, question):
        url = reverse("party", args=[viewer.world.slug, party.slug])
        yield SiteHit(party.name, url, score, party.campaign.name, is_named=True)


def find_sessions(viewer: Viewer, question: str, _results: SiteResults) -> Iterable[SiteHit]:
    """Sessions by title, and the one that "last session" means."""
    sessions = visible_sessions(viewer)
    titles = sessions.exclude(title="").order_by().values_list("pk", "title")
    index = NameIndex.for_text((KnownName(pk, title, ()) for pk, title in titles), question)
    matches = dict(_matches(index, question))
    if evening := _asked_evening(viewer, question)[1]:
        matches.setdefault(evening.session, NAMED)
    rows = sessions.in_bulk(list(matches))
    for pk, score in matches.items():
        session = rows.get(pk)
        if session is None:
            continue
        url = reverse("session", args=[viewer.world.slug, session.external_id])
        title = session.title or session.external_id
        yield SiteHit(title, url, score, viewer.when(session), is_named=True)


def find_relations(viewer: Viewer, question: str, _results: SiteResults) -> Iterable[SiteHit]:
    """The facts between the entities that the question names; for one entity its own facts."""
    linker = EntityLinker.for_texts(viewer.world, [question], viewer.audience)
    nodes = linker.mentioned_nodes(question)
    if not nodes:
        return
    facts = View(viewer.world, viewer.audience).facts()
    one_end = Q(src__in=nodes) | Q(dst__in=nodes)
    ends = Q(src__in=nodes, dst__in=nodes) if len(nodes) > 1 else one_end
    page = reverse("graph", args=[viewer.world.slug])
    score = MENTIONED if len(nodes) > 1 else MENTIONED / 2
    for fact in facts.filter(ends).order_by("-confidence", "pk")[:MOST_PER_KIND]:
        url = f"{page}?around={fact.src.slug}"
        yield SiteHit(fact_sentence(fact), url, score, fact.source_note, is_named=len(nodes) > 1)


def _matches(index: NameIndex, question: str) -> list[tuple[Any, float]]:
    """The keys that the question is the name of, else those it mentions."""
    text = question[:LONGEST_NAME]
    whole = [(match.key, NAMED * match.score) for match in index.find(text)]
    if whole:
        return whole
    named = index.mentions(question[:LONGEST_QUESTION])
    mentions = [mention.matches for mention in named]
    return list({match.key: MENTIONED * match.score for each in mentions for match in each}.items())


# --- by words and meaning


def find_things(viewer: Viewer, question: str, results: SiteResults) -> Iterable[SiteHit]:
    """Published entries, and for those who may write the drafts as well."""
    caller = Caller(viewer.world, viewer.audience, viewer.campaign)
    asked = LoreQuestion(query=question, k=MOST_PER_KIND, least=LEAST)
    answer = find_lore(asked, caller, with_drafts=viewer.is_gm)
    results.degraded |= set(answer.degraded)
    for hit in answer.hits:
        url = reverse("lore-entry", args=[viewer.world.slug, hit.id])
        for_gm = hit if isinstance(hit, GmHitOut) else None
        yield SiteHit(
            hit.title,
            url,
            hit.score,
            note=viewer.when(hit),
            text=hit.text,
            language=hit.language,
            secret=for_gm is not None and for_gm.visibility != Visibility.PUBLIC,
            draft=for_gm is not None and for_gm.status == "draft",
            is_named=hit.match in NAME_MATCHES,
            ref=hit.id,
            **_scores_of(hit.legs),
        )


def find_rules(viewer: Viewer, question: str, results: SiteResults) -> Iterable[SiteHit]:
    caller = Caller(viewer.world, viewer.audience, viewer.campaign)
    answer = rules_lookup(RulesQuestion(term=question, k=MOST_PER_KIND, least=LEAST), caller)
    results.degraded |= set(answer.degraded)
    for hit in answer.hits:
        url = reverse("rule", args=[viewer.world.slug, hit.id])
        source = " · ".join(filter(None, (hit.source.document, hit.source.licence)))
        text, language, replaces = hit.text, hit.language, hit.overrides or ""
        named = hit.match in NAME_MATCHES
        score = hit.score
        yield SiteHit(
            hit.title,
            url,
            score,
            source,
            text,
            language,
            replaces=replaces,
            is_named=named,
            ref=hit.id,
            path=tuple(hit.headings),
            **_scores_of(hit.legs),
        )


def _scores_of(legs: Mapping[str, Any]) -> dict[str, Any]:
    """The scores of the legs, of a hit of the search or of one as a tool presents it."""
    vector, keyword, name = (legs.get(leg) for leg in ("vector", "keyword", "name"))
    return {
        "cosine": vector.score if vector else None,
        "words": (keyword.score if keyword else None) or 0.0,
        "name_score": (name.score if name else None) or 0.0,
    }


def find_episodes(viewer: Viewer, question: str, results: SiteResults) -> Iterable[SiteHit]:
    """Episodes by words and meaning; of a question about one session, its own."""
    rows = _episodes(viewer)
    asked, evening = _asked_evening(viewer, question)
    if asked and evening:
        rows = rows.filter(pk__in=evening.episodes)
    is_whole = asked is not None and evening is not None and not asked.rest
    if is_whole:
        found: list[ScoredRow] = [
            (episode, NAMED, {}) for episode in rows.with_source().latest_first()
        ]
    else:
        asked_for = asked.rest if asked and evening else question
        found = _search(viewer, rows, rows.with_source(), asked_for, results)
    for episode, score, scores in found:
        url = reverse("episode", args=[viewer.world.slug, episode.external_id])
        title = title_of(episode, viewer.audience)
        note = viewer.when(episode)
        text, language = episode.text, episode.language
        secret = viewer.is_gm and episode.visibility == Visibility.GM
        yield SiteHit(title, url, score, note, text, language, secret, is_named=is_whole, **scores)


def _episodes(viewer: Viewer) -> Any:
    return Episode.objects.in_world(viewer.world).visible_to(viewer.audience).not_retracted()


def _asked_evening(viewer: Viewer, question: str) -> tuple[AskedSession | None, Evening | None]:
    asked = read_asked_session(question)
    return asked, find_evening(_episodes(viewer), asked) if asked else None


def find_art(viewer: Viewer, question: str, results: SiteResults) -> Iterable[SiteHit]:
    rows = ArtCard.objects.in_world(viewer.world).visible_to(viewer.audience)
    shown = rows if viewer.is_gm else rows.suggestable()
    # Many worlds have no pictures, and the search statement takes thirty times as long as this.
    if not shown.exists():
        return
    for card, score, scores in _search(
        viewer, shown, rows.select_related("picture", "scene"), question, results
    ):
        uploaded = card.picture and reverse("picture", args=[viewer.world.slug, card.picture.pk])
        # Prompt and people may show what players do not know, so only a game master reads them.
        people = ", ".join(card.entities) if viewer.is_gm else ""
        title = people or (str(card.scene) if card.scene else gettext("Picture"))
        text = card.prompt_text if viewer.is_gm else ""
        # The prompt is a game master's.
        url = uploaded or card.cdn_url
        yield SiteHit(title, url, score, text=text, secret=bool(text), **scores)


def _search(
    viewer: Viewer, rows: Any, full: Any, question: str, results: SiteResults
) -> list[ScoredRow]:
    """Search passages that are rows themselves; return the rows of `full` with their scores, the
    fused one and those of the legs."""
    request = SearchRequest(
        query=question,
        scopes=[str(viewer.world.pk)],
        hidden=viewer.is_gm,
        limit=MOST_PER_KIND,
        least=LEAST,
        language=viewer.world.language,
    )
    answer = search(rows, request)
    results.degraded |= set(answer.degraded)
    caller = Caller(viewer.world, viewer.audience, viewer.campaign)
    hits = without_hidden_matches(question, answer.hits, caller)
    by_id = full.in_bulk([hit.id for hit in hits])
    return [(by_id[hit.id], hit.score, _scores_of(hit.legs)) for hit in hits if hit.id in by_id]


FINDERS: dict[str, Finder] = {
    "npc": find_npcs,
    "thing": find_things,
    "party": find_parties,
    "session": find_sessions,
    "rule": find_rules,
    "relation": find_relations,
    "episode": find_episodes,
    "art": find_art,
}
