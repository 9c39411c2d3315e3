from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0007_servingmodel")]

    operations = [
        migrations.AddField(
            model_name="scopestatistics",
            name="edited_rows",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="Edits since the whole scope was counted."
            ),
        ),
        migrations.AlterField(
            model_name="scopestatistics",
            name="refreshed_at",
            field=models.DateTimeField(help_text="Passages created until then are counted."),
        ),
    ]
