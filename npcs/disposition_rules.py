"""The rules of a world by which dispositions change others, and how a game master sets them."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from episodes.ingest import lock_party
from npcs.dispositions import recompute_dispositions
from npcs.models import DispositionRules
from npcs.opinion_models import MOST_PERCENT
from retrieval.errors import Invalid
from worlds.models import Party, World

USUAL = {"kin": 50, "ally": 25, "enemy": 25, "member": 50}
"""What the button that switches all rules on sets, in percent."""
PERCENTS = tuple(USUAL)


def rules_of(world: World) -> DispositionRules:
    """Return the rules of the world; unsaved and all off when nobody has set them."""
    stored = DispositionRules.objects.filter(world=world).first()
    return stored or DispositionRules(world=world)


def set_rules(world: World, **values: Any) -> DispositionRules:
    """Set those rules that are given. They hold for changes from now on: what was written stays
    and is reversed one by one. Soft ends are part of how every score is reckoned, so all
    dispositions of the world are recomputed when they change."""
    for name in PERCENTS:
        if not 0 <= values.get(name, 0) <= MOST_PERCENT:
            raise Invalid(_("A share is between 0 and %(most)s percent.") % {"most": MOST_PERCENT})
    with transaction.atomic():
        DispositionRules.objects.get_or_create(world=world)
        rules = DispositionRules.objects.select_for_update().get(world=world)
        is_new_scale = values.get("soft_ends", rules.soft_ends) != rules.soft_ends
        for name, value in values.items():
            setattr(rules, name, value)
        rules.save()
    # One party at a time: locking all of them at once would block the world.
    for party in Party.objects.filter(world=world).order_by("pk") if is_new_scale else ():
        with transaction.atomic():
            npcs = party.dispositions.values_list("npc_id", flat=True)
            recompute_dispositions(lock_party(party), npcs)
    return rules
