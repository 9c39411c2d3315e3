from django.db import migrations

UPDATE = """
UPDATE knowledge_document SET system_id = NULL WHERE world_id IS NOT NULL;
UPDATE knowledge_rulepassage SET system_id = NULL WHERE world_id IS NOT NULL;
"""
UNDO = """
UPDATE knowledge_document AS document SET system_id = world.system_id
  FROM worlds_world AS world WHERE world.id = document.world_id AND document.system_id IS NULL;
UPDATE knowledge_rulepassage AS passage SET system_id = world.system_id
  FROM worlds_world AS world WHERE world.id = passage.world_id AND passage.system_id IS NULL;
"""


class Migration(migrations.Migration):
    """Until now every rule of a world was written by hand for whatever system it plays."""

    dependencies = [
        ('knowledge', '0018_rules_of_any_system'),
    ]

    operations = [migrations.RunSQL(UPDATE, UNDO)]
