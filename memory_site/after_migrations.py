"""What is derived from the texts that were stored before a migration: computed once, by the
`migrate` that applies it."""

from typing import Any

from django.db import DEFAULT_DB_ALIAS, transaction

from knowledge.mentions.store import relink
from knowledge.models import Lore, Rule
from knowledge.passages import write_lore_passages, write_rule_passages
from worlds.models import World

LINKS = ("knowledge", "0013_links")
PASSAGES_OF_OPEN_TEXT = ("knowledge", "0028_passages_of_open_text")
BATCH = 200


def derive_after_migration(
    *, plan: Any = (), using: str = DEFAULT_DB_ALIAS, **_signal: Any
) -> None:
    applied = {
        (migration.app_label, migration.name) for migration, backwards in plan if not backwards
    }
    if using != DEFAULT_DB_ALIAS:
        return
    if LINKS in applied:
        for world in World.objects.all():
            relink(world)
    if PASSAGES_OF_OPEN_TEXT in applied:
        cut_texts_with_secrets()


def cut_texts_with_secrets() -> None:
    """Cut the texts with secret blocks anew, so that their open passages are those that they would
    have without them. Other texts have the same passages as before."""
    lore = Lore.objects.filter(body__contains=":::").select_related("custom_kind")
    rules = Rule.objects.filter(body__contains=":::").select_related("document")
    for rows, write in ((lore, write_lore_passages), (rules, write_rule_passages)):
        keys = list(rows.order_by("pk").values_list("pk", flat=True))
        for start in range(0, len(keys), BATCH):
            with transaction.atomic():
                write(list(rows.filter(pk__in=keys[start : start + BATCH])))
