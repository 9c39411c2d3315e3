"""What the box of the Play page finds, and to whom it can be revealed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from django.http import Http404
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from pydantic import ValidationError

from knowledge.models import Lore
from knowledge.presenters import GmHitOut, HitOut
from knowledge.schemas import RulesQuestion
from knowledge.search import find_rules
from knowledge.views import find_lore_of
from memory_site.editor.sections import people_of
from memory_site.editor.things import thing_of_entry
from memory_site.play.party_knowledge import BoxHit, PartyKnowledge
from memory_site.play.people import PeopleAtTable, Person, is_about_one
from memory_site.play.secrets import Part, parts_of
from memory_site.site_hits import SiteHit, SiteResults
from memory_site.site_search import search_site
from npcs.models import NPC
from retrieval.errors import Problem
from retrieval.text import storage_flaw, without_secrets
from worlds.audience_names import audience_models
from worlds.base_schemas import MAX_CHARS
from worlds.callers import Caller
from worlds.models import Party
from worlds.pages import Viewer

MOST_OTHERS = 8
MOST_UNNAMED = 2
"""Other hits of a question that is a name."""
MOST_TRIED = 3
MOST_PEOPLE = 12
SHOWN = 700
"""Characters of a text that are shown at once: with the box above they fill a phone's screen."""
SHOWN_OF_PEOPLE = 200
"""Less, because of what is above and below: how to play them, and what they hide."""
IN_THE_BOX = ("npc", "thing", "rule")


def at_table_of(viewer: Viewer, slug: str) -> tuple[Viewer, Party]:
    """Return the party and the viewer in its campaign, whose overlays and house rules hold at its
    table. Raises `Http404`."""
    party = viewer.party(slug)
    if party is None:
        raise Http404
    party.world = viewer.world
    return viewer.in_campaign(party.campaign), party


# --- to whom something can be revealed


@dataclass(frozen=True)
class Target:
    """To whom something can be revealed by one tap."""

    audience: str
    name: str


class Targets(list[Target]):
    """The party first. What the page shows of them beside each hidden part is made once."""

    def __init__(self, targets: Iterable[Target], party: Party) -> None:
        super().__init__(targets)
        self.address = reverse("play-reveal", args=[party.world.slug, party.slug])

    @cached_property
    def buttons(self) -> SafeString:
        """Buttons of a form that reveal to somebody else than the party."""
        button = '<button class="quiet" name="to" value="{}">{}</button>'
        return format_html_join("", button, ((each.audience, each.name) for each in self[1:]))


def targets_of(party: Party, cast: Sequence[NPC]) -> Targets:
    """The party, its characters and the NPCs of the open scene."""
    targets = [Target(f"party:{party.slug}", party.name)]
    if model := audience_models().get("character"):
        rows = model._default_manager.filter(party=party).order_by("position", "pk")
        targets += [
            Target(f"character:{slug}", name) for slug, name in rows.values_list("slug", "name")
        ]
    return Targets([*targets, *(Target(f"npc:{npc.slug}", npc.name) for npc in cast)], party)


# --- the box


@dataclass(frozen=True)
class Opened:
    """What the box shows at once: a rule, a person or a thing. What begins with `hidden` is for
    the game master, everything if the party does not know the thing itself."""

    kind: str
    title: str
    url: str
    ref: str
    shown: str = ""
    rest: str = ""
    language: str = ""
    note: str = ""
    is_known: bool = True
    hidden_note: str = ""
    hidden_text: str = ""
    person: Person | None = None
    people: list[NPC] = field(default_factory=list)
    hidden_people: list[NPC] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)

    @property
    def has_hidden(self) -> bool:
        """Whether there is anything for the game master alone; of a person there always is."""
        hidden = self.hidden_note or self.hidden_text or self.hidden_people or self.parts
        return bool(self.person or hidden)


@dataclass(frozen=True)
class BoxAnswer:
    """`embedded` and `is_answered` are those of the `SiteResults`. What does not answer the
    question is not opened; it is among `others`, or `hidden_others` if the party does not know
    it."""

    opened: Opened | None = None
    others: Sequence[BoxHit] = ()
    hidden_others: Sequence[BoxHit] = ()
    degraded: Sequence[str] = ()
    embedded: int | None = None
    is_answered: bool = True


def answer(viewer: Viewer, people: PeopleAtTable, question: str) -> BoxAnswer:
    """Open the best hit of a question; the others are a tap away. Raises a `Problem`."""
    results = search_site(viewer, question, kinds=IN_THE_BOX)
    hits = _in_turn(results)
    found = BoxAnswer(
        degraded=sorted(results.degraded),
        embedded=results.embedded,
        is_answered=results.is_answered,
    )
    if not results.is_answered:
        return with_others(found, hits, people.knowledge)
    # Each that cannot be opened costs queries, and more than one at a time is rare.
    for kind, _label, hit in hits[:MOST_TRIED]:
        try:
            opened = open_thing(viewer, people, kind, hit.ref)
        except Http404:
            continue  # deleted since the search read it
        # The entry of a person opens as the person.
        others = others_than(opened, hit, hits)
        if results.kinds[0].relevance > 1:  # a name: what only resembles it is seldom meant
            others = [*named_of(others), *unnamed_of(others)[:MOST_UNNAMED]]
        return with_others(replace(found, opened=opened), others, people.knowledge)
    return found


def with_others(found: BoxAnswer, others: Sequence[BoxHit], knowledge: PartyKnowledge) -> BoxAnswer:
    known, hidden = knowledge.split_hits(others[:MOST_OTHERS])
    return replace(found, others=known, hidden_others=hidden)


def others_than(opened: Opened, hit: SiteHit, hits: Sequence[BoxHit]) -> list[BoxHit]:
    """The hits beside the one that is open. A person and the entry about them are one of them."""
    others: dict[tuple[bool, str], BoxHit] = {}
    for each in hits:
        kind, _label, other = each
        is_rule = kind == "rule"
        if other is not hit and (is_rule or other.title != opened.title):
            same = others.get((is_rule, other.title))
            if same is None or kind == "npc":
                others[is_rule, other.title] = each
    return list(others.values())


def named_of(hits: Sequence[BoxHit]) -> list[BoxHit]:
    return [each for each in hits if each[2].is_named]


def unnamed_of(hits: Sequence[BoxHit]) -> list[BoxHit]:
    return [each for each in hits if not each[2].is_named]


def _in_turn(results: SiteResults) -> list[BoxHit]:
    """The best of each kind, then the second of each: so nothing of another kind is far away."""
    rounds = max((len(kind.hits) for kind in results.kinds), default=0)
    return [
        (kind.kind, kind.label, kind.hits[number])
        for number in range(rounds)
        for kind in results.kinds
        if number < len(kind.hits)
    ]


def open_thing(viewer: Viewer, people: PeopleAtTable, kind: str, ref: str) -> Opened:
    """Raises `Http404`."""
    opener = OPENERS.get(kind)
    if opener is None or not ref or storage_flaw(ref):
        raise Http404
    return opener(viewer, people, ref)


def open_rule(viewer: Viewer, people: PeopleAtTable, key: str) -> Opened:
    rule = find_rule(viewer, key)
    shown, rest = cut_text(rule.text)
    url = reverse("rule", args=[viewer.world.slug, rule.id])
    note = " · ".join(filter(None, [_("House rule") if rule.overrides else "", *rule.headings]))
    is_known = people.knowledge.knows(rule)
    return Opened(
        "rule",
        rule.title,
        url=url,
        ref=key,
        shown=shown,
        rest=rest,
        language=rule.language,
        note=note,
        is_known=is_known,
    )


def find_rule(viewer: Viewer, key: str) -> GmHitOut | HitOut:
    caller = Caller(viewer.world, viewer.audience, viewer.campaign)
    try:
        return find_rules(RulesQuestion(rule_id=key, max_chars=MAX_CHARS), caller).hits[0]
    except (Problem, ValidationError, IndexError) as problem:
        raise Http404 from problem


def open_person(viewer: Viewer, people: PeopleAtTable, slug: str) -> Opened:
    rows = NPC.objects.in_world(viewer.world).visible_to(viewer.audience)
    npc = rows.select_related("biography").filter(slug=slug).first()
    if npc is None:
        raise Http404
    person, knowledge = people.of([npc])[0], people.knowledge
    url = reverse("npc", args=[viewer.world.slug, npc.slug]) + f"?party={people.party.slug}"
    own = npc.biography if npc.biography and is_about_one(npc.biography) else None
    biography = without_secrets(own.body if own else "")
    is_open = bool(npc.open_summary) or own is None or not person.is_known or knowledge.knows(own)
    shown, rest = cut_text((npc.open_summary or biography) if is_open else "", SHOWN_OF_PEOPLE)
    note, hidden_note = knowledge.notes_on(npc)
    return Opened(
        "npc",
        npc.name,
        url=url,
        ref=slug,
        shown=shown,
        rest=rest,
        language=npc.language,
        note=" · ".join(note),
        is_known=person.is_known,
        hidden_note=" · ".join(hidden_note),
        hidden_text="" if is_open else biography,
        person=person,
        parts=person.parts,
    )


def open_entry(viewer: Viewer, people: PeopleAtTable, slug: str) -> Opened:
    entry, knowledge = find_lore_of(viewer, slug), people.knowledge
    thing = thing_of_entry(viewer, entry)
    if thing.npc:
        return open_person(viewer, people, thing.npc.slug)
    shown, rest = cut_text(without_secrets(entry.body))
    is_known = knowledge.knows(entry)
    everyone = people_in(viewer, entry)
    known = people_in(knowledge.viewer, entry) if is_known else everyone
    return Opened(
        "thing",
        entry.title,
        url=thing.address(),
        ref=slug,
        shown=shown,
        rest=rest,
        language=entry.language,
        note=entry.kind_name,
        is_known=is_known,
        people=known[:MOST_PEOPLE],
        hidden_people=[npc for npc in everyone if npc not in known][:MOST_PEOPLE],
        parts=parts_of(people.party, entries=[entry], audience=knowledge.audience)[entry.pk],
    )


def people_in(viewer: Viewer, entry: Lore) -> list[NPC]:
    """Members of a faction, inhabitants of a place."""
    found = people_of(viewer, entry)
    return list({npc.pk: npc for npc in [*found.members, *found.inhabitants]}.values())


OPENERS = {"rule": open_rule, "npc": open_person, "thing": open_entry}


def cut_text(text: str, most: int = SHOWN) -> tuple[str, str]:
    """Return the paragraphs that fit into `most` characters, at least one, and the rest."""
    paragraphs = text.strip().split("\n\n")
    count, length = 0, 0
    for paragraph in paragraphs:
        length += len(paragraph) + 2
        if count and length > most:
            break
        count += 1
    return "\n\n".join(paragraphs[:count]), "\n\n".join(paragraphs[count:])
