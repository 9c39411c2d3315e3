"""The reveal log: who learned what, when, from which episode. It can be read back, and each entry can be undone.

The log is the history; the row's own `known_to` is its present state, kept in step in the same transaction so that the
search filter needs no join.
"""

from functools import cache
from uuid import UUID

from django.apps import apps
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from retrieval.errors import Conflict, Invalid, NotFound
from worlds.audiences import Audience, Guarded, Visibility
from worlds.models import Reveal, World


@cache
def models_with_visibility() -> dict[str, type[Guarded]]:
    """Every kind of row that can be revealed, by its name in the log (`lore`, `npc`, …)."""
    return {
        str(model._meta.model_name): model
        for model in apps.get_models()
        if issubclass(model, Guarded)
    }


def find_subject(world: World, kind: str, subject_id: UUID | str) -> Guarded:
    """Return the row that a reveal names; raises `NotFound`."""
    model = models_with_visibility().get(kind)
    if model is None:
        raise NotFound(
            f"Nothing of the kind {kind!r} can be revealed.",
            candidates=sorted(models_with_visibility())[:5],
        )
    row: Guarded | None = model._default_manager.filter(world=world, pk=subject_id).first()
    if row is None:
        raise NotFound(f"There is no {kind} {subject_id} in this world.")
    return row


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
    """Let `audience` know of `subject` from now on. Revealing again what stands returns the standing entry; each
    episode that reveals it has an entry of its own, so that each can be undone by itself."""
    if audience.kind not in ("party", "npc"):
        raise Invalid(
            "Reveal to a party:<id> or an npc:<id>; what everyone may know is made public in the entry itself."
        )
    row = _locked(subject)
    entry, made = Reveal.objects.get_or_create(
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
    if made:
        _store(row, {*row.known_to, str(audience)})
    return entry


@transaction.atomic
def undo_reveal(entry: Reveal) -> Reveal:
    """Take a reveal back: the audience no longer finds the row, unless another entry stands. The entry stays in the
    log, marked as undone."""
    if entry.undone_at:
        raise Conflict("This reveal was undone before.")
    row = _locked(find_subject(entry.world, entry.subject_kind, entry.subject_id))
    entry.undone_at = timezone.now()
    entry.save(update_fields=["undone_at"])
    if not _stands(entry):
        _store(row, {known for known in row.known_to if known != entry.audience})
    return entry


def transfer_reveals(old: Guarded, new: Guarded) -> int:
    """Let the standing entries about `old` speak of `new`, which has taken its place; return how many there were."""
    standing = Reveal.objects.filter(
        subject_kind=old._meta.model_name, subject_id=old.pk, undone_at=None
    )
    return standing.update(subject_kind=new._meta.model_name, subject_id=new.pk)


def _stands(entry: Reveal) -> bool:
    same = Reveal.objects.filter(
        subject_kind=entry.subject_kind, subject_id=entry.subject_id, audience=entry.audience
    )
    return same.filter(undone_at=None).exists()


def learned_by(world: World, audience: Audience) -> QuerySet[Reveal]:
    """What `audience` has learned and still knows, latest first."""
    return Reveal.objects.filter(world=world, audience=str(audience), undone_at=None).order_by(
        "-created_at"
    )


def _locked(subject: Guarded) -> Guarded:
    return type(subject)._default_manager.select_for_update().get(pk=subject.pk)


def _store(row: Guarded, known_to: set[str]) -> None:
    row.known_to = sorted(known_to)
    if row.visibility != Visibility.PUBLIC:
        row.visibility = (
            Visibility.REVEALED if known_to or row.known_to_own_party else Visibility.GM
        )
    row.save(update_fields=["known_to", "visibility"])
    row.visibility_changed()
