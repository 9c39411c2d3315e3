"""A name that only secret blocks of an episode have is a mention for game masters alone."""

from typing import Any

from django.db import migrations, models


def mark_secret_mentions(apps: Any, _schema: Any) -> None:
    mentions = apps.get_model("episodes", "Mention").objects
    named = mentions.filter(role="named", episode__what__contains=":::")
    for mention in named.select_related("episode", "lore").iterator():
        text = mention.episode.text.casefold()
        names = [mention.lore.title, *mention.lore.aliases]
        # An inflected name is hidden until the next version of its episode: better than shown.
        if not any(name.casefold() in text for name in names):
            mentions.filter(pk=mention.pk).update(secret=True)


class Migration(migrations.Migration):
    dependencies = [("episodes", "0005_plain_labels")]

    operations = [
        migrations.AddField("mention", "secret", models.BooleanField(default=False)),
        migrations.RunPython(mark_secret_mentions, migrations.RunPython.noop, elidable=True),
    ]
