import npcs.kinship
from django.db import migrations, models


def family() -> models.JSONField:
    return models.JSONField(
        blank=True,
        default=list,
        db_default=[],
        help_text="What other people are to the NPC: a list of {relation, npc}.",
        validators=[npcs.kinship.validate_family],
        verbose_name="family",
    )


class Migration(migrations.Migration):
    dependencies = [("npcs", "0015_index_by_name")]

    operations = [
        migrations.AddField(model_name="npc", name="family", field=family()),
        migrations.AddField(model_name="historicalnpc", name="family", field=family()),
    ]
