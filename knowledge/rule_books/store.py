"""Books of rules: what an import read becomes the rules of a game system, shared by its worlds or
of one world alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from knowledge.entry_store import Outcome, save_all
from knowledge.models import Document, Rule
from knowledge.rule_books.drafts import RuleDraft
from retrieval.errors import Conflict, Invalid
from retrieval.text import slugify
from worlds.audiences import Visibility
from worlds.models import GameSystem, World

BATCH = 500
LONGEST_SLUG = 80
REASON = "import"


@dataclass(frozen=True)
class WrittenRule:
    """A rule after an import, and as it was before, if it was there."""

    rule: Rule
    outcome: Outcome
    before: Rule | None
    source: str


def find_system(name: str, *, edition: str = "") -> GameSystem | None:
    """Return the game system of this name (or slug) and edition. Raises `Invalid` for no name."""
    name, edition = " ".join(name.split()), " ".join(edition.split())
    slug = slugify(f"{name} {edition}", longest=LONGEST_SLUG)
    if not slug:
        raise Invalid(_("Name the game system whose rules these are."))
    same = GameSystem.objects.filter(name__iexact=name, edition__iexact=edition)
    return same.first() or GameSystem.objects.filter(slug=slug).first()


def find_or_create_system(name: str, *, edition: str = "") -> GameSystem:
    """The same; make the system if there is none."""
    name, edition = " ".join(name.split()), " ".join(edition.split())
    slug = slugify(f"{name} {edition}", longest=LONGEST_SLUG)
    found = find_system(name, edition=edition)
    return found or GameSystem.objects.create(slug=slug, name=name[:200], edition=edition[:80])


def book_slug(system: GameSystem, title: str) -> str:
    """The beginning of the ids of a book's rules. It begins with the system, because an id names
    one shared rule of all systems."""
    slug, own = slugify(title), system.slug
    whole = slug if slug == own or slug.startswith(f"{own}-") else f"{own}-{slug}"
    return whole[:LONGEST_SLUG].strip("-")


def find_or_create_book(
    system: GameSystem, *, title: str, world: World | None = None, **values: str
) -> Document:
    """Return the book of this title in the system; make it if there is none. `values`, such as its
    licence, are those of a new book, and of one that has none. Call within a transaction. Raises
    `Conflict` when its ids belong to another book."""
    slug = book_slug(system, title)
    book = Document.objects.filter(world=world, slug=slug)
    other = book.exclude(system=system).first()
    if other:
        message = _("The ids of this book belong to “%(title)s”: give it another title.")
        raise Conflict(message % {"title": other.title})
    book_values = {"title": title[:200], "edition": system.edition, **values}
    found = book.filter(system=system).select_for_update().first()
    if found is None:
        return Document.objects.create(system=system, world=world, slug=slug, **book_values)
    missing = {name: value for name, value in values.items() if value and not getattr(found, name)}
    for name, value in missing.items():
        setattr(found, name, value)
    if missing:
        found.version += 1
        found.save(update_fields=[*missing, "version", "updated_at"])
    return found


def write_rules(
    book: Document, drafts: Sequence[RuleDraft], *, reason: str = REASON
) -> Iterator[list[WrittenRule]]:
    """Write the rules of a book in batches, and yield what became of each batch. What people added
    to a stored rule, aliases and data, stays. Call within a transaction; the caller enqueues the
    embedding."""
    stored = {rule.key: rule for rule in Rule.objects.filter(document=book)}
    _require_free_ids(book, drafts, stored)
    for at in range(0, len(drafts), BATCH):
        batch = drafts[at : at + BATCH]
        before = [stored.get(_key(book, draft)) for draft in batch]
        rows = [_row(book, *each) for each in zip(batch, before, strict=True)]
        outcomes = save_all(rows, reason=reason)
        yield [
            WrittenRule(row, outcome, old, draft.where)
            for row, outcome, old, draft in zip(rows, outcomes, before, batch, strict=True)
        ]


def _require_free_ids(
    book: Document, drafts: Sequence[RuleDraft], stored: Mapping[str, Rule]
) -> None:
    """The worlds of a system search its shared rules and their own together: an id names one."""
    keys = [key for draft in drafts if (key := _key(book, draft)) not in stored]
    others = Rule.objects.filter(key__in=keys, world=book.world)
    if book.world:
        others |= Rule.objects.filter(key__in=keys, world=None, document__system=book.system)
    if other := others.first():
        message = _("%(key)s is a rule of another book: give this book another title.")
        raise Conflict(message % {"key": other.key})


def _key(book: Document, draft: RuleDraft) -> str:
    return f"{book.slug}/{draft.path}"


def _row(book: Document, draft: RuleDraft, old: Rule | None) -> Rule:
    row = Rule(key=_key(book, draft), document=book, world=book.world)
    aliases, data = list(draft.aliases), draft.data
    if old:
        row.pk, row.version, row.created_at = old.pk, old.version, old.created_at
        row.visibility, row.known_to = old.visibility, old.known_to
        row.campaign_id, row.overrides_id = old.campaign_id, old.overrides_id
        aliases = list(dict.fromkeys([*aliases, *old.aliases]))
        data = {**old.data, **data}
    elif draft.is_private:
        row.visibility = Visibility.GM
    row.kind, row.title, row.body = draft.kind, draft.title, draft.body
    row.breadcrumb, row.aliases, row.data = list(draft.breadcrumb), aliases, data
    row.language = draft.language
    return row


def delete_unused_system(system: GameSystem) -> None:
    """Delete the system if no book, world or glossary belongs to it."""
    is_used: Any = system.documents.exists() or system.worlds.exists()
    if not is_used and not system.glossary.exists():
        system.delete()
