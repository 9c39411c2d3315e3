import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('episodes', '0004_passage_surroundings'),
        ('knowledge', '0010_plain_labels'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='episodeversion',
            options={'ordering': ['-version'], 'verbose_name': 'episode version', 'verbose_name_plural': 'episode versions'},
        ),
        migrations.AlterModelOptions(
            name='recapsentence',
            options={'ordering': ['position'], 'verbose_name': 'recap sentence', 'verbose_name_plural': 'recap sentences'},
        ),
        migrations.AlterModelOptions(
            name='scratch',
            options={'ordering': ['key'], 'verbose_name': 'scratch note', 'verbose_name_plural': 'scratch notes'},
        ),
        migrations.AlterField(
            model_name='episode',
            name='embed_after',
            field=models.DateTimeField(editable=False, help_text='Leased or postponed until this time.', null=True),
        ),
        migrations.AlterField(
            model_name='episode',
            name='happened_at',
            field=models.DateTimeField(default=django.utils.timezone.now, help_text='Real time at the table.', verbose_name='happened at'),
        ),
        migrations.AlterField(
            model_name='episode',
            name='lore',
            field=models.ManyToManyField(related_name='episodes', through='episodes.Mention', to='knowledge.lore', verbose_name='mentioned lore'),
        ),
        migrations.AlterField(
            model_name='episode',
            name='npcs',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, help_text='As spelled in the source.', size=None, verbose_name='NPCs'),
        ),
        migrations.AlterField(
            model_name='episode',
            name='place',
            field=models.CharField(blank=True, default='', max_length=200, verbose_name='place'),
        ),
        migrations.AlterField(
            model_name='episode',
            name='relations_delta',
            field=models.JSONField(blank=True, default=list, verbose_name='relation changes'),
        ),
        migrations.AlterField(
            model_name='episode',
            name='retracted_why',
            field=models.CharField(blank=True, default='', editable=False, max_length=400, verbose_name='reason for retraction'),
        ),
        migrations.AlterField(
            model_name='episode',
            name='surroundings',
            field=models.TextField(blank=True, db_default='', default='', editable=False, help_text='Text around the passage, such as the turns before and after. Used for search, never shown.', verbose_name='surrounding text'),
        ),
        migrations.AlterField(
            model_name='episode',
            name='visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility'),
        ),
        migrations.AlterField(
            model_name='episodeversion',
            name='came_from',
            field=models.CharField(blank=True, default='', max_length=150, verbose_name='sender'),
        ),
        migrations.AlterField(
            model_name='episodeversion',
            name='created_at',
            field=models.DateTimeField(auto_now_add=True, verbose_name='received at'),
        ),
        migrations.AlterField(
            model_name='mention',
            name='role',
            field=models.CharField(choices=[('place', 'Scene location'), ('named', 'Mentioned')], default='named', max_length=8, verbose_name='role'),
        ),
        migrations.AlterField(
            model_name='recap',
            name='method',
            field=models.CharField(choices=[('extract', 'Sentences from the episodes'), ('llm', 'Language model')], default='extract', max_length=8, verbose_name='method'),
        ),
        migrations.AlterField(
            model_name='recap',
            name='subject',
            field=models.UUIDField(verbose_name='subject of the recap'),
        ),
        migrations.AlterField(
            model_name='scene',
            name='ended_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='ended at'),
        ),
        migrations.AlterField(
            model_name='scene',
            name='place_lore',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='scenes', to='knowledge.lore', verbose_name='lore entry of the place'),
        ),
        migrations.AlterField(
            model_name='scene',
            name='visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility'),
        ),
        migrations.AlterField(
            model_name='session',
            name='played_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='played at'),
        ),
        migrations.AlterField(
            model_name='session',
            name='visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility'),
        ),
    ]
