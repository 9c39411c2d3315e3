from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0006_plain_labels")]

    operations = [
        migrations.CreateModel(
            name="ServingModel",
            fields=[
                ("domain", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("model", models.CharField(max_length=120)),
            ],
            options={
                "verbose_name": "embedding model in use",
                "verbose_name_plural": "embedding models in use",
            },
        ),
    ]
