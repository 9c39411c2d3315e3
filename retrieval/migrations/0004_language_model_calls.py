import retrieval.models
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('retrieval', '0003_cached_vectors'),
    ]

    operations = [
        migrations.CreateModel(
            name='LanguageModelCall',
            fields=[
                ('id', models.UUIDField(default=retrieval.models.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(auto_now_add=True, db_index=True, verbose_name='created')),
                ('model', models.CharField(max_length=120, verbose_name='model')),
                ('purpose', models.CharField(blank=True, default='', max_length=60, verbose_name='purpose')),
                ('mode', models.CharField(help_text='How the answer was asked for: schema, json, plain.', max_length=12, verbose_name='mode')),
                ('tokens_in', models.PositiveIntegerField(default=0, verbose_name='tokens in')),
                ('tokens_out', models.PositiveIntegerField(default=0, verbose_name='tokens out')),
                ('cost', models.DecimalField(blank=True, decimal_places=6, help_text='Empty: no price is set.', max_digits=12, null=True, verbose_name='cost')),
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
    ]
