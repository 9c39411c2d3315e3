"""Undo links of contradiction that rules made between texts of several sentences which share few
words: a number or a name differs in these because they speak of other things."""

from django.db import migrations
from django.utils import timezone

from memories.similarity.compare import can_contradict

CHUNK = 1_000
BY_RULES = "another "
"""What the reason of such a link begins with."""


def undo_false_links(apps, schema_editor):
    Succession = apps.get_model("memories", "Succession")
    rows = Succession.objects.filter(kind="formerly", in_effect=True, reason__startswith=BY_RULES)
    texts = rows.values_list("pk", "older__text", "newer__text")
    undone = [
        pk
        for pk, older, newer in texts.iterator(chunk_size=CHUNK)
        if not can_contradict(older, newer)
    ]
    for start in range(0, len(undone), CHUNK):
        chunk = Succession.objects.filter(pk__in=undone[start : start + CHUNK])
        chunk.update(in_effect=False, undone_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [("memories", "0018_trigrams_of_code_rules")]

    operations = [
        migrations.RunPython(undo_false_links, migrations.RunPython.noop, elidable=True),
    ]
