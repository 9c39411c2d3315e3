"""All tables of npcs at once: a new database needs one migration instead of 12."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.utils.timezone
import knowledge.graph.models
import retrieval.models
import simple_history.models
from django.conf import settings
from django.db import migrations, models


LEDGER_APPEND_ONLY = """
CREATE FUNCTION npcs_ledger_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('memory37.deletion', true) = 'for good' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the ledger of dispositions is append-only (% refused)', TG_OP
    USING ERRCODE = 'restrict_violation', HINT = 'Write a reversal or a correction with a reason.';
END $$;
CREATE TRIGGER npcs_ledger_is_append_only BEFORE UPDATE OR DELETE ON npcs_dispositionchange
  FOR EACH ROW EXECUTE FUNCTION npcs_ledger_is_append_only();
"""
LEDGER_EDITABLE = """
DROP TRIGGER npcs_ledger_is_append_only ON npcs_dispositionchange;
DROP FUNCTION npcs_ledger_is_append_only();
"""
OPINIONS_APPEND_ONLY = """
CREATE FUNCTION npcs_opinions_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger of opinions is append-only (% refused)', TG_OP
    USING ERRCODE = 'restrict_violation', HINT = 'Write a reversal or a correction with a reason.';
END $$;
CREATE TRIGGER npcs_opinions_are_append_only BEFORE UPDATE ON npcs_opinionchange
  FOR EACH ROW EXECUTE FUNCTION npcs_opinions_are_append_only();
"""
OPINIONS_EDITABLE = """
DROP TRIGGER npcs_opinions_are_append_only ON npcs_opinionchange;
DROP FUNCTION npcs_opinions_are_append_only();
"""


class Migration(migrations.Migration):

    replaces = [
        ('npcs', '0001_npcs_and_dispositions'),
        ('npcs', '0002_append_only_ledger'),
        ('npcs', '0003_secrets_and_axes'),
        ('npcs', '0004_plain_labels'),
        ('npcs', '0005_trash'),
        ('npcs', '0006_calendars_and_timeline'),
        ('npcs', '0007_large_changes_by_day'),
        ('npcs', '0008_changes_by_hand'),
        ('npcs', '0009_name_keys'),
        ('npcs', '0010_keys_of_names'),
        ('npcs', '0011_keys_of_quoted_names'),
        ('npcs', '0012_consequences_and_standings'),
    ]

    initial = True

    dependencies = [
        ('retrieval', '0001_squashed_0010_tenants_of_language_model_calls'),
        ('auth', '__first__'),
        ('episodes', '0001_squashed_0011_open_to_others'),
        ('knowledge', '0001_squashed_0027_entities_of_entries'),
        ('worlds', '0001_squashed_0016_events_of_edits'),
    ]

    operations = [
        migrations.CreateModel(
            name='HistoricalNPC',
            fields=[
                ('visibility', models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility')),
                ('id', models.UUIDField(db_index=True, default=retrieval.models.uuid7, editable=False)),
                ('created_at', models.DateTimeField(blank=True, editable=False, verbose_name='created')),
                ('updated_at', models.DateTimeField(blank=True, editable=False, verbose_name='updated')),
                ('slug', models.SlugField(allow_unicode=True, max_length=120, verbose_name='slug')),
                ('name', models.CharField(max_length=200, verbose_name='name')),
                ('aliases', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, help_text='Other names, in any language.', size=None, verbose_name='aliases')),
                ('role', models.CharField(blank=True, default='', max_length=200, verbose_name='role')),
                ('summary', models.TextField(blank=True, default='', help_text='What anyone who meets the NPC can see.', verbose_name='description')),
                ('faction', models.CharField(blank=True, default='', max_length=200, verbose_name='faction')),
                ('faction_visibility', models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='public', help_text='Public: everyone who knows the NPC. Otherwise: game masters only.', max_length=10, verbose_name='who knows the faction')),
                ('home', models.CharField(blank=True, default='', max_length=200, verbose_name='home')),
                ('voice', models.TextField(blank=True, default='', verbose_name='voice')),
                ('goals', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, size=None, verbose_name='goals')),
                ('milestones', models.JSONField(blank=True, default=list, help_text='What happened to the NPC, and when: a list of {at, label, text}. For the game master.', verbose_name='milestones')),
                ('play_now', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, help_text='Up to three lines, enough to play the NPC.', size=None, verbose_name='how to play the NPC')),
                ('language', models.CharField(default='en', max_length=8, verbose_name='language')),
                ('base', models.SmallIntegerField(default=0, help_text='Disposition toward a party that the NPC knows nothing about.', verbose_name='initial disposition')),
                ('half_life', models.FloatField(blank=True, help_text='In-world days after which a change has half its effect. If empty, the setting of the site applies.', null=True, verbose_name='half-life in days')),
                ('version', models.PositiveIntegerField(default=1, editable=False, verbose_name='version')),
                ('history_id', models.AutoField(primary_key=True, serialize=False)),
                ('history_date', models.DateTimeField(db_index=True)),
                ('history_change_reason', models.CharField(max_length=100, null=True)),
                ('history_type', models.CharField(choices=[('+', 'Created'), ('~', 'Changed'), ('-', 'Deleted')], max_length=1)),
                ('biography', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='knowledge.lore', verbose_name='biography in the lore')),
                ('faction_lore', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='knowledge.lore', verbose_name='faction in the lore')),
                ('history_user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('home_lore', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='knowledge.lore', verbose_name='home in the lore')),
                ('world', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='worlds.world')),
            ],
            options={
                'verbose_name': 'historical NPC',
                'verbose_name_plural': 'historical NPCs',
                'ordering': ('-history_date', '-history_id'),
                'get_latest_by': ('history_date', 'history_id'),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name='NPC',
            fields=[
                ('visibility', models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility')),
                ('known_to', models.JSONField(blank=True, default=list, editable=False, verbose_name='known to')),
                ('deleted_at', models.DateTimeField(editable=False, null=True, verbose_name='in the trash since')),
                ('deleted_by', models.CharField(blank=True, default='', editable=False, max_length=150, verbose_name='moved to the trash by')),
                ('trash_data', models.JSONField(default=dict, editable=False)),
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='updated')),
                ('slug', models.SlugField(allow_unicode=True, max_length=120, verbose_name='slug')),
                ('name', models.CharField(max_length=200, verbose_name='name')),
                ('aliases', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, help_text='Other names, in any language.', size=None, verbose_name='aliases')),
                ('role', models.CharField(blank=True, default='', max_length=200, verbose_name='role')),
                ('summary', models.TextField(blank=True, default='', help_text='What anyone who meets the NPC can see.', verbose_name='description')),
                ('faction', models.CharField(blank=True, default='', max_length=200, verbose_name='faction')),
                ('faction_visibility', models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='public', help_text='Public: everyone who knows the NPC. Otherwise: game masters only.', max_length=10, verbose_name='who knows the faction')),
                ('home', models.CharField(blank=True, default='', max_length=200, verbose_name='home')),
                ('voice', models.TextField(blank=True, default='', verbose_name='voice')),
                ('goals', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, size=None, verbose_name='goals')),
                ('milestones', models.JSONField(blank=True, default=list, help_text='What happened to the NPC, and when: a list of {at, label, text}. For the game master.', verbose_name='milestones')),
                ('play_now', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, help_text='Up to three lines, enough to play the NPC.', size=None, verbose_name='how to play the NPC')),
                ('language', models.CharField(default='en', max_length=8, verbose_name='language')),
                ('base', models.SmallIntegerField(default=0, help_text='Disposition toward a party that the NPC knows nothing about.', verbose_name='initial disposition')),
                ('half_life', models.FloatField(blank=True, help_text='In-world days after which a change has half its effect. If empty, the setting of the site applies.', null=True, verbose_name='half-life in days')),
                ('version', models.PositiveIntegerField(default=1, editable=False, verbose_name='version')),
                ('name_keys', knowledge.graph.models.NameKeysField(base_field=models.CharField(max_length=16), default=list, editable=False, size=None)),
                ('biography', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='npcs', to='knowledge.lore', verbose_name='biography in the lore')),
                ('faction_lore', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='members', to='knowledge.lore', verbose_name='faction in the lore')),
                ('home_lore', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='inhabitants', to='knowledge.lore', verbose_name='home in the lore')),
                ('world', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='worlds.world')),
            ],
            options={
                'verbose_name': 'NPC',
                'verbose_name_plural': 'NPCs',
                'ordering': ['name'],
                'indexes': [django.contrib.postgres.indexes.GinIndex(fields=['name_keys'], name='npc_name_keys')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('world', 'slug'), name='npc_in_world'), models.CheckConstraint(condition=models.Q(('base__range', (-100, 100))), name='npc_base_in_range'), models.CheckConstraint(condition=models.Q(('half_life', None), ('half_life__gt', 0), _connector='OR'), name='npc_half_life_is_positive')],
            },
        ),
        migrations.CreateModel(
            name='DispositionChange',
            fields=[
                ('in_world_at', models.FloatField(blank=True, null=True, verbose_name='in-world day')),
                ('in_world_label', models.CharField(blank=True, default='', max_length=120, verbose_name='in-world date')),
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('episode', 'Episode'), ('correction', 'Correction'), ('consequence', 'Consequence'), ('reversal', 'Reversal'), ('restoration', 'Restoration'), ('approval', 'Approval'), ('rejection', 'Rejection')], max_length=12, verbose_name='kind')),
                ('axis', models.CharField(choices=[('affection', 'Affection'), ('trust', 'Trust'), ('respect', 'Respect'), ('fear', 'Fear')], default='affection', max_length=12, verbose_name='axis')),
                ('delta', models.SmallIntegerField(default=0, verbose_name='change')),
                ('reason', models.TextField(verbose_name='reason')),
                ('held', models.BooleanField(default=False, verbose_name='waiting for the game master')),
                ('episode_version', models.PositiveIntegerField(blank=True, null=True, verbose_name='episode version')),
                ('rule', models.CharField(blank=True, choices=[('kin', 'Kin'), ('ally', 'Allies'), ('enemy', 'Enemies'), ('member', 'Factions of the NPC')], default='', max_length=8, verbose_name='rule')),
                ('made_by', models.CharField(blank=True, default='', max_length=150, verbose_name='created by')),
                ('happened_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='happened at')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='recorded at')),
                ('about', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='rulings', to='npcs.dispositionchange', verbose_name='affected change')),
                ('cause', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='consequences', to='npcs.dispositionchange', verbose_name='cause')),
                ('episode', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='disposition_changes', to='episodes.episode', verbose_name='episode')),
                ('party', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='disposition_changes', to='worlds.party', verbose_name='party')),
                ('npc', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='npcs.npc', verbose_name='NPC')),
            ],
            options={
                'verbose_name': 'disposition change',
                'verbose_name_plural': 'disposition changes',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['npc', 'party', 'happened_at', 'id'], name='change_of_pair'), models.Index(condition=models.Q(('delta__gte', 15), ('delta__lte', -15), _connector='OR'), fields=['in_world_at', 'id'], name='large_change_by_day'), models.Index(condition=models.Q(('held', True)), fields=['party', 'id'], name='change_held'), models.Index(condition=models.Q(('kind', 'episode'), _negated=True), fields=['id'], name='change_by_hand')],
                'constraints': [models.CheckConstraint(condition=models.Q(('delta__range', (-200, 200))), name='change_in_range'), models.CheckConstraint(condition=models.Q(models.Q(('about', None), ('kind__in', ['episode', 'correction', 'consequence']), models.Q(('delta', 0), _negated=True)), models.Q(('about__isnull', False), ('delta', 0), ('kind__in', ['reversal', 'restoration', 'approval', 'rejection'])), _connector='OR'), name='change_or_ruling'), models.CheckConstraint(condition=models.Q(models.Q(('episode__isnull', False), ('episode_version__isnull', False), ('kind', 'episode')), models.Q(('kind', 'episode'), _negated=True), _connector='OR'), name='episode_change_has_episode'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='change_has_reason'), models.CheckConstraint(condition=models.Q(models.Q(('cause__isnull', False), ('episode', None), ('kind', 'consequence'), models.Q(('rule', ''), _negated=True)), models.Q(models.Q(('kind', 'consequence'), _negated=True), ('cause', None), ('rule', '')), _connector='OR'), name='consequence_has_cause')],
            },
        ),
        migrations.CreateModel(
            name='Disposition',
            fields=[
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('score', models.FloatField(default=0, verbose_name='score')),
                ('axes', models.JSONField(blank=True, default=dict, verbose_name='per axis')),
                ('trend', models.FloatField(default=0, verbose_name='trend')),
                ('changes', models.PositiveIntegerField(default=0, verbose_name='applied changes')),
                ('pending', models.PositiveIntegerField(default=0, verbose_name='pending changes')),
                ('in_world_at', models.FloatField(blank=True, null=True, verbose_name='as of day')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='updated')),
                ('party', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='dispositions', to='worlds.party', verbose_name='party')),
                ('last_change', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='npcs.dispositionchange')),
                ('npc', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='dispositions', to='npcs.npc', verbose_name='NPC')),
            ],
            options={
                'verbose_name': 'disposition',
                'verbose_name_plural': 'dispositions',
                'indexes': [models.Index(fields=['party', '-score'], name='disposition_of_party')],
                'constraints': [models.UniqueConstraint(fields=('npc', 'party'), name='disposition_once'), models.CheckConstraint(condition=models.Q(('score__gte', -100), ('score__lte', 100)), name='disposition_in_range')],
            },
        ),
        migrations.CreateModel(
            name='Appearance',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('episode', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='appearances', to='episodes.episode')),
                ('npc', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='appearances', to='npcs.npc')),
            ],
            options={
                'verbose_name': 'appearance',
                'verbose_name_plural': 'appearances',
                'constraints': [models.UniqueConstraint(fields=('npc', 'episode'), name='appearance_once')],
            },
        ),
        migrations.CreateModel(
            name='OpinionChange',
            fields=[
                ('in_world_at', models.FloatField(blank=True, null=True, verbose_name='in-world day')),
                ('in_world_label', models.CharField(blank=True, default='', max_length=120, verbose_name='in-world date')),
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('correction', 'Correction'), ('consequence', 'Consequence'), ('reversal', 'Reversal'), ('restoration', 'Restoration')], max_length=12, verbose_name='kind')),
                ('delta', models.SmallIntegerField(default=0, verbose_name='change')),
                ('reason', models.TextField(verbose_name='reason')),
                ('rule', models.CharField(blank=True, choices=[('kin', 'Kin'), ('ally', 'Allies'), ('enemy', 'Enemies'), ('member', 'Factions of the NPC')], default='', max_length=8, verbose_name='rule')),
                ('made_by', models.CharField(blank=True, default='', max_length=150, verbose_name='created by')),
                ('happened_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='happened at')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='recorded at')),
                ('about', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='rulings', to='npcs.opinionchange', verbose_name='affected change')),
                ('cause', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='standing_consequences', to='npcs.dispositionchange', verbose_name='cause')),
                ('faction', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='standing_changes', to='knowledge.graphnode', verbose_name='faction')),
                ('npc', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='opinion_changes', to='npcs.npc', verbose_name='NPC')),
                ('other', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='npcs.npc', verbose_name='other NPC')),
                ('party', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='standing_changes', to='worlds.party', verbose_name='party')),
                ('world', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='worlds.world')),
            ],
            options={
                'verbose_name': 'change of a standing or opinion',
                'verbose_name_plural': 'changes of standings and opinions',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['party', 'faction'], name='standing_of_party'), models.Index(fields=['npc', 'other'], name='opinion_of_npc')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('faction__isnull', False), ('npc', None), ('other', None), ('party__isnull', False)), models.Q(('faction', None), ('npc__isnull', False), ('other__isnull', False), ('party', None), models.Q(('npc', models.F('other')), _negated=True)), _connector='OR'), name='opinion_of_faction_or_npc'), models.CheckConstraint(condition=models.Q(models.Q(('about', None), ('kind__in', ['correction', 'consequence']), models.Q(('delta', 0), _negated=True)), models.Q(('about__isnull', False), ('delta', 0), ('kind__in', ['reversal', 'restoration'])), _connector='OR'), name='opinion_change_or_ruling'), models.CheckConstraint(condition=models.Q(models.Q(('cause__isnull', False), ('kind', 'consequence'), models.Q(('rule', ''), _negated=True)), models.Q(models.Q(('kind', 'consequence'), _negated=True), ('cause', None), ('rule', '')), _connector='OR'), name='opinion_consequence_has_cause'), models.CheckConstraint(condition=models.Q(('delta__range', (-200, 200))), name='opinion_change_in_range'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='opinion_change_has_reason')],
            },
        ),
        migrations.CreateModel(
            name='Secret',
            fields=[
                ('visibility', models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility')),
                ('known_to', models.JSONField(blank=True, default=list, editable=False, verbose_name='known to')),
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='updated')),
                ('position', models.PositiveIntegerField(default=1, verbose_name='number')),
                ('text', models.TextField(verbose_name='secret')),
                ('npc', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='secrets', to='npcs.npc', verbose_name='NPC')),
                ('world', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='worlds.world')),
            ],
            options={
                'verbose_name': 'secret of an NPC',
                'verbose_name_plural': 'secrets of NPCs',
                'ordering': ['npc', 'position'],
                'constraints': [models.UniqueConstraint(fields=('npc', 'position'), name='secret_position')],
            },
        ),
        migrations.CreateModel(
            name='DispositionRules',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kin', models.PositiveSmallIntegerField(default=0, help_text='Kin of the NPC feel the same, by so many percent.', verbose_name='kin')),
                ('ally', models.PositiveSmallIntegerField(default=0, help_text='Allies of the NPC feel the same.', verbose_name='allies')),
                ('enemy', models.PositiveSmallIntegerField(default=0, help_text='Enemies of the NPC feel the opposite.', verbose_name='enemies')),
                ('member', models.PositiveSmallIntegerField(default=0, help_text="The party's standing with the factions that the NPC is part of.", verbose_name='factions of the NPC')),
                ('soft_ends', models.BooleanField(default=False, help_text='Beyond 50 points either way, further steps outward count less and less. Corrections count in full.', verbose_name='soft ends')),
                ('world', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='disposition_rules', to='worlds.world', verbose_name='world')),
            ],
            options={
                'verbose_name': 'rules of dispositions',
                'verbose_name_plural': 'rules of dispositions',
                'constraints': [models.CheckConstraint(condition=models.Q(('kin__range', (0, 100))), name='kin_is_percent'), models.CheckConstraint(condition=models.Q(('ally__range', (0, 100))), name='ally_is_percent'), models.CheckConstraint(condition=models.Q(('enemy__range', (0, 100))), name='enemy_is_percent'), models.CheckConstraint(condition=models.Q(('member__range', (0, 100))), name='member_is_percent')],
            },
        ),
        migrations.RunSQL(LEDGER_APPEND_ONLY, LEDGER_EDITABLE),
        migrations.RunSQL(OPINIONS_APPEND_ONLY, OPINIONS_EDITABLE),
    ]
