from django.db import migrations
from django.utils.text import slugify


def create_characters(apps, schema_editor):
    """Create the characters whose names the parties list; a name without text is no character."""
    Party = apps.get_model("worlds", "Party")
    Character = apps.get_model("worlds", "Character")
    taken = {}
    for party in Party.objects.order_by("pk"):
        slugs = taken.setdefault(party.world_id, set())
        names = [str(name).strip()[:200] for name in party.members if str(name).strip()]
        for position, name in enumerate(names):
            base = slugify(name, allow_unicode=True)[:70] or "character"
            slug, number = base, 2
            while slug in slugs:
                slug, number = f"{base}-{number}", number + 1
            slugs.add(slug)
            Character.objects.create(
                world_id=party.world_id, party=party, slug=slug, name=name, position=position
            )
        if names != party.members:
            party.members = names
            party.save(update_fields=["members"])


class Migration(migrations.Migration):
    dependencies = [("worlds", "0012_characters")]

    operations = [migrations.RunPython(create_characters, migrations.RunPython.noop)]
