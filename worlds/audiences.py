"""Who may know what. The audience is part of the query: hidden rows are never fetched, so they
cannot leak.

`gm` sees everything in the world. `party:<slug>` and `npc:<slug>` see what is public and what the
reveal log names them for. `public` sees what is public.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from typing_extensions import TypeVar

from retrieval.errors import Invalid
from worlds.models import World


@dataclass(frozen=True)
class Audience:
    kind: str
    slug: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        kind, _colon, slug = text.partition(":")
        if kind not in ("gm", "party", "npc", "public") or (kind in ("party", "npc")) != bool(slug):
            raise Invalid(f"Unknown audience {text!r}: use gm, party:<id>, npc:<id> or public.")
        return cls(kind, slug)

    def covers(self, other: "Audience") -> bool:
        """Whether whoever may ask as `self` may ask as `other`.

        A game master covers everyone. A party does not cover an NPC nor the reverse: neither's
        knowledge holds the other's. Everyone covers the public.
        """
        return self.is_gm or other in (self, PUBLIC)

    @property
    def is_gm(self) -> bool:
        return self.kind == "gm"

    def __str__(self) -> str:
        return f"{self.kind}:{self.slug}" if self.slug else self.kind


GM = Audience("gm")
PUBLIC = Audience("public")


class Visibility(models.TextChoices):
    PUBLIC = "public", _("Public")
    GM = "gm", _("GM only")
    REVEALED = "revealed", _("Revealed to some audiences")


Row = TypeVar("Row", bound=models.Model, default=Any)


class GuardedQuerySet(models.QuerySet[Row]):
    def in_world(self, world: World) -> Self:
        return self.filter(world=world)

    def visible_to(self, audience: Audience) -> Self:
        """Narrow to what `audience` may know exists."""
        if audience.is_gm:
            return self
        if audience == PUBLIC:
            return self.filter(visibility=Visibility.PUBLIC)
        return self.filter(
            Q(visibility=Visibility.PUBLIC)
            | Q(visibility=Visibility.REVEALED, known_to__contains=[str(audience)])
        )


class Guarded(models.Model):
    """A row with visibility. `known_to` is the reveal log's present state, kept on the row so that
    the search filter needs no join: a list of audiences such as `party:lanternbearers`."""

    known_to_own_party: ClassVar[bool] = False
    """A `revealed` row that names nobody is still known to the row's own `party`."""

    world = models.ForeignKey(World, models.CASCADE, related_name="+")
    visibility = models.CharField(
        _("visibility"), max_length=10, choices=Visibility, default=Visibility.GM
    )
    known_to = models.JSONField(_("known to"), default=list, blank=True, editable=False)

    class Meta:
        abstract = True

    def visibility_changed(self) -> None:
        """Called after `visibility` or `known_to` was changed by the reveal log, in the same
        transaction.

        A model with rows that follow it (an entry's passages) brings them in step here.
        """
