"""The lines of an episode's form: what is proposed, or what its current version says, each line
with the words on which it rests."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from episodes.schemas import EpisodeIn, EpisodeReveal
from knowledge.graph.labels import relation_label
from memory_site.session_reports.proposal import (
    NameCandidate,
    NameInReport,
    Proposal,
    ProposedFact,
    RevealSubject,
)

Choices = list[tuple[str, str]]
SHOWN_SECRET = 160


@dataclass(frozen=True)
class EpisodeLine:
    """One line: its values, what to choose from if that is not certain, whether it is ticked, the
    words of the report, and its form in the stored version. `is_uncertain`: the value that is
    chosen beforehand may be wrong, so it stays a choice."""

    values: dict[str, Any]
    choices: Choices = field(default_factory=list)
    accepted: bool = False
    quote: str = ""
    title: str = ""
    stored: dict[str, Any] | None = None
    is_uncertain: bool = False


Lines = dict[str, list[EpisodeLine]]
SECTIONS = ("people", "changes", "reveals", "facts", "loose_ends")


def lines_of_proposal(proposal: Proposal) -> Lines:
    """Only what is certain and changes nobody's mind is ticked: who was there. Everything with an
    effect waits for a tick, and a name that fits several for a choice. Where a name fits but one,
    that one is chosen before the tick."""
    return {
        "people": [_person_line(each) for each in proposal.people],
        "changes": [
            EpisodeLine(
                {
                    "npc": _only(each.candidates),
                    "axis": each.axis,
                    "delta": each.delta,
                    "reason": each.reason,
                },
                choices=_choices(each.candidates),
                quote=each.quote,
                is_uncertain=not each.certain,
            )
            for each in proposal.changes
        ],
        "reveals": [
            EpisodeLine(
                {"subject": subject_value(each.candidates[0]) if each.likely else ""},
                choices=[(subject_value(one), subject_title(one)) for one in each.candidates],
                quote=each.quote,
            )
            for each in proposal.reveals
        ],
        "facts": [_fact_line(each) for each in proposal.facts],
        "loose_ends": [EpisodeLine({"text": each.text}) for each in proposal.loose_ends],
    }


def _person_line(person: NameInReport) -> EpisodeLine:
    is_certain = len(person.candidates) == 1 and person.present
    return EpisodeLine(
        {"npc": _only(person.candidates)},
        choices=_choices(person.candidates),
        accepted=is_certain,
        quote=person.quote,
        title=person.text,
        is_uncertain=not is_certain,
    )


def _fact_line(fact: ProposedFact) -> EpisodeLine:
    words = relation_label(fact.relation, fact.label)
    values = {"src": fact.src, "words": words, "dst": fact.dst}
    return EpisodeLine(values, quote=fact.quote, title=fact.sentence)


def lines_of_episode(summary: EpisodeIn, names: dict[str, str]) -> Lines:
    """The lines of a stored version. `names` are those of its NPCs and entries, by slug."""

    def title(ref: str) -> str:
        return names.get(ref, ref)

    return {
        "people": [
            EpisodeLine({"npc": ref}, accepted=True, title=title(ref), choices=[(ref, title(ref))])
            for ref in summary.who.npcs
        ],
        "changes": [
            EpisodeLine(each.model_dump(), accepted=True, choices=[(each.npc, title(each.npc))])
            for each in summary.relations_delta
        ],
        "reveals": [
            EpisodeLine(
                {"subject": _stored_subject(each), "note": each.note},
                accepted=True,
                choices=[(_stored_subject(each), _stored_title(each, names))],
                stored=each.model_dump(mode="json", exclude_defaults=True),
            )
            for each in summary.reveals
        ],
        "facts": list(_stored_facts(summary, names)),
        "loose_ends": [EpisodeLine({"text": text}, accepted=True) for text in summary.loose_ends],
    }


def _stored_facts(summary: EpisodeIn, names: dict[str, str]) -> Iterable[EpisodeLine]:
    for each in summary.facts:
        stored = each.model_dump(mode="json", exclude_defaults=True)
        edge = each.edge
        if edge is None:
            yield EpisodeLine(
                {}, accepted=True, title=each.node.name if each.node else "", stored=stored
            )
            continue
        words = relation_label(edge.relation, edge.label)
        values = {"src": str(edge.src), "words": words, "dst": str(edge.dst)}
        src, dst = (names.get(str(ref), str(ref)) for ref in (edge.src, edge.dst))
        title = f"{src} {words} {dst}"
        yield EpisodeLine(values, accepted=True, title=title, stored=stored)


def _only(candidates: Sequence[NameCandidate]) -> str:
    return candidates[0].ref if len(candidates) == 1 else ""


def _choices(candidates: Iterable[NameCandidate]) -> Choices:
    return [(each.ref, each.name) for each in candidates]


def subject_value(subject: RevealSubject) -> str:
    """`npc:mira-voss` or, for its second secret, `npc:mira-voss#2`."""
    number = f"#{subject.secret}" if subject.secret else ""
    return f"{subject.kind}:{subject.ref}{number}"


def subject_title(subject: RevealSubject) -> str:
    if not subject.secret:
        return _("%(name)s – that it exists") % {"name": subject.name}
    text = subject.text if len(subject.text) <= SHOWN_SECRET else subject.text[:SHOWN_SECRET] + "…"
    return f"{subject.name}: {text}"


def _stored_subject(reveal: EpisodeReveal) -> str:
    number = f"#{reveal.secret}" if reveal.secret else ""
    return f"npc:{reveal.npc}{number}" if reveal.npc else f"lore:{reveal.lore}{number}"


def _stored_title(reveal: EpisodeReveal, names: dict[str, str]) -> str:
    ref = reveal.npc or reveal.lore or ""
    name = names.get(ref, ref)
    if not reveal.secret:
        return name
    return _("%(name)s, secret %(number)d") % {"name": name, "number": reveal.secret}
