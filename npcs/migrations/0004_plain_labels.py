import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('npcs', '0003_secrets_and_axes'),
    ]

    operations = [
        migrations.AlterField(
            model_name='disposition',
            name='changes',
            field=models.PositiveIntegerField(default=0, verbose_name='applied changes'),
        ),
        migrations.AlterField(
            model_name='disposition',
            name='pending',
            field=models.PositiveIntegerField(default=0, verbose_name='pending changes'),
        ),
        migrations.AlterField(
            model_name='dispositionchange',
            name='about',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='rulings', to='npcs.dispositionchange', verbose_name='affected change'),
        ),
        migrations.AlterField(
            model_name='dispositionchange',
            name='created_at',
            field=models.DateTimeField(auto_now_add=True, verbose_name='recorded at'),
        ),
        migrations.AlterField(
            model_name='dispositionchange',
            name='episode_version',
            field=models.PositiveIntegerField(blank=True, null=True, verbose_name='episode version'),
        ),
        migrations.AlterField(
            model_name='dispositionchange',
            name='happened_at',
            field=models.DateTimeField(default=django.utils.timezone.now, verbose_name='happened at'),
        ),
        migrations.AlterField(
            model_name='dispositionchange',
            name='held',
            field=models.BooleanField(default=False, verbose_name='waiting for the game master'),
        ),
        migrations.AlterField(
            model_name='dispositionchange',
            name='made_by',
            field=models.CharField(blank=True, default='', max_length=150, verbose_name='created by'),
        ),
        migrations.AlterField(
            model_name='historicalnpc',
            name='base',
            field=models.SmallIntegerField(default=0, help_text='Disposition toward a party that the NPC knows nothing about.', verbose_name='initial disposition'),
        ),
        migrations.AlterField(
            model_name='historicalnpc',
            name='faction_visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='public', help_text='Public: everyone who knows the NPC. Otherwise: game masters only.', max_length=10, verbose_name='who knows the faction'),
        ),
        migrations.AlterField(
            model_name='historicalnpc',
            name='half_life',
            field=models.FloatField(blank=True, help_text='In-world days after which a change has half its effect. If empty, the setting of the site applies.', null=True, verbose_name='half-life in days'),
        ),
        migrations.AlterField(
            model_name='historicalnpc',
            name='milestones',
            field=models.JSONField(blank=True, default=list, help_text='What happened to the NPC, and when: a list of {at, label, text}. For the game master.', verbose_name='milestones'),
        ),
        migrations.AlterField(
            model_name='historicalnpc',
            name='play_now',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, help_text='Up to three lines, enough to play the NPC.', size=None, verbose_name='how to play the NPC'),
        ),
        migrations.AlterField(
            model_name='historicalnpc',
            name='summary',
            field=models.TextField(blank=True, default='', help_text='What anyone who meets the NPC can see.', verbose_name='description'),
        ),
        migrations.AlterField(
            model_name='historicalnpc',
            name='visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility'),
        ),
        migrations.AlterField(
            model_name='npc',
            name='base',
            field=models.SmallIntegerField(default=0, help_text='Disposition toward a party that the NPC knows nothing about.', verbose_name='initial disposition'),
        ),
        migrations.AlterField(
            model_name='npc',
            name='faction_visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='public', help_text='Public: everyone who knows the NPC. Otherwise: game masters only.', max_length=10, verbose_name='who knows the faction'),
        ),
        migrations.AlterField(
            model_name='npc',
            name='half_life',
            field=models.FloatField(blank=True, help_text='In-world days after which a change has half its effect. If empty, the setting of the site applies.', null=True, verbose_name='half-life in days'),
        ),
        migrations.AlterField(
            model_name='npc',
            name='milestones',
            field=models.JSONField(blank=True, default=list, help_text='What happened to the NPC, and when: a list of {at, label, text}. For the game master.', verbose_name='milestones'),
        ),
        migrations.AlterField(
            model_name='npc',
            name='play_now',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, help_text='Up to three lines, enough to play the NPC.', size=None, verbose_name='how to play the NPC'),
        ),
        migrations.AlterField(
            model_name='npc',
            name='summary',
            field=models.TextField(blank=True, default='', help_text='What anyone who meets the NPC can see.', verbose_name='description'),
        ),
        migrations.AlterField(
            model_name='npc',
            name='visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility'),
        ),
        migrations.AlterField(
            model_name='secret',
            name='visibility',
            field=models.CharField(choices=[('public', 'Public'), ('gm', 'GM only'), ('revealed', 'Revealed to some audiences')], default='gm', max_length=10, verbose_name='visibility'),
        ),
    ]
