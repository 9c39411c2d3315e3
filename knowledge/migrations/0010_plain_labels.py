import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knowledge', '0009_fact_editors'),
        ('worlds', '0004_plain_labels'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='graphoutbox',
            options={'verbose_name': 'pending projection change', 'verbose_name_plural': 'pending projection changes'},
        ),
        migrations.AlterField(
            model_name='conflictrule',
            name='form',
            field=models.CharField(choices=[('single', 'At most one at a time per entity'), ('exclusive', 'Two mutually exclusive relations'), ('after_end', "No new facts after the entity's end")], max_length=10, verbose_name='rule type'),
        ),
        migrations.AlterField(
            model_name='conflictrule',
            name='other',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.graphrelation', verbose_name='excluded relation'),
        ),
        migrations.AlterField(
            model_name='conflictrule',
            name='says',
            field=models.CharField(max_length=200, verbose_name='statement'),
        ),
        migrations.AlterField(
            model_name='contradiction',
            name='ended',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='knowledge.graphnode', verbose_name='ended entity'),
        ),
        migrations.AlterField(
            model_name='contradiction',
            name='how',
            field=models.CharField(blank=True, choices=[('keep_first', 'Keep the first from a given day'), ('keep_second', 'Keep the second from a given day'), ('keep_both', 'Keep both'), ('retract_first', 'Retract the first'), ('retract_second', 'Retract the second'), ('gone', 'Resolved by another change')], default='', max_length=16, verbose_name='decision'),
        ),
        migrations.AlterField(
            model_name='contradiction',
            name='opened_at',
            field=models.DateTimeField(auto_now_add=True, verbose_name='found at'),
        ),
        migrations.AlterField(
            model_name='contradiction',
            name='resolved_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='decided at'),
        ),
        migrations.AlterField(
            model_name='contradiction',
            name='state',
            field=models.CharField(choices=[('open', 'Unresolved'), ('resolved', 'Resolved')], default='open', max_length=10, verbose_name='state'),
        ),
        migrations.AlterField(
            model_name='document',
            name='licence_url',
            field=models.URLField(blank=True, default='', verbose_name='licence URL'),
        ),
        migrations.AlterField(
            model_name='document',
            name='slug',
            field=models.CharField(help_text='Prefix of the ids of its rules, such as srd-5.1.', max_length=80, verbose_name='slug'),
        ),
        migrations.AlterField(
            model_name='document',
            name='world',
            field=models.ForeignKey(blank=True, help_text='If empty, all worlds of the game system share it.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='documents', to='worlds.world', verbose_name='world'),
        ),
        migrations.AlterField(
            model_name='graphedge',
            name='dst',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='facts_to', to='knowledge.graphnode', verbose_name='target entity'),
        ),
        migrations.AlterField(
            model_name='graphedge',
            name='edited_because',
            field=models.CharField(blank=True, default='', editable=False, max_length=400, verbose_name='reason for the change'),
        ),
        migrations.AlterField(
            model_name='graphedge',
            name='edited_by',
            field=models.CharField(blank=True, default='', editable=False, max_length=150, verbose_name='recorded by'),
        ),
        migrations.AlterField(
            model_name='graphedge',
            name='flag',
            field=models.CharField(blank=True, default='', help_text='Why a person should review it.', max_length=200, verbose_name='needs review'),
        ),
        migrations.AlterField(
            model_name='graphedge',
            name='label',
            field=models.CharField(blank=True, default='', help_text='For example: leads, sister of.', max_length=80, verbose_name='nature of the relation'),
        ),
        migrations.AlterField(
            model_name='graphedge',
            name='rests_on',
            field=models.ManyToManyField(blank=True, related_name='dependants', to='knowledge.graphedge', verbose_name='based on'),
        ),
        migrations.AlterField(
            model_name='graphedge',
            name='since',
            field=models.FloatField(blank=True, null=True, verbose_name='since (in-world day)'),
        ),
        migrations.AlterField(
            model_name='graphedge',
            name='source_note',
            field=models.TextField(blank=True, default='', verbose_name='source text'),
        ),
        migrations.AlterField(
            model_name='graphedge',
            name='src',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='facts_from', to='knowledge.graphnode', verbose_name='source entity'),
        ),
        migrations.AlterField(
            model_name='graphedge',
            name='until',
            field=models.FloatField(blank=True, null=True, verbose_name='until (in-world day)'),
        ),
        migrations.AlterField(
            model_name='graphedge',
            name='visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility'),
        ),
        migrations.AlterField(
            model_name='graphjoin',
            name='dst_kind',
            field=models.CharField(choices=[('Character', 'Character'), ('Location', 'Location'), ('Item', 'Item'), ('Faction', 'Faction'), ('Quest', 'Quest'), ('Event', 'Event')], max_length=10, verbose_name='target entity'),
        ),
        migrations.AlterField(
            model_name='graphjoin',
            name='src_kind',
            field=models.CharField(choices=[('Character', 'Character'), ('Location', 'Location'), ('Item', 'Item'), ('Faction', 'Faction'), ('Quest', 'Quest'), ('Event', 'Event')], max_length=10, verbose_name='source entity'),
        ),
        migrations.AlterField(
            model_name='graphnode',
            name='since',
            field=models.FloatField(blank=True, null=True, verbose_name='since (in-world day)'),
        ),
        migrations.AlterField(
            model_name='graphnode',
            name='source_note',
            field=models.TextField(blank=True, default='', verbose_name='source text'),
        ),
        migrations.AlterField(
            model_name='graphnode',
            name='until',
            field=models.FloatField(blank=True, null=True, verbose_name='until (in-world day)'),
        ),
        migrations.AlterField(
            model_name='graphnode',
            name='visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility'),
        ),
        migrations.AlterField(
            model_name='graphrelation',
            name='acyclic',
            field=models.BooleanField(default=False, verbose_name='acyclic'),
        ),
        migrations.AlterField(
            model_name='graphrelation',
            name='symmetric',
            field=models.BooleanField(default=False, verbose_name='symmetric'),
        ),
        migrations.AlterField(
            model_name='historicallore',
            name='campaign',
            field=models.ForeignKey(blank=True, db_constraint=False, help_text='If empty, the entry is canon of the world; otherwise it is known only in this campaign.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='worlds.campaign', verbose_name='campaign'),
        ),
        migrations.AlterField(
            model_name='historicallore',
            name='extra',
            field=models.JSONField(blank=True, default=dict, help_text='Imported data that has no field of its own.', verbose_name='extra'),
        ),
        migrations.AlterField(
            model_name='historicallore',
            name='origin',
            field=models.CharField(blank=True, default='', help_text='Where the entry comes from.', max_length=200, verbose_name='origin'),
        ),
        migrations.AlterField(
            model_name='historicallore',
            name='overrides',
            field=models.ForeignKey(blank=True, db_constraint=False, help_text='The canon entry that this entry replaces in its campaign.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='knowledge.lore', verbose_name='overrides'),
        ),
        migrations.AlterField(
            model_name='historicallore',
            name='visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility'),
        ),
        migrations.AlterField(
            model_name='historicalrule',
            name='visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='public', max_length=10, verbose_name='visibility'),
        ),
        migrations.AlterField(
            model_name='historicalrule',
            name='world',
            field=models.ForeignKey(blank=True, db_constraint=False, help_text='If empty, all worlds of the game system share it.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='worlds.world', verbose_name='world'),
        ),
        migrations.AlterField(
            model_name='lore',
            name='campaign',
            field=models.ForeignKey(blank=True, help_text='If empty, the entry is canon of the world; otherwise it is known only in this campaign.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='lore', to='worlds.campaign', verbose_name='campaign'),
        ),
        migrations.AlterField(
            model_name='lore',
            name='extra',
            field=models.JSONField(blank=True, default=dict, help_text='Imported data that has no field of its own.', verbose_name='extra'),
        ),
        migrations.AlterField(
            model_name='lore',
            name='origin',
            field=models.CharField(blank=True, default='', help_text='Where the entry comes from.', max_length=200, verbose_name='origin'),
        ),
        migrations.AlterField(
            model_name='lore',
            name='overrides',
            field=models.ForeignKey(blank=True, help_text='The canon entry that this entry replaces in its campaign.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='overridden_by', to='knowledge.lore', verbose_name='overrides'),
        ),
        migrations.AlterField(
            model_name='lore',
            name='visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility'),
        ),
        migrations.AlterField(
            model_name='lorepassage',
            name='embed_after',
            field=models.DateTimeField(editable=False, help_text='Leased or postponed until this time.', null=True),
        ),
        migrations.AlterField(
            model_name='lorepassage',
            name='surroundings',
            field=models.TextField(blank=True, db_default='', default='', editable=False, help_text='Text around the passage, such as the turns before and after. Used for search, never shown.', verbose_name='surrounding text'),
        ),
        migrations.AlterField(
            model_name='lorepassage',
            name='visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility'),
        ),
        migrations.AlterField(
            model_name='loreproposal',
            name='decided_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='decided at'),
        ),
        migrations.AlterField(
            model_name='loreproposal',
            name='reason',
            field=models.TextField(blank=True, default='', verbose_name='justification'),
        ),
        migrations.AlterField(
            model_name='loreproposal',
            name='state',
            field=models.CharField(choices=[('open', 'Pending'), ('accepted', 'Accepted'), ('rejected', 'Rejected')], default='open', max_length=10, verbose_name='state'),
        ),
        migrations.AlterField(
            model_name='rule',
            name='visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='public', max_length=10, verbose_name='visibility'),
        ),
        migrations.AlterField(
            model_name='rule',
            name='world',
            field=models.ForeignKey(blank=True, help_text='If empty, all worlds of the game system share it.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='rules', to='worlds.world', verbose_name='world'),
        ),
        migrations.AlterField(
            model_name='rulepassage',
            name='embed_after',
            field=models.DateTimeField(editable=False, help_text='Leased or postponed until this time.', null=True),
        ),
        migrations.AlterField(
            model_name='rulepassage',
            name='surroundings',
            field=models.TextField(blank=True, db_default='', default='', editable=False, help_text='Text around the passage, such as the turns before and after. Used for search, never shown.', verbose_name='surrounding text'),
        ),
        migrations.AlterField(
            model_name='rulepassage',
            name='visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='public', max_length=10),
        ),
    ]
