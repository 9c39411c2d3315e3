"""Undo the last import of a shared book: what it created goes, what it changed gets its texts of
before, from the history. Rules that somebody changed or uses since stay."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from knowledge.entry_store import restore_entry
from knowledge.models import Document, Rule
from knowledge.name_matching import clear_shared_names
from knowledge.rule_books.store import book_slug, delete_unused_system
from retrieval.errors import Conflict, NotFound
from worlds.models import GameSystem, World

IMPORTED, UNDONE = "import", "undone: "
"""How the reasons in the history begin."""
MOST_NAMED = 5
Version = Any
"""A row of a rule's history."""


@dataclass(frozen=True)
class UndoneImport:
    """How many rules were deleted and restored, and why others stayed, by their ids."""

    deleted: int = 0
    restored: int = 0
    kept: Mapping[str, str] = field(default_factory=dict)


def import_reason(file_name: str) -> str:
    """Return a reason for the history that tells an import from all others."""
    return f"{IMPORTED} {file_name[:50]}, {timezone.now():%Y-%m-%d %H:%M:%S.%f}"


@transaction.atomic
def undo_last_import(system: GameSystem, title: str, *, force: bool = False) -> UndoneImport:
    """Undo the last import of a shared book that was not undone yet. Without `force` rules that
    were changed since, or that house rules replace, stay, and `Conflict` is raised when the whole
    book would go that worlds play by. Raises `NotFound` without a book or an import of it."""
    book = find_book(system, title)
    versions = versions_by_rule(book)
    reason = last_reason(versions.values())
    if reason is None:
        raise NotFound(_("No import of %(title)r is left to undo.") % {"title": book.title})
    imported = {pk: own for pk, own in versions.items() if place_of(own, reason) is not None}
    rules = Rule.objects.select_related("document").in_bulk(list(imported))
    created = [pk for pk in rules if is_new(imported[pk], reason)]
    kept = {} if force else reasons_to_keep(rules, imported, reason, created)
    going = [pk for pk in created if pk not in kept]
    if not force and len(going) == book.rules.count():
        require_unplayed(book)
    deleted = Rule.objects.filter(pk__in=going).delete()[1].get("knowledge.Rule", 0)
    restored = [pk for pk in rules if pk not in created and pk not in kept]
    for pk in restored:
        before = imported[pk][(place_of(imported[pk], reason) or 0) + 1]
        restore_entry(rules[pk], before.instance, reason=f"{UNDONE}{reason}")
    if not book.rules.exists():
        book.delete()
        delete_unused_system(system)
    clear_shared_names()
    transaction.on_commit(clear_shared_names)
    names = {rules[pk].key: why for pk, why in kept.items()}
    return UndoneImport(deleted, len(restored), names)


def find_book(system: GameSystem, title: str) -> Document:
    books = Document.objects.filter(world=None, system=system)
    book = books.filter(slug=book_slug(system, title)).first()
    if book is None:
        known = [*books.values_list("slug", flat=True)]
        raise NotFound(
            _("There is no book %(title)r of %(system)s.") % {"title": title, "system": system},
            candidates=known[:MOST_NAMED],
        )
    return book


def versions_by_rule(book: Document) -> dict[UUID, list[Version]]:
    """Return the versions of the book's rules, of each the newest first."""
    versions: dict[UUID, list[Version]] = {}
    rows = Rule.history.filter(document_id=book.pk, id__in=book.rules.values("pk"))
    for row in rows.order_by("-history_date", "-history_id"):
        versions.setdefault(row.id, []).append(row)
    return versions


def last_reason(versions: Iterable[Sequence[Version]]) -> str | None:
    """Return the reason of the newest import that is not undone."""
    rows = [row for own in versions for row in own if row.history_change_reason]
    undone = {
        row.history_change_reason.removeprefix(UNDONE)
        for row in rows
        if row.history_change_reason.startswith(UNDONE)
    }
    imports = [
        row
        for row in rows
        if row.history_change_reason.startswith(IMPORTED)
        and row.history_change_reason not in undone
    ]
    newest = max(imports, key=lambda row: row.history_date, default=None)
    return newest.history_change_reason if newest else None


def place_of(versions: Sequence[Version], reason: str) -> int | None:
    """Return the place of the oldest version that the import wrote."""
    places = [at for at, row in enumerate(versions) if row.history_change_reason == reason]
    return places[-1] if places else None


def is_new(versions: Sequence[Version], reason: str) -> bool:
    """Whether the import created the rule: nothing is older than its version."""
    return place_of(versions, reason) == len(versions) - 1


def reasons_to_keep(
    rules: Mapping[UUID, Rule],
    imported: Mapping[UUID, Sequence[Version]],
    reason: str,
    created: Sequence[UUID],
) -> dict[UUID, str]:
    """Return why rules stay: somebody has changed them since, or house rules replace them."""
    kept = {
        pk: _("It was changed since.")
        for pk in rules
        if not is_of_import(imported[pk][0].history_change_reason or "", reason)
    }
    house_rules = Rule.objects.filter(overrides__in=created).exclude(pk__in=created)
    for pk in house_rules.values_list("overrides", flat=True):
        if pk:
            kept.setdefault(pk, _("House rules replace it."))
    return kept


def is_of_import(last: str, reason: str) -> bool:
    """Whether the last change of a rule was the import itself, or the undo of a later one."""
    return last == reason or last.startswith(UNDONE)


def require_unplayed(book: Document) -> None:
    """Raise `Conflict` when worlds play by the book."""
    worlds = World.objects.filter(system=book.system).order_by("name")
    names = [f"{world.name} ({world.slug})" for world in worlds[: MOST_NAMED + 1]]
    if not names:
        return
    more = ["…"] if len(names) > MOST_NAMED else []
    message = _("Worlds play by “%(book)s”: %(worlds)s. With --force it is deleted nonetheless.")
    values = {"book": book.title, "worlds": ", ".join([*names[:MOST_NAMED], *more])}
    raise Conflict(message % values)
