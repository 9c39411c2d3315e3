"""How much waits for a game master's decision."""

from knowledge.editing_models import LoreProposal
from knowledge.graph.contradictions import open_contradictions
from npcs.models import DispositionChange, OpinionChange
from worlds.models import World


def count_waiting(world: World) -> dict[str, int]:
    """Return the number of held changes, proposals and contradictions: four queries."""
    dispositions = DispositionChange.objects.in_world(world).pending().count()
    return {
        "changes": dispositions + OpinionChange.objects.in_world(world).pending().count(),
        "proposals": LoreProposal.objects.filter(world=world, state="open").count(),
        "contradictions": open_contradictions(world).count(),
    }
