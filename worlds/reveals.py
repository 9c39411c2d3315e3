"""The reveal log: who learned what, when, from which episode. It can be read back, and each entry
can be undone.

The log is the history; the row's own `known_to` is its present state, updated in the same
transaction so that the search filter needs no join.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any, cast
from uuid import UUID

from django.apps import apps
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from retrieval.errors import Ambiguous, Conflict, Invalid, NotFound
from worlds.audiences import Audience, Guarded, Visibility, audiences_of_campaign, is_known_to_party
from worlds.lookup import as_uuid
from worlds.models import Campaign, Reveal, World

MOST_OF_A_SLUG = 5


@cache
def models_with_visibility() -> dict[str, type[Guarded]]:
    """Every kind of row that can be revealed, by its name in the log (`lore`, `npc`, …)."""
    return {
        str(model._meta.model_name): model
        for model in apps.get_models()
        if issubclass(model, Guarded)
    }


KEYS = ("slug", "external_id")
"""What names a row beside its id, in whichever column a model has."""


def find_subject(
    world: World,
    kind: str,
    reference: UUID | str,
    *,
    secret: int | None = None,
    campaign: Campaign | None = None,
) -> Guarded:
    """Return the row that a reveal names by its id, or by its slug if its kind has one; with
    `secret` its secret of this number, from 1. With `campaign`, to which the caller's key is bound,
    rows of others are not found. Raises `NotFound`, or `Ambiguous` for a slug that several
    have."""
    model = models_with_visibility().get(kind)
    if model is None:
        kinds = sorted(models_with_visibility())
        raise NotFound(
            _("Nothing of the kind %(kind)r can be revealed: there are %(kinds)s.")
            % {"kind": kind, "kinds": ", ".join(kinds)},
            candidates=kinds,
        )
    rows = in_campaign(model._default_manager.filter(world=world), campaign)
    row = _find_by_reference(rows, str(reference))
    if row is None:
        raise NotFound(
            _("There is no %(kind)s %(reference)s in this world.")
            % {"kind": _(kind), "reference": reference}
        )
    return row if secret is None else _find_secret(row, secret)


def in_campaign(rows: Any, campaign: Campaign | None) -> Any:
    """Narrow rows of any kind to those of the campaign and those that all campaigns share; None:
    all."""
    path = rows.model.campaign_path
    if campaign is None or not path:
        return rows
    return rows.filter(Q(**{path: None}) | Q(**{path: campaign}))


def _find_by_reference(rows: Any, reference: str) -> Guarded | None:
    model = rows.model
    row_id = as_uuid(reference)
    if row_id and (row := rows.filter(pk=row_id).first()):
        return cast(Guarded, row)
    columns = {field.name for field in model._meta.get_fields()}
    key = next((key for key in KEYS if key in columns), None)
    found = list(rows.filter(**{key: reference}).order_by("pk")[:MOST_OF_A_SLUG]) if key else []
    # An entry of the world's canon goes before its variants in campaigns.
    canon = [row for row in found if getattr(row, "campaign_id", None) is None]
    found = canon or found
    if len(found) > 1:
        ids = [str(row.pk) for row in found]
        raise Ambiguous(
            _("%(reference)r fits several: send one of these ids.") % {"reference": reference},
            candidates=ids,
        )
    return found[0] if found else None


def _find_secret(row: Guarded, number: int) -> Guarded:
    parts = row.secret_parts()
    if parts is None:
        raise Invalid(
            _("A row of the kind %(kind)s has no secrets of its own.")
            % {"kind": row._meta.model_name}
        )
    secret: Guarded | None = parts[number - 1 : number].first()
    if secret is None:
        raise NotFound(
            _("%(entry)s has %(count)s secrets; there is no number %(number)s.")
            % {"entry": row, "count": parts.count(), "number": number}
        )
    return secret


def _find_subject_or_in_trash(world: World, kind: str, subject_id: UUID) -> Guarded:
    """Like `find_subject`, also among the rows that the default manager hides."""
    model = models_with_visibility().get(kind)
    row = model._base_manager.filter(world=world, pk=subject_id).first() if model else None
    return row or find_subject(world, kind, subject_id)


@transaction.atomic
def reveal(
    subject: Guarded,
    audience: Audience,
    *,
    episode_ref: str = "",
    in_world_at: float | None = None,
    in_world_label: str = "",
    note: str = "",
    by: str = "",
) -> Reveal:
    """Make `subject` known to `audience` from now on. Revealing it again returns the entry in
    force; each episode that reveals it has its own entry, so that each can be undone separately."""
    if not audience.is_named:
        raise Invalid(
            _(
                "Reveal to a party:<id>, a character:<id> or an npc:<id>; what everyone may "
                "know is made public in the entry itself."
            )
        )
    row = lock_row(subject)
    entry, is_new = Reveal.objects.get_or_create(
        world_id=row.world_id,
        subject_kind=row._meta.model_name,
        subject_id=row.pk,
        audience=str(audience),
        episode_ref=episode_ref,
        undone_at=None,
        defaults={
            "in_world_at": in_world_at,
            "in_world_label": in_world_label,
            "note": note,
            "by": by,
        },
    )
    if is_new:
        set_known_to(row, {*row.known_to, *_party_that_knows(row, audience), str(audience)})
    return entry


@transaction.atomic
def undo_reveal(entry: Reveal) -> Reveal:
    """Undo a reveal: the audience no longer finds the row, unless another entry is in force. The
    entry stays in the log, marked as undone."""
    if entry.undone_at:
        raise Conflict(_("This reveal was undone before."))
    # What an episode revealed is undone in the trash, too, or a restored row would be known again.
    row = lock_row(_find_subject_or_in_trash(entry.world, entry.subject_kind, entry.subject_id))
    entry.undone_at = timezone.now()
    entry.save(update_fields=["undone_at"])
    others = entries_in_force(row).filter(audience=entry.audience)
    if not others.exists():
        set_known_to(row, set(row.known_to) - {entry.audience})
    return entry


def transfer_reveals(old: Guarded, new: Guarded) -> int:
    """Make the entries in force about `old` refer to `new`, which has replaced it; return how many
    there were."""
    return entries_in_force(old).update(subject_kind=new._meta.model_name, subject_id=new.pk)


def entries_of(world: World, campaign: Campaign | None = None) -> QuerySet[Reveal]:
    """The log of a world. With a campaign, what its parties and characters learned, and what NPCs
    learned of rows and from episodes that are of no other campaign."""
    log = Reveal.objects.filter(world=world)
    if campaign is None:
        return log
    own = Q(audience__in=audiences_of_campaign(campaign))
    log = log.filter(own | Q(audience__startswith="npc:"))
    for kind, model in models_with_visibility().items():
        if model.campaign_path:
            rows: Any = model._base_manager.filter(world=world)
            theirs = rows.exclude(pk__in=in_campaign(rows, campaign).values("pk"))
            log = log.exclude(subject_kind=kind, subject_id__in=theirs.values("pk"))
            if kind == "episode":
                log = log.exclude(episode_ref__in=theirs.values("external_id"))
    return log


def entries_in_force(row: Guarded) -> QuerySet[Reveal]:
    return Reveal.objects.filter(
        subject_kind=row._meta.model_name, subject_id=row.pk, undone_at=None
    )


def known_to_in_force(row: Guarded, own: Iterable[str]) -> list[str]:
    """Return `known_to` of `row` when an old version that had `own` is restored: restoring a text
    neither undoes a reveal nor repeats one that was undone."""
    log = Reveal.objects.filter(subject_kind=row._meta.model_name, subject_id=row.pk)
    logged = set(log.values_list("audience", flat=True))
    in_force = set(entries_in_force(row).values_list("audience", flat=True))
    return sorted((set(own) - logged) | in_force)


def visibility_in_force(row: Guarded, own: str) -> str:
    """Return the visibility of `row`, whose `known_to` is set, when a version with the visibility
    `own` is restored."""
    if own == Visibility.PUBLIC:
        return own
    is_revealed = entries_in_force(row).exists() or (own == Visibility.REVEALED and row.known_to)
    return Visibility.REVEALED if is_revealed else Visibility.GM


def lock_row(subject: Guarded) -> Guarded:
    # Two reveals of one row would otherwise overwrite each other's `known_to`.
    rows = type(subject)._base_manager.select_for_update(no_key=True)
    row: Guarded = rows.get(pk=subject.pk)
    return row


def _party_that_knows(row: Guarded, audience: Audience) -> set[str]:
    """The row's own party, if it knows the row without being named: a row that names characters
    alone would hide it from the others."""
    party = row.own_party
    is_known = row.visibility == Visibility.REVEALED and is_known_to_party(row.known_to)
    return {f"party:{party.slug}"} if party and is_known and audience.kind == "character" else set()


def set_known_to(row: Guarded, known_to: set[str]) -> None:
    # A row that only characters knew is nobody's without them.
    was_known = row.known_to_own_party and is_known_to_party(row.known_to)
    row.known_to = sorted(known_to)
    if row.visibility != Visibility.PUBLIC:
        is_revealed = known_to or was_known
        row.visibility = Visibility.REVEALED if is_revealed else Visibility.GM
    row.save(update_fields=["known_to", "visibility"])
    row.visibility_changed()
