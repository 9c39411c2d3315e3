import django.db.models.functions.datetime
import django.utils.timezone
import retrieval.models
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memories', '0007_reflections'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='agentstate',
            options={'verbose_name': 'unfinished agent work', 'verbose_name_plural': 'unfinished agent work'},
        ),
        migrations.AlterModelOptions(
            name='insightsource',
            options={'verbose_name': 'source episode of an insight', 'verbose_name_plural': 'source episodes of insights'},
        ),
        migrations.AlterField(
            model_name='coderuleoutcome',
            name='at',
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name='time'),
        ),
        migrations.AlterField(
            model_name='coderuleoutcome',
            name='confidence',
            field=models.FloatField(verbose_name='confidence after the outcome'),
        ),
        migrations.AlterField(
            model_name='coreproposal',
            name='base_number',
            field=models.PositiveIntegerField(default=0, verbose_name='based on version'),
        ),
        migrations.AlterField(
            model_name='coreproposal',
            name='decided_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='decided at'),
        ),
        migrations.AlterField(
            model_name='coreproposal',
            name='problems',
            field=models.JSONField(blank=True, default=list, verbose_name='objections'),
        ),
        migrations.AlterField(
            model_name='coreproposal',
            name='verdict',
            field=models.CharField(choices=[('open', 'Pending'), ('approved', 'Approved'), ('rejected', 'Rejected')], default='open', max_length=10, verbose_name='verdict'),
        ),
        migrations.AlterField(
            model_name='coreversion',
            name='made_by',
            field=models.CharField(choices=[('model', 'Language model'), ('contents', 'Unmodified contents'), ('rules', 'Rules'), ('tool', "Agent's tool"), ('person', 'Person'), ('import', 'Import'), ('rebuild', 'Rebuilt from observations')], default='model', max_length=10, verbose_name='created by'),
        ),
        migrations.AlterField(
            model_name='erasurereceipt',
            name='counts',
            field=models.JSONField(default=dict, verbose_name='erased rows'),
        ),
        migrations.AlterField(
            model_name='erasurereceipt',
            name='leftovers',
            field=models.JSONField(default=list, verbose_name='remaining data'),
        ),
        migrations.AlterField(
            model_name='erasurereceipt',
            name='verified_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='verified at'),
        ),
        migrations.AlterField(
            model_name='eventallowance',
            name='filled_at',
            field=models.DateTimeField(verbose_name='refilled at'),
        ),
        migrations.AlterField(
            model_name='eventallowance',
            name='passed',
            field=models.PositiveIntegerField(default=0, verbose_name='allowed at the last check'),
        ),
        migrations.AlterField(
            model_name='insight',
            name='flag',
            field=models.CharField(blank=True, default='', max_length=300, verbose_name='reason for the flag'),
        ),
        migrations.AlterField(
            model_name='insight',
            name='flagged_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='flagged at'),
        ),
        migrations.AlterField(
            model_name='memoryitem',
            name='embed_after',
            field=models.DateTimeField(editable=False, help_text='Leased or postponed until this time.', null=True),
        ),
        migrations.AlterField(
            model_name='memoryitem',
            name='event_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='happened at'),
        ),
        migrations.AlterField(
            model_name='memoryitem',
            name='made_by',
            field=models.CharField(choices=[('model', 'Language model'), ('contents', 'Unmodified contents'), ('rules', 'Rules'), ('tool', "Agent's tool"), ('person', 'Person'), ('import', 'Import'), ('rebuild', 'Rebuilt from observations')], default='rules', max_length=10, verbose_name='created by'),
        ),
        migrations.AlterField(
            model_name='memoryitem',
            name='recalls',
            field=models.PositiveIntegerField(default=0, editable=False, verbose_name='times recalled'),
        ),
        migrations.AlterField(
            model_name='memoryitem',
            name='surroundings',
            field=models.TextField(blank=True, db_default='', default='', editable=False, help_text='Text around the passage, such as the turns before and after. Used for search, never shown.', verbose_name='surrounding text'),
        ),
        migrations.AlterField(
            model_name='memoryitem',
            name='timestamp_ms',
            field=models.BigIntegerField(default=0, editable=False, verbose_name='recorded at (ms)'),
        ),
        migrations.AlterField(
            model_name='message',
            name='embed_after',
            field=models.DateTimeField(editable=False, help_text='Leased or postponed until this time.', null=True),
        ),
        migrations.AlterField(
            model_name='message',
            name='said_at',
            field=models.DateTimeField(default=django.utils.timezone.now, verbose_name='said at'),
        ),
        migrations.AlterField(
            model_name='message',
            name='surroundings',
            field=models.TextField(blank=True, db_default='', default='', editable=False, help_text='Text around the passage, such as the turns before and after. Used for search, never shown.', verbose_name='surrounding text'),
        ),
        migrations.AlterField(
            model_name='namespace',
            name='merge_distance_cutoff',
            field=models.FloatField(default=0.25, verbose_name='maximum distance of related memories'),
        ),
        migrations.AlterField(
            model_name='namespace',
            name='merge_top_k',
            field=models.PositiveIntegerField(default=3, verbose_name='related memories per content item'),
        ),
        migrations.AlterField(
            model_name='namespace',
            name='path',
            field=models.TextField(blank=True, default='', help_text='The folder from which a script opens this memory.', verbose_name='folder'),
        ),
        migrations.AlterField(
            model_name='namespace',
            name='review',
            field=models.CharField(choices=[('off', 'Off: machine-written memories are used at once'), ('core', 'Core: changes to the core memory wait for approval'), ('all', 'All: every machine-written memory waits for approval')], default='off', max_length=8, verbose_name='review'),
        ),
        migrations.AlterField(
            model_name='observation',
            name='batch',
            field=models.UUIDField(default=retrieval.models.uuid7, help_text='Shared by all contents of one add call.', verbose_name='add call'),
        ),
        migrations.AlterField(
            model_name='observation',
            name='event_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='happened at'),
        ),
        migrations.AlterField(
            model_name='observation',
            name='recorded_at',
            field=models.DateTimeField(auto_now_add=True, verbose_name='recorded at'),
        ),
        migrations.AlterField(
            model_name='reflection',
            name='done_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='completed at'),
        ),
        migrations.AlterField(
            model_name='reflection',
            name='tries',
            field=models.PositiveIntegerField(default=0, verbose_name='attempts'),
        ),
        migrations.AlterField(
            model_name='reflection',
            name='trigger',
            field=models.CharField(choices=[('importance', 'Importance threshold reached'), ('episodes', 'Episode threshold reached'), ('time', 'Time threshold reached')], max_length=12, verbose_name='trigger'),
        ),
        migrations.AlterField(
            model_name='statechange',
            name='by',
            field=models.CharField(blank=True, default='', max_length=120, verbose_name='changed by'),
        ),
        migrations.AlterField(
            model_name='storedcoderule',
            name='failure_count',
            field=models.PositiveIntegerField(default=0, verbose_name='failures'),
        ),
        migrations.AlterField(
            model_name='storedcoderule',
            name='min_confidence_threshold',
            field=models.FloatField(default=0.3, verbose_name='application threshold'),
        ),
        migrations.AlterField(
            model_name='storedcoderule',
            name='observation_count',
            field=models.PositiveIntegerField(default=1, verbose_name='observation count'),
        ),
        migrations.AlterField(
            model_name='storedcoderule',
            name='pattern_type',
            field=models.CharField(choices=[('literal', 'Literal'), ('regex', 'Regular expression'), ('ast', 'Syntax tree')], default='literal', max_length=20, verbose_name='pattern type'),
        ),
        migrations.AlterField(
            model_name='storedcoderule',
            name='promotion_threshold',
            field=models.FloatField(default=0.8, verbose_name='trust threshold'),
        ),
        migrations.AlterField(
            model_name='storedcoderule',
            name='success_count',
            field=models.PositiveIntegerField(default=0, verbose_name='successes'),
        ),
        migrations.AlterField(
            model_name='succession',
            name='kind',
            field=models.CharField(choices=[('supersedes', 'Supersedes'), ('formerly', 'Former value'), ('merged', 'Merged'), ('split', 'Split')], default='supersedes', max_length=10, verbose_name='kind'),
        ),
        migrations.AlterField(
            model_name='succession',
            name='undone_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='undone at'),
        ),
    ]
