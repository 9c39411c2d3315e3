from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('retrieval', '0005_staged_vectors'),
    ]

    operations = [
        migrations.AlterField(
            model_name='languagemodelcall',
            name='cost',
            field=models.DecimalField(blank=True, decimal_places=6, help_text='Empty if no price is set.', max_digits=12, null=True, verbose_name='cost'),
        ),
        migrations.AlterField(
            model_name='languagemodelcall',
            name='mode',
            field=models.CharField(help_text='Format requested for the answer: schema, json or plain.', max_length=12, verbose_name='mode'),
        ),
        migrations.AlterField(
            model_name='languagemodelcall',
            name='tokens_in',
            field=models.PositiveIntegerField(default=0, verbose_name='input tokens'),
        ),
        migrations.AlterField(
            model_name='languagemodelcall',
            name='tokens_out',
            field=models.PositiveIntegerField(default=0, verbose_name='output tokens'),
        ),
    ]
