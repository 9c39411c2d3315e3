from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('worlds', '0003_reveals_per_episode'),
    ]

    operations = [
        migrations.AlterField(
            model_name='apikey',
            name='revoked_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='revoked at'),
        ),
        migrations.AlterField(
            model_name='auditedcall',
            name='asked',
            field=models.JSONField(default=dict, verbose_name='query'),
        ),
        migrations.AlterField(
            model_name='auditedcall',
            name='at',
            field=models.DateTimeField(verbose_name='time'),
        ),
        migrations.AlterField(
            model_name='auditedcall',
            name='degraded',
            field=models.JSONField(default=list, verbose_name='unavailable parts'),
        ),
        migrations.AlterField(
            model_name='auditedcall',
            name='door',
            field=models.CharField(max_length=16, verbose_name='interface'),
        ),
        migrations.AlterField(
            model_name='reveal',
            name='by',
            field=models.CharField(blank=True, default='', max_length=160, verbose_name='revealed by'),
        ),
        migrations.AlterField(
            model_name='reveal',
            name='undone_at',
            field=models.DateTimeField(blank=True, editable=False, null=True, verbose_name='undone at'),
        ),
    ]
