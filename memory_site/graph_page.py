"""The page of relations with what NPCs think of parties."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from knowledge.graph.graph_page import DrawnOpinion
from knowledge.graph.models import NodeKind
from knowledge.graph.schemas import NodeOut
from knowledge.graph.views import show_graph
from npcs.opinions_in_graph import opinions_to_draw
from npcs.templatetags.dispositions import word
from worlds.pages import Viewer, page


@page
def graph(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    return show_graph(request, viewer, opinions_of)


def opinions_of(
    viewer: Viewer, nodes: Sequence[NodeOut], slug: str, *, without_entity: bool
) -> list[DrawnOpinion]:
    """What the people among `nodes` think of the party with this slug, else of all parties that the
    viewer may know; with `without_entity` also what the NPCs think that are no entities."""
    people = {node.slug: node.id for node in nodes if node.kind == NodeKind.CHARACTER}
    parties = [party for party in viewer.parties if slug in ("", party.slug)]
    found = opinions_to_draw(
        viewer.world, viewer.audience, people, parties, without_entity=without_entity
    )
    return [
        DrawnOpinion(
            people.get(each.npc),
            each.npc,
            each.name,
            reverse("npc", args=[viewer.world.slug, each.npc]),
            each.party.slug,
            each.party.name,
            each.label,
            str(word(each.label)),
            reverse("party", args=[viewer.world.slug, each.party.slug]),
        )
        for each in found
    ]
