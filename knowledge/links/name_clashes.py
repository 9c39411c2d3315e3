"""Names that several things have: a link by such a name is ambiguous, so whoever gives a thing a
name that another one has is told. Nothing is refused: two Ferries may well exist."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from knowledge.graph.models import GraphNode
from knowledge.links.queries import leading_row
from knowledge.mentions.kinds import LinkedThing, NamedThing
from knowledge.mentions.names import read_names
from knowledge.models import Lore
from worlds.models import World

MOST_CLAIMS = 10


@dataclass(frozen=True)
class NameClash:
    """Another thing that has the name `name`."""

    name: str
    thing: LinkedThing
    url: str

    def __str__(self) -> str:
        return self.sentence % {"name": self.name, "thing": self.thing.title}

    @property
    def html(self) -> SafeString:
        """The sentence with a link to the thing."""
        link = format_html('<a href="{}">{}</a>', self.url, self.thing.title)
        sentence = self.sentence.replace("%(name)s", "{name}").replace("%(thing)s", "{thing}")
        return format_html(sentence, name=self.name, thing=link)

    @property
    def sentence(self) -> str:
        return _(
            "“%(name)s” is also a name of %(thing)s: links and questions with it may mean either."
        )


def claims_of_entry(entry: Lore, *, also: Collection[UUID] = ()) -> list[NameClash]:
    """Return what else has a name of the entry; `also` are further rows that are one thing with
    it, such as the NPC whose biography it is."""
    own = {entry.pk, *also, *GraphNode.objects.filter(lore=entry).values_list("pk", flat=True)}
    own |= {entry.overrides_id} if entry.overrides_id else set()
    names = [entry.title, *entry.aliases]
    return other_claims(entry.world, names, own=own, slug=entry.slug, campaign=entry.campaign_id)


def other_claims(
    world: World,
    names: Iterable[str],
    *,
    own: Collection[UUID],
    slug: str,
    campaign: UUID | None = None,
) -> list[NameClash]:
    """Return the things that have one of `names` as well, at most ten: of canon, and of `campaign`.
    `own` are the rows of the thing itself; one with its `slug` is the same thing."""
    names = list(dict.fromkeys(filter(None, names)))
    table = read_names(world, names)

    def is_own(group: Collection[NamedThing]) -> bool:
        return any({row.id, row.root} & set(own) or row.slug == slug for row in group)

    claims: dict[tuple[UUID, str], NameClash] = {}
    for name in names:
        for group in table.things_named(name):
            near = [row for row in group if row.campaign in (None, campaign)]
            if not near or is_own(group):
                continue
            row = leading_row(near)
            thing = LinkedThing(row.id, row.kind, row.slug, row.name, "")
            claims.setdefault((row.root, name), NameClash(name, thing, thing.url(world)))
    return list(claims.values())[:MOST_CLAIMS]
