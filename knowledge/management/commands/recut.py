"""`manage.py recut`: passages and name keys anew from the entries, after the way of cutting has changed."""

from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from knowledge.models import Lore, Rule
from knowledge.passages import write_lore_passages, write_rule_passages
from retrieval.tasks import embed_soon
from retrieval.text import name_keys

BATCH = 200


class Command(BaseCommand):
    help = "Cut all rules and lore anew. Passages whose text stays keep their vectors."

    def handle(self, *_args: Any, **_options: Any) -> None:
        for model, rewrite, domain in (
            (Rule, write_rule_passages, "srd"),
            (Lore, write_lore_passages, "lore"),
        ):
            keys = list(model._default_manager.values_list("pk", flat=True))
            written = sum(
                _recut(model, rewrite, domain, keys[at : at + BATCH])
                for at in range(0, len(keys), BATCH)
            )
            self.stdout.write(
                f"{model._meta.verbose_name_plural}: {len(keys)}, passages written: {written}"
            )


@transaction.atomic
def _recut(model: Any, rewrite: Any, domain: str, keys: list[Any]) -> int:
    related = ["document"] if model is Rule else []
    entries = list(
        model.objects.select_related(*related).select_for_update(of=("self",)).filter(pk__in=keys)
    )
    for entry in entries:
        entry.name_keys = name_keys(entry.title, *entry.aliases)
    model.objects.bulk_update(entries, ["name_keys"])
    written = int(rewrite(entries))
    if written:
        embed_soon(domain)
    return written
