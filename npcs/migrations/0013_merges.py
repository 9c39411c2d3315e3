"""Merges of NPCs; the triggers of the ledgers let a merge give entries to another NPC."""

import django.db.models.deletion
import retrieval.models
from django.db import migrations, models


LEDGERS = """
CREATE OR REPLACE FUNCTION npcs_ledger_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('memory37.deletion', true) = 'for good' THEN
    RETURN OLD;
  END IF;
  -- A merge of two NPCs changes whose an entry is, and nothing else.
  IF TG_OP = 'UPDATE' AND current_setting('memory37.merge', true) = 'on'
    AND to_jsonb(NEW) - 'npc_id' = to_jsonb(OLD) - 'npc_id' THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the ledger of dispositions is append-only (% refused)', TG_OP
    USING ERRCODE = 'restrict_violation', HINT = 'Write a reversal or a correction with a reason.';
END $$;
CREATE OR REPLACE FUNCTION npcs_opinions_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('memory37.merge', true) = 'on'
    AND to_jsonb(NEW) - 'npc_id' - 'other_id' = to_jsonb(OLD) - 'npc_id' - 'other_id' THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the ledger of opinions is append-only (% refused)', TG_OP
    USING ERRCODE = 'restrict_violation', HINT = 'Write a reversal or a correction with a reason.';
END $$;
"""

BEFORE = """
CREATE OR REPLACE FUNCTION npcs_ledger_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('memory37.deletion', true) = 'for good' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the ledger of dispositions is append-only (% refused)', TG_OP
    USING ERRCODE = 'restrict_violation', HINT = 'Write a reversal or a correction with a reason.';
END $$;
CREATE OR REPLACE FUNCTION npcs_opinions_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger of opinions is append-only (% refused)', TG_OP
    USING ERRCODE = 'restrict_violation', HINT = 'Write a reversal or a correction with a reason.';
END $$;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('npcs', '0012_consequences_and_standings'),
        ('worlds', '0016_events_of_edits'),
    ]

    operations = [
        migrations.CreateModel(
            name='NPCMerge',
            fields=[
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('reason', models.TextField(blank=True, default='', verbose_name='reason')),
                ('moved', models.JSONField(default=dict)),
                ('made_by', models.CharField(blank=True, default='', max_length=150, verbose_name='created by')),
                ('merged_at', models.DateTimeField(auto_now_add=True, verbose_name='merged')),
                ('undone_by', models.CharField(blank=True, default='', max_length=150, verbose_name='undone by')),
                ('undone_at', models.DateTimeField(blank=True, null=True, verbose_name='undone at')),
                ('kept', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='merges', to='npcs.npc', verbose_name='kept')),
                ('merged', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='npcs.npc')),
                ('world', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='worlds.world')),
            ],
            options={
                'verbose_name': 'merge of NPCs',
                'verbose_name_plural': 'merges of NPCs',
                'ordering': ['-merged_at'],
            },
        ),
        migrations.CreateModel(
            name='MergedEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('side', models.CharField(choices=[('npc', 'NPC'), ('other', 'other NPC')], default='npc', max_length=5)),
                ('change', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='npcs.dispositionchange')),
                ('opinion', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='npcs.opinionchange')),
                ('merge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='npcs.npcmerge')),
            ],
            options={
                'verbose_name': 'merged entry',
                'verbose_name_plural': 'merged entries',
            },
        ),
        migrations.AddIndex(
            model_name='npcmerge',
            index=models.Index(fields=['world', '-merged_at'], name='npc_merge_of_world'),
        ),
        migrations.AddConstraint(
            model_name='npcmerge',
            constraint=models.UniqueConstraint(condition=models.Q(('undone_at', None)), fields=('merged',), name='npc_merged_once'),
        ),
        migrations.AddConstraint(
            model_name='npcmerge',
            constraint=models.CheckConstraint(condition=models.Q(('kept', models.F('merged')), _negated=True), name='npc_merge_of_two'),
        ),
        migrations.AddConstraint(
            model_name='mergedentry',
            constraint=models.CheckConstraint(condition=models.Q(('change', None), ('opinion', None), _connector='XOR'), name='merged_entry_of_one_ledger'),
        ),
        migrations.RunSQL(LEDGERS, BEFORE),
    ]
