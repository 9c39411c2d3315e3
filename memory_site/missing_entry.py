"""Why is this entry not among the results? Findings about one entry and one question."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from knowledge.models import Lore
from knowledge.name_matching import name_index
from knowledge.schemas import LoreFilters, LoreQuestion
from knowledge.tools import lore_search
from retrieval.errors import Problem
from worlds.callers import Caller
from worlds.pages import Viewer

DEEPEST = 50
"""Ranks further down are not worth a number."""


def explain_missing_entry(viewer: Viewer, question: str, name: str) -> list[str]:
    """Return sentences that say how the entry called `name` answers `question`, the most important
    first. For game masters only: they name hidden entries."""
    entry = _find_entry(viewer, name)
    if isinstance(entry, str):
        return [entry]
    findings = []
    if entry.status == Lore.Status.DRAFT:
        findings.append(_("It is a draft: only game masters and designers find it, marked as one."))
    if entry.campaign and entry.campaign != viewer.campaign:
        words = _("It belongs to the campaign %(campaign)s: choose that campaign to find it.")
        findings.append(words % {"campaign": entry.campaign.name})
    if override := entry.overridden_by.filter(campaign=viewer.campaign).first():
        words = _("In this campaign “%(title)s” answers in its place.")
        findings.append(words % {"title": override.title})
    passages = entry.passages.all()
    total, waiting = passages.count(), passages.filter(embedding=None).count()
    if not total:
        findings.append(_("It has no text, so only its name can be found."))
    elif waiting:
        words = ngettext(
            "%(waiting)d of its %(total)d passages has no vector yet: it is found by words alone.",
            "%(waiting)d of its %(total)d passages have no vector yet: they are found by words "
            "alone.",
            waiting,
        )
        findings.append(words % {"waiting": waiting, "total": total})
    findings.append(_rank(viewer, question, entry))
    return findings


def _find_entry(viewer: Viewer, name: str) -> Lore | str:
    """The entry with this name, slug or id; else a sentence that says what there is."""
    entries = Lore.objects.in_world(viewer.world).select_related("campaign")
    try:
        slug_matches = entries.filter(slug=name)
        entry: Lore | None = slug_matches.filter(campaign=viewer.campaign).first()
        entry = entry or slug_matches.first()
        if entry:
            return entry
        key = name_index(entries, name).resolve(name, what="entry")
    except Problem as problem:
        names = ", ".join(problem.candidates)
        words = _("No entry is called “%(name)s”.") % {"name": name}
        return (
            _("%(words)s Similar names: %(names)s") % {"words": words, "names": names}
            if names
            else words
        )
    row: Lore = entries.get(pk=str(key))
    return row


def _rank(viewer: Viewer, question: str, entry: Lore) -> str:
    filters = LoreFilters(status="draft") if entry.status == Lore.Status.DRAFT else LoreFilters()
    asked = LoreQuestion(query=question, k=DEEPEST, filters=filters)
    hits = lore_search(asked, Caller(viewer.world, viewer.audience, viewer.campaign)).hits
    rank = next((n for n, hit in enumerate(hits, 1) if hit.id == entry.slug), None)
    if rank is None:
        return _(
            "No passage of it shares a word or a meaning with the question. Add the words that "
            "people use for it as aliases."
        )
    hit, best = hits[rank - 1], hits[0]
    words = _(
        "It is number %(rank)d of the entries, with a score of %(score).2f; "
        "the best has %(best).2f."
    )
    return words % {"rank": rank, "score": hit.score, "best": best.score}
