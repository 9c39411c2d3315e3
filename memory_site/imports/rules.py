"""Write an upload as a book of rules that one world plays by, and take it back."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from knowledge.entry_store import save_all
from knowledge.importers.drafts import BookHeader
from knowledge.importers.run import ImportReading
from knowledge.models import Document, Rule
from knowledge.rule_books.drafts import rules_of
from knowledge.rule_books.store import (
    book_slug,
    delete_unused_system,
    find_or_create_book,
    find_or_create_system,
    write_rules,
)
from memory_site.imports.options import ImportOptions
from memory_site.imports.report import WriteReport
from memory_site.imports.snapshots import values_of
from worlds.models import GameSystem, ImportedRow, ImportRun, World

REASON = "import undone"
_FIELDS: dict[str, Any] = {field.attname: field for field in Rule._meta.concrete_fields}


def write_rule_book(
    world: World,
    reading: ImportReading,
    options: ImportOptions,
    *,
    file_name: str,
    progress: Callable[[float], None] = lambda _share: None,
) -> WriteReport:
    """Write what was read as rules of `world` alone, of the game system that the options name, and
    let the world play that system. Call within a transaction. Raises `Invalid` without a name."""
    report = WriteReport()
    drafts = rules_of(reading)
    system = find_or_create_system(options.system, edition=options.edition)
    title = options.book or choose_title(reading.book, file_name, system=system, world=world)
    about = about_book(reading.book)
    book = find_or_create_book(system, title=title, world=world, source=file_name, **about)
    for written in write_rules(book, drafts):
        for each in written:
            was_changed = each.outcome == "changed" and each.before
            report.add(
                "rule",
                each.rule,
                each.outcome,
                name=each.rule.title,
                source=each.source,
                before=values_of("rule", each.before) if was_changed else None,
                after=values_of("rule", each.rule) if each.outcome != "unchanged" else None,
            )
        progress(len(report.rows) / max(len(drafts), 1))
    if drafts and options.plays and world.system_id != system.pk:
        report.system_before = str(world.system_id or "")
        world.system = system
        world.save(update_fields=["system", "updated_at"])
    report.book = book.title
    return report


def title_of_book(file_name: str) -> str:
    """A title for the book of an uploaded file: its name without the ending."""
    return file_name.rsplit("/", 1)[-1].rsplit(".", 1)[0].replace("_", " ").strip() or "rules"


def choose_title(
    header: BookHeader | None, file_name: str, *, system: GameSystem, world: World | None = None
) -> str:
    """The title of a book that nobody has named: what its file says, else the name of the file, by
    which an earlier import may have called it."""
    by_file = title_of_book(file_name)
    same = Document.objects.filter(world=world, system=system, slug=book_slug(system, by_file))
    return by_file if header is None or same.exists() else header.title


def title_of_imported(
    file_name: str,
    *,
    system: GameSystem | None = None,
    world: World | None = None,
    otherwise: str = "",
) -> str:
    """The title of the book that was imported from the file, if that is one alone; else the other
    one, or the name of the file."""
    books = Document.objects.filter(world=world, source=file_name)
    titles = [*(books.filter(system=system) if system else books).values_list("title", flat=True)]
    return titles[0] if len(titles) == 1 else otherwise or title_of_book(file_name)


def about_book(header: BookHeader | None) -> dict[str, str]:
    """The licence and attribution of a book as its file gives them."""
    if header is None:
        return {}
    return {
        "licence": header.licence[:80],
        "licence_url": header.licence_url[:200],
        "attribution": header.attribution,
    }


def undo_rules(rows: Sequence[ImportedRow], run: ImportRun) -> None:
    """Delete the rules that the run created, and write the old values of those that it changed. A
    book of which nothing is left goes, with its system, and the world plays its old system."""
    created = [row.row_id for row in rows if row.row_id and row.outcome == "created"]
    changed = {row.row_id: row.before for row in rows if row.row_id and row.outcome == "changed"}
    rules = list(Rule.objects.filter(pk__in=list(changed)).select_related("document"))
    for rule in rules:
        for name, value in (changed[rule.pk] or {}).items():
            setattr(rule, name, _FIELDS[name].to_python(value))
    save_all(rules, reason=REASON)
    books = list(Document.objects.filter(world=run.world, rules__in=created).distinct())
    Rule.objects.filter(pk__in=created).delete()
    for book in books:
        system = book.system
        if system and not book.rules.exists():
            _restore_system(run, system)
            book.delete()
            delete_unused_system(system)


def _restore_system(run: ImportRun, imported: GameSystem) -> None:
    """Let the world play the system again that it played before the import, unless somebody has
    chosen another one since."""
    before: str | None = run.report.get("written", {}).get("system_before")
    if before is not None and run.world.system_id == imported.pk:
        run.world.system = GameSystem.objects.filter(pk=before).first() if before else None
        run.world.save(update_fields=["system", "updated_at"])


def rules_in_use(ids: Sequence[Any]) -> set[UUID]:
    """The rules that house rules written since replace."""
    house_rules = Rule.objects.filter(overrides__in=ids).exclude(pk__in=ids)
    return {pk for pk in house_rules.values_list("overrides", flat=True) if pk}
