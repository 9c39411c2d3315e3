import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('art', '0004_passage_surroundings'),
        ('episodes', '0005_plain_labels'),
        ('knowledge', '0010_plain_labels'),
        ('npcs', '0004_plain_labels'),
    ]

    operations = [
        migrations.AlterField(
            model_name='artcard',
            name='cdn_url',
            field=models.URLField(max_length=1000, verbose_name='image URL'),
        ),
        migrations.AlterField(
            model_name='artcard',
            name='embed_after',
            field=models.DateTimeField(editable=False, help_text='Leased or postponed until this time.', null=True),
        ),
        migrations.AlterField(
            model_name='artcard',
            name='entities',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, size=None, verbose_name='depicted people and things'),
        ),
        migrations.AlterField(
            model_name='artcard',
            name='episodes',
            field=models.ManyToManyField(blank=True, related_name='art', to='episodes.episode', verbose_name='depicted episodes'),
        ),
        migrations.AlterField(
            model_name='artcard',
            name='lore',
            field=models.ManyToManyField(blank=True, related_name='art', to='knowledge.lore', verbose_name='depicted lore'),
        ),
        migrations.AlterField(
            model_name='artcard',
            name='moderated_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='moderated at'),
        ),
        migrations.AlterField(
            model_name='artcard',
            name='npcs',
            field=models.ManyToManyField(blank=True, related_name='art', to='npcs.npc', verbose_name='depicted NPCs'),
        ),
        migrations.AlterField(
            model_name='artcard',
            name='surroundings',
            field=models.TextField(blank=True, db_default='', default='', editable=False, help_text='Text around the passage, such as the turns before and after. Used for search, never shown.', verbose_name='surrounding text'),
        ),
        migrations.AlterField(
            model_name='artcard',
            name='visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility'),
        ),
    ]
