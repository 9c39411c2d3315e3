"""Enums of a memory: its bucket, its state, its maker, and the kinds of links between two."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Bucket(models.TextChoices):
    PROFILE = "profile", _("Profile")
    PREFERENCE = "preference", _("Preference")
    EPISODIC = "episodic", _("Episodic")
    SEMANTIC = "semantic", _("Semantic")
    FACT = "fact", _("Fact")


class State(models.TextChoices):
    ACTIVE = "active", _("Active")
    PENDING = "pending", _("Waiting for approval")
    SUPERSEDED = "superseded", _("Superseded")
    ARCHIVED = "archived", _("Archived")
    EXPIRED = "expired", _("Expired")
    REJECTED = "rejected", _("Rejected")


def name_of_state(state: str) -> str:
    """Return the name of the state in the language of the reader, as it stands in a sentence."""
    return str(State(state).label).lower()


class Maker(models.TextChoices):
    MODEL = "model", _("Language model")
    CONTENTS = "contents", _("Unmodified contents")
    RULES = "rules", _("Rules")
    TOOL = "tool", _("Agent's tool")
    PERSON = "person", _("Person")
    IMPORT = "import", _("Import")
    REBUILD = "rebuild", _("Rebuilt from observations")
    EPISODE = "episode", _("Recorded episode")


class LinkKind(models.TextChoices):
    SUPERSEDES = "supersedes", _("Supersedes")
    FORMERLY = "formerly", _("Former value")
    MERGED = "merged", _("Merged")
    SPLIT = "split", _("Split")


ROWS_AT_ONCE = 500
"""Rows in one INSERT: PostgreSQL takes at most 65,535 parameters in a statement."""
