"""All tables of memories at once: a new database needs one migration instead of 10."""

import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
import memories.models.code_rules
import pgvector.django.halfvec
import pgvector.django.vector
import retrieval.models
from django.db import migrations, models


OBSERVATIONS_APPEND_ONLY = """
CREATE FUNCTION memories_observations_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('memory37.deletion', true) = 'for good' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'observations are append-only (% refused)', TG_OP
    USING ERRCODE = 'restrict_violation', HINT = 'Add what is right, or erase it for good with a receipt.';
END $$;
CREATE TRIGGER memories_observations_are_append_only BEFORE UPDATE OR DELETE ON memories_observation
  FOR EACH ROW EXECUTE FUNCTION memories_observations_are_append_only();
"""
OBSERVATIONS_EDITABLE = """
DROP TRIGGER memories_observations_are_append_only ON memories_observation;
DROP FUNCTION memories_observations_are_append_only();
"""


class Migration(migrations.Migration):

    replaces = [
        ('memories', '0001_agent_memory'),
        ('memories', '0002_observations_are_append_only'),
        ('memories', '0003_words_counted'),
        ('memories', '0004_passage_surroundings'),
        ('memories', '0005_event_allowance'),
        ('memories', '0006_code_rules_and_agent_states'),
        ('memories', '0007_reflections'),
        ('memories', '0008_plain_labels'),
        ('memories', '0009_turns_of_conversations'),
        ('memories', '0010_link_turns'),
    ]

    initial = True

    dependencies = [
        ('retrieval', '0001_squashed_0010_tenants_of_language_model_calls'),
        ('worlds', '0001_squashed_0016_events_of_edits'),
    ]

    operations = [
        migrations.CreateModel(
            name='Namespace',
            fields=[
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(help_text='The agent this memory belongs to.', max_length=120, verbose_name='name')),
                ('path', models.TextField(blank=True, default='', help_text='The folder from which a script opens this memory.', verbose_name='folder')),
                ('dims', models.PositiveIntegerField(blank=True, editable=False, null=True, verbose_name='vector width')),
                ('review', models.CharField(choices=[('off', 'Off: machine-written memories are used at once'), ('core', 'Core: changes to the core memory wait for approval'), ('all', 'All: every machine-written memory waits for approval')], default='off', max_length=8, verbose_name='review')),
                ('language', models.CharField(default='en', max_length=8, verbose_name='language')),
                ('merge_top_k', models.PositiveIntegerField(default=3, verbose_name='related memories per content item')),
                ('merge_distance_cutoff', models.FloatField(default=0.25, verbose_name='maximum distance of related memories')),
                ('revision', models.PositiveBigIntegerField(default=0, editable=False)),
                ('last_timestamp_ms', models.BigIntegerField(default=0, editable=False)),
                ('words_counted', models.PositiveIntegerField(default=0, editable=False)),
                ('words_uncounted', models.PositiveIntegerField(default=0, editable=False)),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('world', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='namespaces', to='worlds.world')),
            ],
            options={
                'verbose_name': 'namespace',
                'verbose_name_plural': 'namespaces',
                'constraints': [models.UniqueConstraint(fields=('world', 'name'), name='memory_namespace_in_world')],
            },
        ),
        migrations.CreateModel(
            name='Observation',
            fields=[
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('batch', models.UUIDField(default=retrieval.models.uuid7, help_text='Shared by all contents of one add call.', verbose_name='add call')),
                ('text', models.TextField(verbose_name='text')),
                ('source', models.CharField(blank=True, default='', max_length=200, verbose_name='source')),
                ('subject', models.CharField(blank=True, default='', max_length=200, verbose_name='subject')),
                ('speaker', models.CharField(blank=True, default='', max_length=120, verbose_name='speaker')),
                ('event_at', models.DateTimeField(blank=True, null=True, verbose_name='happened at')),
                ('in_world_at', models.FloatField(blank=True, null=True, verbose_name='in-world day')),
                ('in_world_label', models.CharField(blank=True, default='', max_length=120, verbose_name='in-world date')),
                ('details', models.JSONField(blank=True, default=dict, verbose_name='details')),
                ('recorded_at', models.DateTimeField(auto_now_add=True, verbose_name='recorded at')),
                ('namespace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='observations', to='memories.namespace')),
            ],
            options={
                'verbose_name': 'observation',
                'verbose_name_plural': 'observations',
                'indexes': [models.Index(fields=['namespace', 'recorded_at'], name='memory_observed_at'), models.Index(fields=['namespace', 'source'], name='memory_observed_from')],
            },
        ),
        migrations.CreateModel(
            name='MemoryItem',
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
                ('bucket', models.CharField(choices=[('profile', 'Profile'), ('preference', 'Preference'), ('episodic', 'Episodic'), ('semantic', 'Semantic'), ('fact', 'Fact')], default='fact', max_length=10, verbose_name='bucket')),
                ('importance', models.FloatField(default=0.5, verbose_name='importance')),
                ('state', models.CharField(choices=[('active', 'Active'), ('pending', 'Waiting for approval'), ('superseded', 'Superseded'), ('archived', 'Archived'), ('expired', 'Expired'), ('rejected', 'Rejected')], default='active', max_length=10, verbose_name='state')),
                ('made_by', models.CharField(choices=[('model', 'Language model'), ('contents', 'Unmodified contents'), ('rules', 'Rules'), ('tool', "Agent's tool"), ('person', 'Person'), ('import', 'Import'), ('rebuild', 'Rebuilt from observations')], default='rules', max_length=10, verbose_name='created by')),
                ('source', models.CharField(blank=True, default='', max_length=200, verbose_name='source')),
                ('subject', models.CharField(blank=True, default='', max_length=200, verbose_name='subject')),
                ('speaker', models.CharField(blank=True, default='', max_length=120, verbose_name='speaker')),
                ('event_at', models.DateTimeField(blank=True, null=True, verbose_name='happened at')),
                ('in_world_at', models.FloatField(blank=True, null=True, verbose_name='in-world day')),
                ('in_world_label', models.CharField(blank=True, default='', max_length=120, verbose_name='in-world date')),
                ('expires_at', models.DateTimeField(blank=True, null=True, verbose_name='expires')),
                ('timestamp_ms', models.BigIntegerField(default=0, editable=False, verbose_name='recorded at (ms)')),
                ('turn_order', models.BigIntegerField(editable=False, help_text='Its place among the turns of its source; empty if it is no turn.', null=True)),
                ('previous_turn', models.UUIDField(editable=False, null=True)),
                ('recalls', models.PositiveIntegerField(default=0, editable=False, verbose_name='times recalled')),
                ('last_recalled_at', models.DateTimeField(editable=False, null=True, verbose_name='last recalled')),
                ('namespace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memories', to='memories.namespace')),
            ],
            options={
                'verbose_name': 'memory',
                'verbose_name_plural': 'memories',
                'abstract': False,
                'indexes': [models.Index(fields=['namespace', 'state', '-timestamp_ms'], name='memory_latest'), models.Index(fields=['namespace', 'source'], name='memory_from'), models.Index(condition=models.Q(('turn_order__isnull', False)), fields=['namespace', 'source', 'turn_order'], name='memory_turns'), models.Index(condition=models.Q(('previous_turn__isnull', False)), fields=['previous_turn'], name='memory_turn_after'), models.Index(condition=models.Q(('expires_at__isnull', False)), fields=['expires_at'], name='memory_expiring')],
                'constraints': [models.CheckConstraint(condition=models.Q(('importance__gte', 0), ('importance__lte', 1)), name='memory_importance_is_a_share')],
            },
        ),
        migrations.CreateModel(
            name='Evidence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='evidence', to='memories.memoryitem')),
                ('observation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='evidence', to='memories.observation')),
            ],
            options={
                'verbose_name': 'evidence',
                'verbose_name_plural': 'evidence',
                'constraints': [models.UniqueConstraint(fields=('memory', 'observation'), name='memory_evidence_once')],
            },
        ),
        migrations.CreateModel(
            name='Reflection',
            fields=[
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField(verbose_name='number')),
                ('trigger', models.CharField(choices=[('importance', 'Importance threshold reached'), ('episodes', 'Episode threshold reached'), ('time', 'Time threshold reached')], max_length=12, verbose_name='trigger')),
                ('after_ms', models.BigIntegerField()),
                ('until_ms', models.BigIntegerField()),
                ('episodes', models.PositiveIntegerField(verbose_name='episodes')),
                ('claim', models.UUIDField(editable=False, null=True)),
                ('claimed_until', models.DateTimeField(editable=False, null=True)),
                ('tries', models.PositiveIntegerField(default=0, verbose_name='attempts')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('done_at', models.DateTimeField(blank=True, null=True, verbose_name='completed at')),
                ('namespace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reflections', to='memories.namespace')),
            ],
            options={
                'verbose_name': 'reflection',
                'verbose_name_plural': 'reflections',
                'constraints': [models.UniqueConstraint(fields=('namespace', 'number'), name='reflection_number'), models.UniqueConstraint(condition=models.Q(('done_at__isnull', True)), fields=('namespace',), name='reflection_one_open')],
            },
        ),
        migrations.CreateModel(
            name='Insight',
            fields=[
                ('memory', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='insight', serialize=False, to='memories.memoryitem')),
                ('rests_on', models.PositiveIntegerField(verbose_name='episodes')),
                ('flagged_at', models.DateTimeField(blank=True, null=True, verbose_name='flagged at')),
                ('flag', models.CharField(blank=True, default='', max_length=300, verbose_name='reason for the flag')),
                ('reflection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='insights', to='memories.reflection')),
            ],
            options={
                'verbose_name': 'insight',
                'verbose_name_plural': 'insights',
            },
        ),
        migrations.CreateModel(
            name='ErasureReceipt',
            fields=[
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('namespace_id_was', models.UUIDField(verbose_name='namespace')),
                ('scope', models.CharField(choices=[('memory', 'One memory'), ('source', 'A source'), ('subject', 'A subject'), ('namespace', 'A namespace')], max_length=10, verbose_name='scope')),
                ('requested_by', models.CharField(blank=True, default='', max_length=150, verbose_name='requested by')),
                ('reason', models.CharField(blank=True, default='', max_length=300, verbose_name='reason')),
                ('counts', models.JSONField(default=dict, verbose_name='erased rows')),
                ('leftovers', models.JSONField(default=list, verbose_name='remaining data')),
                ('verified_at', models.DateTimeField(blank=True, null=True, verbose_name='verified at')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('world', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='worlds.world')),
            ],
            options={
                'verbose_name': 'deletion receipt',
                'verbose_name_plural': 'deletion receipts',
            },
        ),
        migrations.CreateModel(
            name='EventAllowance',
            fields=[
                ('namespace', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='event_allowance', serialize=False, to='memories.namespace')),
                ('tokens', models.FloatField(verbose_name='tokens')),
                ('passed', models.PositiveIntegerField(default=0, verbose_name='allowed at the last check')),
                ('filled_at', models.DateTimeField(verbose_name='refilled at')),
            ],
            options={
                'verbose_name': 'event allowance',
                'verbose_name_plural': 'event allowances',
            },
        ),
        migrations.CreateModel(
            name='CoreVersion',
            fields=[
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField(verbose_name='version')),
                ('markdown', models.TextField(verbose_name='core memory')),
                ('reason', models.CharField(blank=True, default='', max_length=300, verbose_name='reason')),
                ('made_by', models.CharField(choices=[('model', 'Language model'), ('contents', 'Unmodified contents'), ('rules', 'Rules'), ('tool', "Agent's tool"), ('person', 'Person'), ('import', 'Import'), ('rebuild', 'Rebuilt from observations')], default='model', max_length=10, verbose_name='created by')),
                ('author', models.CharField(blank=True, default='', max_length=150, verbose_name='author')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('namespace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='core_versions', to='memories.namespace')),
            ],
            options={
                'verbose_name': 'core version',
                'verbose_name_plural': 'core versions',
                'constraints': [models.UniqueConstraint(fields=('namespace', 'number'), name='memory_core_number')],
            },
        ),
        migrations.CreateModel(
            name='CoreProposal',
            fields=[
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('base_number', models.PositiveIntegerField(default=0, verbose_name='based on version')),
                ('markdown', models.TextField(verbose_name='proposed core memory')),
                ('reason', models.CharField(blank=True, default='', max_length=300, verbose_name='reason')),
                ('problems', models.JSONField(blank=True, default=list, verbose_name='objections')),
                ('verdict', models.CharField(choices=[('open', 'Pending'), ('approved', 'Approved'), ('rejected', 'Rejected')], default='open', max_length=10, verbose_name='verdict')),
                ('decided_by', models.CharField(blank=True, default='', max_length=150, verbose_name='decided by')),
                ('decided_at', models.DateTimeField(blank=True, null=True, verbose_name='decided at')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('namespace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='core_proposals', to='memories.namespace')),
            ],
            options={
                'verbose_name': 'core proposal',
                'verbose_name_plural': 'core proposals',
            },
        ),
        migrations.CreateModel(
            name='AgentState',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120, verbose_name='name')),
                ('state', models.JSONField(default=dict, verbose_name='state')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='updated')),
                ('namespace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='agent_states', to='memories.namespace')),
            ],
            options={
                'verbose_name': 'unfinished agent work',
                'verbose_name_plural': 'unfinished agent work',
                'constraints': [models.UniqueConstraint(fields=('namespace', 'name'), name='agent_state_by_name')],
            },
        ),
        migrations.CreateModel(
            name='HealthReading',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField(verbose_name='day')),
                ('counts', models.JSONField(default=dict, verbose_name='counts')),
                ('namespace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='health_readings', to='memories.namespace')),
            ],
            options={
                'verbose_name': 'health reading',
                'verbose_name_plural': 'health readings',
                'constraints': [models.UniqueConstraint(fields=('namespace', 'day'), name='memory_health_once_a_day')],
            },
        ),
        migrations.CreateModel(
            name='Message',
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
                ('conversation', models.CharField(blank=True, default='', max_length=120, verbose_name='conversation')),
                ('role', models.CharField(default='user', max_length=20, verbose_name='role')),
                ('speaker', models.CharField(blank=True, default='', max_length=120, verbose_name='speaker')),
                ('source', models.CharField(blank=True, default='', max_length=200, verbose_name='source')),
                ('said_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='said at')),
                ('previous_turn', models.UUIDField(editable=False, null=True)),
                ('namespace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='memories.namespace')),
            ],
            options={
                'verbose_name': 'message',
                'verbose_name_plural': 'messages',
                'abstract': False,
                'indexes': [models.Index(fields=['namespace', 'said_at'], name='memory_said_at'), models.Index(fields=['namespace', 'conversation', 'said_at'], name='memory_message_turns'), models.Index(condition=models.Q(('previous_turn__isnull', False)), fields=['previous_turn'], name='memory_message_after')],
            },
        ),
        migrations.CreateModel(
            name='StateChange',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('state', models.CharField(choices=[('active', 'Active'), ('pending', 'Waiting for approval'), ('superseded', 'Superseded'), ('archived', 'Archived'), ('expired', 'Expired'), ('rejected', 'Rejected')], max_length=10, verbose_name='state')),
                ('at', models.DateTimeField(verbose_name='since')),
                ('by', models.CharField(blank=True, default='', max_length=120, verbose_name='changed by')),
                ('reason', models.CharField(blank=True, default='', max_length=300, verbose_name='reason')),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='memories.memoryitem')),
            ],
            options={
                'verbose_name': 'state change',
                'verbose_name_plural': 'state changes',
                'indexes': [models.Index(fields=['memory', 'at'], name='memory_state_at')],
            },
        ),
        migrations.CreateModel(
            name='StoredCodeRule',
            fields=[
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('project_id', models.CharField(db_default='global', default='global', max_length=255, verbose_name='project')),
                ('name', models.CharField(max_length=255, verbose_name='name')),
                ('description', models.TextField(blank=True, default='', verbose_name='description')),
                ('category', models.CharField(choices=[('null_safety', 'Null safety'), ('error_handling', 'Error handling'), ('readability', 'Readability'), ('performance', 'Performance'), ('security', 'Security')], max_length=50, verbose_name='category')),
                ('before_pattern', models.TextField(blank=True, default='', verbose_name='before')),
                ('after_pattern', models.TextField(blank=True, default='', verbose_name='after')),
                ('pattern_type', models.CharField(choices=[('literal', 'Literal'), ('regex', 'Regular expression'), ('ast', 'Syntax tree')], default='literal', max_length=20, verbose_name='pattern type')),
                ('languages', models.JSONField(default=memories.models.code_rules.python_only, verbose_name='languages')),
                ('confidence', models.FloatField(default=0.5, verbose_name='confidence')),
                ('observation_count', models.PositiveIntegerField(default=1, verbose_name='observation count')),
                ('success_count', models.PositiveIntegerField(default=0, verbose_name='successes')),
                ('failure_count', models.PositiveIntegerField(default=0, verbose_name='failures')),
                ('min_confidence_threshold', models.FloatField(default=0.3, verbose_name='application threshold')),
                ('promotion_threshold', models.FloatField(default=0.8, verbose_name='trust threshold')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='created')),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='updated')),
                ('namespace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='code_rules', to='memories.namespace')),
            ],
            options={
                'verbose_name': 'code rule',
                'verbose_name_plural': 'code rules',
                'db_table': 'memory_code_rules',
                'indexes': [models.Index(fields=['namespace', 'project_id'], name='idx_code_rules_project'), models.Index(fields=['category'], name='idx_code_rules_category'), models.Index(fields=['-confidence'], name='idx_code_rules_confidence')],
                'constraints': [models.CheckConstraint(condition=models.Q(('confidence__gte', 0), ('confidence__lte', 1)), name='code_rule_confidence_is_a_share')],
            },
        ),
        migrations.CreateModel(
            name='CodeRuleOutcome',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('success', models.BooleanField(verbose_name='worked')),
                ('confidence', models.FloatField(verbose_name='confidence after the outcome')),
                ('ema_alpha', models.FloatField(default=0.2, verbose_name='weight of one outcome')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='time')),
                ('rule', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='outcomes', to='memories.storedcoderule')),
            ],
            options={
                'verbose_name': 'outcome of a code rule',
                'verbose_name_plural': 'outcomes of code rules',
                'indexes': [models.Index(fields=['rule', 'at'], name='code_rule_outcome_at')],
            },
        ),
        migrations.CreateModel(
            name='Succession',
            fields=[
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('supersedes', 'Supersedes'), ('formerly', 'Former value'), ('merged', 'Merged'), ('split', 'Split')], default='supersedes', max_length=10, verbose_name='kind')),
                ('in_effect', models.BooleanField(default=True, verbose_name='in effect')),
                ('reason', models.CharField(blank=True, default='', max_length=300, verbose_name='reason')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('undone_at', models.DateTimeField(blank=True, null=True, verbose_name='undone at')),
                ('newer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='predecessors', to='memories.memoryitem')),
                ('older', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='successors', to='memories.memoryitem')),
            ],
            options={
                'verbose_name': 'succession',
                'verbose_name_plural': 'successions',
                'constraints': [models.UniqueConstraint(fields=('older', 'newer', 'kind'), name='memory_succession_once'), models.CheckConstraint(condition=models.Q(('older', models.F('newer')), _negated=True), name='memory_succeeds_another')],
            },
        ),
        migrations.CreateModel(
            name='Tombstone',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('receipt', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tombstones', to='memories.erasurereceipt')),
            ],
        ),
        migrations.CreateModel(
            name='ClientVector',
            fields=[
                ('memory', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='client_vector', serialize=False, to='memories.memoryitem')),
                ('vector', pgvector.django.vector.VectorField()),
                ('namespace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memories.namespace')),
            ],
            options={
                'verbose_name': 'client vector',
                'verbose_name_plural': 'client vectors',
            },
        ),
        migrations.CreateModel(
            name='InsightSource',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('episode', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='insights', to='memories.memoryitem')),
                ('insight', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='memories.insight')),
            ],
            options={
                'verbose_name': 'source episode of an insight',
                'verbose_name_plural': 'source episodes of insights',
                'constraints': [models.UniqueConstraint(fields=('insight', 'episode'), name='insight_source_once')],
            },
        ),
        migrations.AddField(
            model_name='MemoryItem',
            name='observations',
            field=models.ManyToManyField(related_name='memories', through='memories.Evidence', to='memories.observation'),
        ),
        migrations.RunSQL(OBSERVATIONS_APPEND_ONLY, OBSERVATIONS_EDITABLE),
    ]
