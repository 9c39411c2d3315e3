"""Drafts of the edit forms: what somebody typed and has not saved yet. Only its author reads it."""

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from retrieval.errors import Invalid, TooLarge
from retrieval.models import uuid7
from retrieval.text import clean_text
from worlds.models import World

MOST_DRAFTS = 50
"""Drafts of new entries that one author has in a world; the oldest goes when there is one more."""

LONGEST_DRAFT = 1_000_000
MOST_FIELDS, LONGEST_FIELD_NAME = 200, 100


class EntryDraft(models.Model):
    """The fields of a form as its author left them. An entry has one draft per author; new entries
    have none yet (`entry` is empty), and their drafts are told apart by id."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="entry_drafts",
        verbose_name=_("user"),
    )
    world = models.ForeignKey(
        World, models.CASCADE, related_name="entry_drafts", verbose_name=_("world")
    )
    entry = models.ForeignKey(
        "knowledge.Lore",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="drafts",
        verbose_name=_("lore entry"),
    )
    target_kind = models.CharField(
        _("form"), max_length=40, default="lore", help_text=_("Which form the fields belong to.")
    )
    fields = models.JSONField(_("fields"), default=dict)
    base_version = models.PositiveIntegerField(
        _("based on version"),
        null=True,
        blank=True,
        help_text=_("The version of the entry that was open when the draft began."),
    )
    updated_at = models.DateTimeField(_("updated"))

    FIELDS_OF_TITLE: ClassVar[tuple[str, ...]] = ("title", "name", "key")

    class Meta:
        verbose_name = _("unsaved draft")
        verbose_name_plural = _("unsaved drafts")
        ordering = ["-updated_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "entry", "target_kind"], name="entry_draft_once_per_author"
            )
        ]
        indexes = [models.Index(fields=["user", "world", "-updated_at"], name="entry_draft_newest")]

    def __str__(self) -> str:
        return self.title or str(self.pk)

    @property
    def title(self) -> str:
        """The title as it was typed, empty if there is none yet."""
        typed = (str(self.fields.get(name) or "").strip() for name in self.FIELDS_OF_TITLE)
        return next(filter(None, typed), "")


def drafts_of(user: Any, world: World) -> "models.QuerySet[EntryDraft]":
    """The drafts that `user` left in `world`, newest first."""
    return EntryDraft.objects.filter(user=user, world=world).select_related("entry")


def clean_draft_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a form has of `fields`: texts, lists of texts, and ticks. Raises `Invalid` for
    too many fields, `TooLarge` for more than a million characters."""
    if len(fields) > MOST_FIELDS:
        raise Invalid(gettext("A draft holds the fields of one form."))
    clean = {
        clean_text(name)[:LONGEST_FIELD_NAME]: clean_field(value) for name, value in fields.items()
    }
    if sum(len(str(value)) for value in clean.values()) > LONGEST_DRAFT:
        raise TooLarge(gettext("The draft is too long to be kept. Save the entry in parts."))
    return clean


def clean_field(value: Any) -> Any:
    if isinstance(value, list):
        return [clean_text(str(each)) for each in value]
    return value if isinstance(value, bool) or value is None else clean_text(str(value))


def save_draft(
    user: Any,
    world: World,
    *,
    fields: Mapping[str, Any],
    entry_id: UUID | None = None,
    draft_id: UUID | None = None,
    target_kind: str = "lore",
    base_version: int | None = None,
) -> EntryDraft:
    """Create or overwrite a draft: that of the entry, else the one with `draft_id`, else a new one.

    `entry_id` must be of `world`. An id of somebody else's draft starts a draft of one's own."""
    values = {"fields": dict(fields), "base_version": base_version, "updated_at": timezone.now()}
    if entry_id:
        draft, _new = EntryDraft.objects.update_or_create(
            user=user, world=world, entry_id=entry_id, target_kind=target_kind, defaults=values
        )
        return draft
    own = EntryDraft.objects.filter(user=user, world=world, entry=None, target_kind=target_kind)
    if draft_id and own.filter(pk=draft_id).update(**values):
        return own.get(pk=draft_id)
    surplus = list(own.values_list("pk", flat=True)[MOST_DRAFTS - 1 :])
    EntryDraft.objects.filter(pk__in=surplus).delete()
    return EntryDraft.objects.create(user=user, world=world, target_kind=target_kind, **values)


def delete_draft(
    user: Any,
    world: World,
    *,
    entry_id: UUID | None = None,
    draft_id: UUID | None = None,
    target_kind: str = "lore",
) -> int:
    """Delete the author's draft of the entry and the one with `draft_id`: call it after a save."""
    chosen = models.Q(pk=draft_id) if draft_id else models.Q(pk=None)
    if entry_id:
        chosen |= models.Q(entry_id=entry_id, target_kind=target_kind)
    return drafts_of(user, world).filter(chosen).delete()[0]
