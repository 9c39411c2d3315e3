import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('retrieval', '0002_passage_state'),
    ]

    operations = [
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
