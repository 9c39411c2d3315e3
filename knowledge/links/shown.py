"""How the links of a text are shown to a viewer."""

from collections.abc import Sequence
from urllib.parse import urlencode

from django.urls import reverse

from knowledge.links.queries import leading_row
from knowledge.mentions.kinds import LinkedThing, NamedThing
from knowledge.mentions.names import Meaning, read_names
from retrieval.text import TextLink
from worlds.audiences import Audience
from worlds.markdown import LinkResolver, ShownLink, heading_id
from worlds.models import Campaign, World


def link_resolver(
    world: World, audience: Audience, *, campaign: Campaign | None = None
) -> LinkResolver:
    """Return a function that says what to show for each link of a text. It reads three tables once,
    whatever the number of links.

    A name means what it means in `campaign`, whose overlay of canon the page shows. A name that
    `audience` may not know is unknown to it: both are plain words. Only a game master
    sees that a link is broken."""

    def resolve(links: Sequence[TextLink]) -> list[ShownLink | None]:
        table = read_names(world, {link.name for link in links}, audience=audience)
        meanings = {
            name: table.meaning(name, campaign=campaign.pk if campaign else None)
            for name in {(link.folder, link.name) for link in links}
        }
        return [
            show_link(world, audience, link, meanings[(link.folder, link.name)]) for link in links
        ]

    return resolve


def show_link(
    world: World, audience: Audience, link: TextLink, meaning: Meaning
) -> ShownLink | None:
    if len(meaning.groups) == 1:
        row: NamedThing = leading_row(meaning.groups[0])
        thing = LinkedThing(row.id, row.kind, row.slug, row.name, "")
        anchor = f"#{heading_id(link.heading)}" if link.heading and row.kind == "lore" else ""
        return ShownLink(thing.url(world) + anchor, "wikilink", card=thing.card_url(world))
    name = "/".join(filter(None, [link.folder, link.name]))
    choices = f"{reverse('link-choices', args=[world.slug])}?{urlencode({'name': name})}"
    if meaning.groups:
        return ShownLink(choices, "wikilink ambiguous", card=choices)
    return ShownLink(choices, "wikilink broken") if audience.is_gm else None
