"""`manage.py recut`: cut all entries again, after the rules of cutting have changed."""

from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction
from django.db.models import QuerySet

from knowledge.entry_store import write_links_of_entries
from knowledge.models import Lore, Rule
from knowledge.name_matching import keys_of_entry
from knowledge.passages import write_lore_passages, write_rule_passages
from retrieval.tasks import embed_soon

BATCH = 200


class Command(BaseCommand):
    help = "Cut all rules and lore anew. Passages whose text stays keep their vectors."

    def handle(self, *_args: Any, **_options: Any) -> None:
        rules = Rule.objects.select_related("document")
        self._recut_all(rules, write_rule_passages, domain="srd")
        self._recut_all(Lore.objects.all(), write_lore_passages, domain="lore")

    def _recut_all(self, rows: QuerySet[Any], write: Callable[[Any], int], *, domain: str) -> None:
        keys = list(rows.order_by().values_list("pk", flat=True))
        count = 0
        for start in range(0, len(keys), BATCH):
            batch = rows.filter(pk__in=keys[start : start + BATCH])
            with transaction.atomic():
                entries = list(batch.select_for_update(of=("self",)))
                for entry in entries:
                    entry.name_keys = keys_of_entry(entry)
                rows.model.objects.bulk_update(entries, ["name_keys"])
                if writes := write(entries):
                    embed_soon(domain)
                write_links_of_entries(entries)
            count += writes
        names = rows.model._meta.verbose_name_plural
        self.stdout.write(f"{names}: {len(keys)}, passages written: {count}")
