"""All tables of art at once: a new database needs one migration instead of 6."""

import art.models
import django.contrib.postgres.fields
import django.contrib.postgres.search
import django.db.models.deletion
import pgvector.django.halfvec
import retrieval.models
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('art', '0001_art_cards'),
        ('art', '0002_passage_state'),
        ('art', '0003_flagged_art'),
        ('art', '0004_passage_surroundings'),
        ('art', '0005_plain_labels'),
        ('art', '0006_pictures'),
    ]

    initial = True

    dependencies = [
        ('retrieval', '0001_squashed_0010_tenants_of_language_model_calls'),
        ('episodes', '0001_squashed_0011_open_to_others'),
        ('knowledge', '0001_squashed_0027_entities_of_entries'),
        ('npcs', '0001_squashed_0012_consequences_and_standings'),
        ('worlds', '0001_squashed_0016_events_of_edits'),
    ]

    operations = [
        migrations.CreateModel(
            name='Picture',
            fields=[
                ('visibility', models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility')),
                ('known_to', models.JSONField(blank=True, default=list, editable=False, verbose_name='known to')),
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('version', models.PositiveIntegerField(default=1, editable=False, verbose_name='version')),
                ('name', models.CharField(editable=False, max_length=120, verbose_name='file name')),
                ('file', models.FileField(editable=False, max_length=200, upload_to=art.models.stored_name, verbose_name='picture')),
                ('preview', models.FileField(blank=True, editable=False, help_text='Empty for an animation, which is shown itself.', max_length=200, upload_to=art.models.stored_name)),
                ('thumbnail', models.FileField(editable=False, max_length=200, upload_to=art.models.stored_name)),
                ('content_type', models.CharField(editable=False, max_length=40, verbose_name='type')),
                ('sha256', models.CharField(editable=False, help_text='Of the file as it was uploaded.', max_length=64)),
                ('size', models.PositiveIntegerField(editable=False, verbose_name='bytes')),
                ('width', models.PositiveIntegerField(editable=False, verbose_name='width')),
                ('height', models.PositiveIntegerField(editable=False, verbose_name='height')),
                ('alt', models.CharField(blank=True, default='', max_length=300, verbose_name='description for those who do not see the picture')),
                ('caption', models.CharField(blank=True, default='', max_length=300, verbose_name='caption')),
                ('uploaded_by', models.CharField(blank=True, default='', editable=False, max_length=150, verbose_name='uploaded by')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='updated')),
                ('deleted_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='deleted at')),
                ('world', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='worlds.world')),
            ],
            options={
                'verbose_name': 'picture',
                'verbose_name_plural': 'pictures',
                'ordering': ['-created_at'],
                'indexes': [models.Index(fields=['world', '-created_at'], name='picture_world_created')],
                'constraints': [models.UniqueConstraint(fields=('world', 'sha256'), name='picture_once_in_world')],
            },
        ),
        migrations.CreateModel(
            name='ArtCard',
            fields=[
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('text', models.TextField(verbose_name='text')),
                ('payload', models.JSONField(blank=True, default=dict, verbose_name='payload')),
                ('metadata', models.JSONField(blank=True, default=dict, verbose_name='metadata')),
                ('language', models.CharField(default='en', max_length=8, verbose_name='language')),
                ('context', models.TextField(blank=True, default='', help_text='Title, heading path, speaker, date.', verbose_name='context')),
                ('surroundings', models.TextField(blank=True, db_default='', default='', editable=False, help_text='Text around the passage, such as the turns before and after. Used for search, never shown.', verbose_name='surrounding text')),
                ('embedding', pgvector.django.halfvec.HalfVectorField(editable=False, null=True)),
                ('embedding_model', models.CharField(blank=True, default='', editable=False, max_length=120)),
                ('content_hash', models.CharField(blank=True, default='', editable=False, max_length=64)),
                ('version', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='updated')),
                ('search_vector', django.contrib.postgres.search.SearchVectorField(editable=False, null=True)),
                ('word_count', models.PositiveIntegerField(db_default=0, default=0, editable=False)),
                ('rev', models.PositiveIntegerField(db_default=1, default=1, editable=False)),
                ('embedded_rev', models.PositiveIntegerField(db_default=0, default=0, editable=False)),
                ('embed_tries', models.PositiveSmallIntegerField(db_default=0, default=0, editable=False)),
                ('embed_after', models.DateTimeField(editable=False, help_text='Leased or postponed until this time.', null=True)),
                ('embed_error', models.CharField(blank=True, db_default='', default='', editable=False, max_length=200)),
                ('visibility', models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility')),
                ('known_to', models.JSONField(blank=True, default=list, editable=False, verbose_name='known to')),
                ('external_id', models.CharField(max_length=120, verbose_name='image id')),
                ('cdn_url', models.URLField(blank=True, default='', max_length=1000, verbose_name='image URL')),
                ('prompt_text', models.TextField(verbose_name='prompt')),
                ('entities', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, size=None, verbose_name='depicted people and things')),
                ('visual_tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=80), blank=True, default=list, size=None, verbose_name='visual tags')),
                ('style', models.CharField(blank=True, default='', max_length=200, verbose_name='style')),
                ('seed', models.BigIntegerField(blank=True, null=True, verbose_name='seed')),
                ('moderation', models.CharField(choices=[('pending', 'Waiting'), ('approved', 'Approved'), ('flagged', 'Flagged'), ('rejected', 'Rejected')], default='pending', max_length=8, verbose_name='moderation')),
                ('moderated_by', models.CharField(blank=True, default='', max_length=150, verbose_name='moderated by')),
                ('moderated_at', models.DateTimeField(blank=True, null=True, verbose_name='moderated at')),
                ('moderation_note', models.CharField(blank=True, default='', max_length=400, verbose_name='note')),
                ('episodes', models.ManyToManyField(blank=True, related_name='art', to='episodes.episode', verbose_name='depicted episodes')),
                ('lore', models.ManyToManyField(blank=True, related_name='art', to='knowledge.lore', verbose_name='depicted lore')),
                ('npcs', models.ManyToManyField(blank=True, related_name='art', to='npcs.npc', verbose_name='depicted NPCs')),
                ('place', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='pictures', to='knowledge.lore', verbose_name='place')),
                ('scene', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='art', to='episodes.scene', verbose_name='scene')),
                ('world', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='worlds.world')),
                ('picture', models.ForeignKey(blank=True, help_text='Instead of an address.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='cards', to='art.picture', verbose_name='uploaded picture')),
            ],
            options={
                'verbose_name': 'art card',
                'verbose_name_plural': 'art cards',
                'ordering': ['-created_at'],
                'abstract': False,
                'indexes': [models.Index(fields=['world', 'moderation'], name='art_card_moderation')],
                'constraints': [models.UniqueConstraint(fields=('world', 'external_id'), name='art_card_in_world')],
            },
        ),
        migrations.CreateModel(
            name='PictureUse',
            fields=[
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('position', models.PositiveIntegerField(default=0, verbose_name='position')),
                ('is_portrait', models.BooleanField(default=False, verbose_name='portrait')),
                ('is_hidden', models.BooleanField(default=False, help_text='Here only game masters see it, unless the picture itself is open to others.', verbose_name='hidden from players')),
                ('removed_at', models.DateTimeField(null=True)),
                ('lore', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='picture_uses', to='knowledge.lore')),
                ('npc', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='picture_uses', to='npcs.npc')),
                ('picture', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uses', to='art.picture')),
            ],
            options={
                'verbose_name': 'use of a picture',
                'verbose_name_plural': 'uses of pictures',
                'ordering': ['position', 'id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('lore', None), ('npc', None), _connector='XOR'), name='picture_use_of_one_thing'), models.UniqueConstraint(fields=('picture', 'lore'), name='picture_once_in_lore'), models.UniqueConstraint(fields=('picture', 'npc'), name='picture_once_in_npc'), models.UniqueConstraint(condition=models.Q(('is_portrait', True), ('removed_at', None)), fields=('lore',), name='one_portrait_of_lore'), models.UniqueConstraint(condition=models.Q(('is_portrait', True), ('removed_at', None)), fields=('npc',), name='one_portrait_of_npc')],
            },
        ),
    ]
