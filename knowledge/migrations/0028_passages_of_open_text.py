from django.db import migrations


class Migration(migrations.Migration):
    """Changes no table: after it, `memory_site.after_migrations` cuts texts with secrets anew."""

    dependencies = [("knowledge", "0027_entities_of_entries")]
    operations = []
