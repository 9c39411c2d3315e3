"""All tables of retrieval at once: a new database needs one migration instead of 10."""

import django.contrib.postgres.fields
import django.utils.timezone
import pgvector.django.halfvec
import retrieval.models
from django.db import migrations, models
from pgvector.django import VectorExtension


OPTIONAL_EXTENSIONS = """
DO $$
DECLARE wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['pg_trgm', 'unaccent', 'btree_gin', 'pg_stat_statements'] LOOP
    BEGIN
      EXECUTE format('CREATE EXTENSION IF NOT EXISTS %I', wanted);
    EXCEPTION WHEN OTHERS THEN
      RAISE NOTICE 'extension % is not available', wanted;
    END;
  END LOOP;
END $$
"""


class Migration(migrations.Migration):

    replaces = [
        ('retrieval', '0001_extensions'),
        ('retrieval', '0002_passage_state'),
        ('retrieval', '0003_cached_vectors'),
        ('retrieval', '0004_language_model_calls'),
        ('retrieval', '0005_staged_vectors'),
        ('retrieval', '0006_plain_labels'),
        ('retrieval', '0007_servingmodel'),
        ('retrieval', '0008_edited_rows'),
        ('retrieval', '0009_upgrade_steps'),
        ('retrieval', '0010_tenants_of_language_model_calls'),
    ]

    initial = True

    dependencies = [
    ]

    operations = [
        VectorExtension(),
        migrations.RunSQL(OPTIONAL_EXTENSIONS, migrations.RunSQL.noop),
        migrations.CreateModel(
            name='LanguageModelCall',
            fields=[
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(auto_now_add=True, db_index=True, verbose_name='created')),
                ('model', models.CharField(max_length=120, verbose_name='model')),
                ('purpose', models.CharField(blank=True, default='', max_length=60, verbose_name='purpose')),
                ('tenant', models.CharField(blank=True, default='', help_text='Id of the world whose allowance paid.', max_length=64, verbose_name='world')),
                ('mode', models.CharField(help_text='Format requested for the answer: schema, json or plain.', max_length=12, verbose_name='mode')),
                ('tokens_in', models.PositiveIntegerField(default=0, verbose_name='input tokens')),
                ('tokens_out', models.PositiveIntegerField(default=0, verbose_name='output tokens')),
                ('cost', models.DecimalField(blank=True, decimal_places=6, help_text='Empty if no price is set.', max_digits=12, null=True, verbose_name='cost')),
                ('duration_ms', models.PositiveIntegerField(default=0, verbose_name='duration, ms')),
                ('ok', models.BooleanField(default=True, verbose_name='succeeded')),
                ('error', models.CharField(blank=True, default='', max_length=60, verbose_name='error')),
            ],
            options={
                'verbose_name': 'language model call',
                'verbose_name_plural': 'language model calls',
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='ScopeStatistics',
            fields=[
                ('pk', models.CompositePrimaryKey('domain', 'scope', blank=True, editable=False, primary_key=True, serialize=False)),
                ('domain', models.CharField(max_length=40)),
                ('scope', models.CharField(help_text='World, game system or agent namespace.', max_length=80)),
                ('rows', models.IntegerField()),
                ('public_rows', models.IntegerField()),
                ('words', models.BigIntegerField()),
                ('public_words', models.BigIntegerField()),
                ('languages', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=8), size=None)),
                ('refreshed_at', models.DateTimeField(help_text='Passages created until then are counted.')),
                ('edited_rows', models.PositiveIntegerField(db_default=0, default=0, help_text='Edits since the whole scope was counted.')),
            ],
            options={
                'verbose_name': 'scope statistics',
                'verbose_name_plural': 'scope statistics',
            },
        ),
        migrations.CreateModel(
            name='ServingModel',
            fields=[
                ('domain', models.CharField(max_length=40, primary_key=True, serialize=False)),
                ('model', models.CharField(max_length=120)),
            ],
            options={
                'verbose_name': 'embedding model in use',
                'verbose_name_plural': 'embedding models in use',
            },
        ),
        migrations.CreateModel(
            name='StagedVector',
            fields=[
                ('pk', models.CompositePrimaryKey('domain', 'model', 'passage_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('domain', models.CharField(max_length=40)),
                ('model', models.CharField(max_length=120)),
                ('passage_id', models.UUIDField()),
                ('rev', models.PositiveIntegerField()),
                ('vector', pgvector.django.halfvec.HalfVectorField()),
            ],
            options={
                'verbose_name': 'staged vector',
                'verbose_name_plural': 'staged vectors',
            },
        ),
        migrations.CreateModel(
            name='UpgradeStep',
            fields=[
                ('name', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('version', models.CharField(default='', help_text='Of all of the data.', max_length=64)),
                ('next_version', models.CharField(default='', max_length=64)),
                ('position', models.UUIDField(null=True)),
                ('changed', models.PositiveIntegerField(default=0, help_text='Rows changed on the way.')),
            ],
            options={
                'verbose_name': 'upgrade step',
                'verbose_name_plural': 'upgrade steps',
            },
        ),
        migrations.CreateModel(
            name='WordStatistics',
            fields=[
                ('pk', models.CompositePrimaryKey('domain', 'scope', 'word', blank=True, editable=False, primary_key=True, serialize=False)),
                ('domain', models.CharField(max_length=40)),
                ('scope', models.CharField(max_length=80)),
                ('word', models.TextField()),
                ('rows', models.IntegerField()),
                ('public_rows', models.IntegerField()),
            ],
            options={
                'verbose_name': 'word statistics',
                'verbose_name_plural': 'word statistics',
            },
        ),
        migrations.CreateModel(
            name='CachedVector',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(max_length=120)),
                ('text_hash', models.CharField(max_length=64)),
                ('vector', models.BinaryField()),
                ('used_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
            options={
                'verbose_name': 'cached vector',
                'verbose_name_plural': 'cached vectors',
                'constraints': [models.UniqueConstraint(fields=('text_hash', 'model'), name='cached_vector_text_and_model')],
            },
        ),
    ]
