"""What a party does not know of things: hidden entries and people, secret blocks, NPCs' secrets,
facts.

For game masters alone. A fixed number of statements, whatever the number of things."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from knowledge.graph.labels import fact_sentence
from knowledge.graph.models import GraphEdge
from knowledge.models import Lore, LorePassage
from memory_site.editor.sections import log_of
from memory_site.play.hidden_facts import hidden_facts, owner_of_fact, unknown_ends
from npcs.models import NPC, Secret
from retrieval.errors import NotFound
from worlds.audience_names import names_of_audiences
from worlds.audiences import Audience, Guarded, Visibility, audience_of_party
from worlds.models import Party, Reveal

KINDS: dict[str, type[Any]] = {
    "npc": NPC,
    "secret": Secret,
    "lore": Lore,
    "lorepassage": LorePassage,
    "graphedge": GraphEdge,
}
"""What is revealed on these pages, by its name in the reveal log."""


@dataclass
class Part:
    """A part of a thing that can be revealed by itself. `owner` is the entry or person that it
    belongs to, itself for a whole one."""

    kind: str
    row: Guarded
    owner: Lore | NPC
    text: str
    is_known: bool = False
    """Whether the party knows it."""
    owner_is_known: bool = True
    unknown_end: str = ""
    """The name of what a fact is about and the party does not know."""
    others: list[str] = field(default_factory=list)
    """Names of others who know it."""
    log: list[tuple[Reveal, str]] = field(default_factory=list)
    """The reveals in force, each with the name of its audience."""
    party_is_logged: bool = False

    @property
    def is_whole(self) -> bool:
        return self.row is self.owner

    @property
    def owner_name(self) -> str:
        return self.owner.name if isinstance(self.owner, NPC) else self.owner.title

    @property
    def can_be_known(self) -> bool:
        """Whether the party will read it once it is revealed: it knows the thing itself."""
        return self.is_whole or (self.owner_is_known and not self.unknown_end)

    @property
    def unknown_name(self) -> str:
        """What the party would have to know to read it."""
        return self.unknown_end if self.owner_is_known else self.owner_name

    @property
    def is_of_person(self) -> bool:
        return isinstance(self.owner, NPC)

    def revealed_audiences(self) -> set[str]:
        return {entry.audience for entry, _name in self.log}


def parts_of(
    party: Party,
    *,
    entries: Iterable[Lore] = (),
    npcs: Iterable[NPC] = (),
    audience: Audience | None = None,
) -> dict[UUID, list[Part]]:
    """Return the parts of these things that are not for everyone, by the id of the thing.
    `audience` is that of `party`, which is read if it is not given."""
    things: list[Lore | NPC] = [*npcs, *entries]
    parts = [
        Part(KIND_OF[type(each)], each, each, "")
        for each in things
        if each.visibility != Visibility.PUBLIC
    ]
    parts += _secrets_of_npcs([each for each in things if isinstance(each, NPC)])
    parts += _secret_blocks([each for each in things if isinstance(each, Lore)])
    audience = audience or audience_of_party(party)
    parts += _hidden_facts(party, things, audience)
    _mark_known(parts, things, audience)
    _add_log(parts, party)
    by_owner: dict[UUID, list[Part]] = defaultdict(list)
    for part in parts:
        by_owner[part.owner.pk].append(part)
    return by_owner


KIND_OF: dict[type[Any], str] = {model: kind for kind, model in KINDS.items()}


def _secrets_of_npcs(npcs: Sequence[NPC]) -> list[Part]:
    by_id = {npc.pk: npc for npc in npcs}
    rows = Secret.objects.filter(npc__in=by_id).order_by("npc", "position") if by_id else ()
    return [Part("secret", row, by_id[row.npc_id], row.text) for row in rows]


def _secret_blocks(entries: Sequence[Lore]) -> list[Part]:
    by_id = {entry.pk: entry for entry in entries}
    if not by_id:
        return []
    rows = LorePassage.objects.filter(lore__in=by_id, secret=True).order_by("lore", "position")
    rows = rows.defer("embedding", "search_vector")
    return [Part("lorepassage", row, by_id[row.lore_id], row.text) for row in rows]


def _hidden_facts(party: Party, things: Sequence[Lore | NPC], audience: Audience) -> list[Part]:
    found = hidden_facts(party.world, things)
    unknown = unknown_ends([fact for fact, _owner in found], audience)
    return [
        Part("graphedge", fact, owner, fact_sentence(fact), unknown_end=unknown.get(fact.pk, ""))
        for fact, owner in found
    ]


def _mark_known(parts: Sequence[Part], things: Sequence[Lore | NPC], audience: Audience) -> None:
    visible = [
        _visible_ids(model, [each.pk for each in rows], audience)
        for kind, model in KINDS.items()
        if (rows := _rows_of_kind(kind, parts, things))
    ]
    # One statement for all kinds: an id is of one row, whatever its kind.
    known = set(visible[0].union(*visible[1:], all=True)) if visible else set()
    for part in parts:
        part.is_known = part.row.pk in known and not part.unknown_end
        part.owner_is_known = part.owner.pk in known


def _rows_of_kind(kind: str, parts: Sequence[Part], things: Sequence[Any]) -> list[Any]:
    own = [part.row for part in parts if part.kind == kind]
    return own + [each for each in things if KIND_OF[type(each)] == kind]


def _visible_ids(model: type[Any], ids: Collection[UUID], audience: Audience) -> Any:
    """The ids of the rows that `audience` knows, as a queryset."""
    rows = model.objects.filter(pk__in=ids).visible_to(audience)
    if model is Lore:
        rows = rows.only_published()
    return rows.order_by().values_list("pk", flat=True)


def _add_log(parts: Sequence[Part], party: Party) -> None:
    log = log_of([part.row.pk for part in parts])
    audiences = {name for part in parts for name in part.row.known_to}
    audiences |= {entry.audience for entries in log.values() for entry in entries}
    names = names_of_audiences(party.world, audiences)
    own = f"party:{party.slug}"
    for part in parts:
        part.log = [
            (entry, names.get(entry.audience, entry.audience)) for entry in log[part.row.pk]
        ]
        part.party_is_logged = own in part.revealed_audiences()
        if part.row.visibility == Visibility.REVEALED:
            logged = part.revealed_audiences() | {own}
            part.others = [
                names.get(each, each) for each in part.row.known_to if each not in logged
            ]


def find_part(party: Party, kind: str, row_id: UUID) -> Part:
    """Return the part that a reveal names. Raises `NotFound`, also for one in the trash."""
    model = KINDS.get(kind)
    rows = model.objects.filter(pk=row_id, world=party.world_id) if model else None
    row = rows.first() if rows is not None else None
    if row is None:
        raise NotFound(_("It is not there any more: somebody deleted it, or wrote it anew."))
    owner = _owner_of(row, kind)
    if owner is None:
        raise NotFound(_("It is not there any more: somebody deleted it, or wrote it anew."))
    things = {"npcs": [owner]} if isinstance(owner, NPC) else {"entries": [owner]}
    parts = parts_of(party, **things)[owner.pk]
    part = next((each for each in parts if each.row.pk == row_id), None)
    return part or Part(kind, row, owner, "", is_known=True)


def _owner_of(row: Any, kind: str) -> Lore | NPC | None:
    if kind == "graphedge":
        return owner_of_fact(row) if row.believed_until is None else None
    owner: Lore | NPC = row.npc if kind == "secret" else row.lore if kind == "lorepassage" else row
    return owner
