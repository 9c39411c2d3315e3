import django.db.models.deletion
import retrieval.models
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0014_passage_pictures'),
        ('worlds', '0005_import_runs'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='EntryDraft',
            fields=[
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('target_kind', models.CharField(default='lore', help_text='Which form the fields belong to.', max_length=40, verbose_name='form')),
                ('fields', models.JSONField(default=dict, verbose_name='fields')),
                ('base_version', models.PositiveIntegerField(blank=True, help_text='The version of the entry that was open when the draft began.', null=True, verbose_name='based on version')),
                ('updated_at', models.DateTimeField(verbose_name='updated')),
                ('entry', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='knowledge.lore', verbose_name='lore entry')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entry_drafts', to=settings.AUTH_USER_MODEL, verbose_name='user')),
                ('world', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entry_drafts', to='worlds.world', verbose_name='world')),
            ],
            options={
                'verbose_name': 'unsaved draft',
                'verbose_name_plural': 'unsaved drafts',
                'ordering': ['-updated_at'],
                'indexes': [models.Index(fields=['user', 'world', '-updated_at'], name='entry_draft_newest')],
                'constraints': [models.UniqueConstraint(fields=('user', 'entry', 'target_kind'), name='entry_draft_once_per_author')],
            },
        ),
    ]
