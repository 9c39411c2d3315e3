"""5e.tools: bestiaries, spells, items and other lists of things, books and adventures, and homebrew
files that hold all of them."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from knowledge.importers.drafts import LoreDraft, PersonDraft
from knowledge.importers.entry_fields import fields_except, make_draft
from knowledge.importers.entry_text import (
    ability_table,
    as_dict,
    as_list,
    heading_of,
    join_blocks,
    readable,
    section,
    source_line,
    stat_table,
)
from knowledge.importers.files import Bundle, SourceFile
from knowledge.importers.fivetools_stats import (
    CREATURE_HEAD,
    ITEM_HEAD,
    SPELL_HEAD,
    creature_facts,
    item_facts,
    kind_of_creature,
    spell_facts,
)
from knowledge.importers.fivetools_text import EntryTreeWriter
from knowledge.importers.markup import PictureCollector
from retrieval.errors import Invalid

Row = dict[str, Any]
Key = tuple[str, str, str]

KINDS = {
    "monster": "monster",
    "spell": "spell",
    **dict.fromkeys(("item", "baseitem", "itemGroup", "magicvariant", "object"), "item"),
    **dict.fromkeys(("vehicle", "vehicleUpgrade"), "vehicle"),
    **dict.fromkeys(("race", "subrace"), "ancestry"),
    **dict.fromkeys(("class", "subclass"), "class"),
    **dict.fromkeys(("classFeature", "subclassFeature", "optionalfeature"), "feature"),
    **dict.fromkeys(("condition", "disease", "status"), "condition"),
    **dict.fromkeys(("trap", "hazard"), "hazard"),
    **dict.fromkeys(("variantrule", "action", "skill", "sense"), "rule"),
    "background": "background",
    "feat": "feat",
    "deity": "deity",
    "cult": "faction",
    "boon": "boon",
    "reward": "reward",
    "psionic": "psionic",
    "language": "language",
    "table": "roll table",
    "encounter": "roll table",
    "legendaryGroup": "lair",
    "recipe": "recipe",
    "deck": "deck",
    "card": "card",
    "charoption": "character option",
    "facility": "facility",
}
"""The lists of a file, and the word for what an entry of each is."""
TELLING = ("monster", "spell", "baseitem", "bookData", "adventureData", "magicvariant", "subclass")
"""Lists that only files of 5e.tools have; the names of the others are common words."""
BOOKS = {"adventure": "adventureData", "book": "bookData"}
FLUFF = "Fluff"
SECTIONS = {
    "trait": "Traits",
    "action": "Actions",
    "bonus": "Bonus Actions",
    "reaction": "Reactions",
    "legendary": "Legendary Actions",
    "mythic": "Mythic Actions",
    "variant": "Variants",
    "lairActions": "Lair Actions",
    "regionalEffects": "Regional Effects",
    "mythicEncounter": "Mythic Encounter",
}
HEADERS = {
    "action": "actionHeader",
    "bonus": "bonusHeader",
    "reaction": "reactionHeader",
    "legendary": "legendaryHeader",
    "mythic": "mythicHeader",
}
TEXTS = ("entries", "entry", "desc", "entriesHigherLevel", "tables", "items")
COMMON = (
    *("name", "alias", "source", "page", "srd", "srd52", "basicRules", "basicRules2024", "edition"),
    *("hasFluff", "hasFluffImages", "hasToken", "tokenUrl", "token", "fluff", "images", "_copy"),
    *("soundClip", "altArt", "otherSources", "additionalSources", "reprintedAs", "isReprinted"),
    *("isNpc", "isNamedCreature", "spellcasting", "tables", "rows", "colLabels", "colStyles"),
)
HEADS = {"monster": CREATURE_HEAD, "spell": SPELL_HEAD, "item": ITEM_HEAD}
NOT_COPIED = ("_copy", "page", "otherSources", "srd", "basicRules", "hasToken", "hasFluff")


def is_fivetools(file: SourceFile, _bundle: Bundle) -> int:
    content = file.json()
    if not isinstance(content, dict) or ("data" not in content and not lists_of(content)):
        return 0
    sources = as_list(as_dict(content.get("_meta")).get("sources"))
    if any(as_dict(each).get("json") for each in sources):
        return 80
    first = [as_dict(rows[0]) for rows in lists_of(content).values()]
    if any("source" in row and "name" in row for row in first):
        return 76 if any(name.removesuffix(FLUFF) in content for name in TELLING) else 62
    if any(name in content for name in BOOKS.values()):
        return 76
    sections = as_list(content.get("data"))
    is_book = sections and as_dict(sections[0]).get("type") in ("section", "entries")
    return 72 if is_book else 0


def lists_of(content: Row) -> dict[str, list[Row]]:
    """The lists of things in a file, by their names."""
    known = {*KINDS, *BOOKS, *(f"{name}{FLUFF}" for name in KINDS), *BOOKS.values()}
    return {
        name: rows
        for name, rows in content.items()
        if name in known and isinstance(rows, list) and rows
    }


def read_fivetools(bundle: Bundle) -> Iterator[LoreDraft]:
    """A named creature is a character, any other a monster; a chapter of a book is an entry. Tags
    link to what the upload holds, whichever file it is in."""
    library = Library()
    for file in bundle.files:
        with bundle.problems_of(file.name):
            content = file.json()
            if not isinstance(content, dict):
                raise Invalid(_("The file holds no lists of 5e.tools."))
            library.add(content)
    for file in bundle.files:
        with bundle.problems_of(file.name):
            yield from _read_file(bundle, file, library)


class Library:
    """What all files of an upload hold: for links, copies, descriptions and the names of books."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.rows: dict[Key, Row] = {}
        self.fluff: dict[Key, Row] = {}
        self.books: dict[str, Row] = {}
        self.sources: dict[str, Row] = {}

    def add(self, content: Row) -> None:
        for source in as_list(as_dict(content.get("_meta")).get("sources")):
            self.sources[str(as_dict(source).get("json")).lower()] = as_dict(source)
        for name, rows in lists_of(content).items():
            for row in filter(lambda each: isinstance(each, dict), rows):
                key = key_of(name.removesuffix(FLUFF), row)
                if name in BOOKS:
                    self.books[str(row.get("id")).lower()] = row
                elif name.endswith(FLUFF):
                    self.fluff[key] = row
                elif name in KINDS:
                    self.rows.setdefault(key, row)
                    self.names.setdefault(str(row.get("name")).lower(), str(row.get("name")))

    def complete(self, name: str, row: Row, *, depth: int = 0) -> Row:
        """The row with what it copies from another one of the upload."""
        copy = as_dict(row.get("_copy"))
        base = self.rows.get(key_of(name, copy)) if copy else None
        if base is None or base is row or depth > 5:
            return row
        whole = self.complete(name, base, depth=depth + 1)
        kept = {key: value for key, value in whole.items() if key not in NOT_COPIED}
        return {**_rename(kept, as_dict(copy.get("_mod"))), **row}


def key_of(name: str, row: Row) -> Key:
    return name, str(row.get("name")).lower(), str(row.get("source")).lower()


def _rename(row: Row, changes: Row) -> Row:
    """The row with the words replaced that a copy replaces; other changes stay data."""
    for change in as_list(changes.get("*")):
        old, new = as_dict(change).get("replace"), as_dict(change).get("with")
        if as_dict(change).get("mode") == "replaceTxt" and isinstance(old, str) and old:
            row = _replace_words(row, old, str(new))
    return row


def _replace_words(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new).replace(old.capitalize(), new)
    if isinstance(value, list):
        return [_replace_words(each, old, new) for each in value]
    if isinstance(value, dict):
        return {key: _replace_words(each, old, new) for key, each in value.items()}
    return value


def _read_file(bundle: Bundle, file: SourceFile, library: Library) -> Iterator[LoreDraft]:
    content = file.json()
    if isinstance(content.get("data"), list):
        yield from _chapters(bundle, file, library, book_id(file), content["data"])
    for name, rows in lists_of(content).items():
        for number, row in enumerate(rows):
            where = f"{file.name}: {name} {number + 1}"
            with bundle.problems_of(where):
                if not isinstance(row, dict):
                    raise Invalid(_("This is no object with a name."))
                if name in BOOKS.values():
                    chapters = as_list(row.get("data"))
                    yield from _chapters(bundle, file, library, str(row.get("id")), chapters)
                elif name in KINDS:
                    yield RowReader(bundle, file, library, name).draft(row, where)
                elif name.endswith(FLUFF):
                    key = key_of(name.removesuffix(FLUFF), row)
                    if key not in library.rows:
                        named: Row = {each: row[each] for each in ("name", "source") if each in row}
                        yield RowReader(bundle, file, library, key[0]).draft(named, where)


def book_id(file: SourceFile) -> str:
    """`adventure-lmop.json` holds the adventure of the id LMoP."""
    return file.path.stem.partition("-")[2] or file.path.stem


def _chapters(
    bundle: Bundle, file: SourceFile, library: Library, book: str, chapters: list[Any]
) -> Iterator[LoreDraft]:
    """The chapters of a book, in a folder of its name."""
    about = library.books.get(book.lower(), {})
    title = str(about.get("name") or heading_of(book))
    is_adventure = "adventure" in file.path.stem.lower() or "storyline" in about
    for number, chapter in enumerate(chapters):
        where = f"{file.name}: {book} {number + 1}"
        with bundle.problems_of(where):
            reader = RowReader(bundle, file, library, "book")
            body = reader.writer.write({**as_dict(chapter), "name": ""} if chapter else "")
            if not isinstance(chapter, dict):
                body = reader.writer.write(chapter)
            authors = about.get("author") or about.get("authors")
            name = reader.writer.inline(as_dict(chapter).get("name")) or title
            yield make_draft(
                where,
                file=file.name,
                title=name,
                kind="adventure" if is_adventure else "book",
                is_rule=True,
                body=join_blocks([body, source_line(title, _page(chapter), readable(authors))]),
                folder=title.replace("/", " "),
                tags=["adventure" if is_adventure else "book"],
                source=f"5e.tools:{book}/{as_dict(chapter).get('id') or number + 1}",
                extra=fields_except(as_dict(chapter), "type", "name", "entries", "page", "id"),
                pictures=tuple(reader.pictures.pictures),
            )


def _page(row: Any) -> str:
    page = as_dict(row).get("page")
    return _("page %(number)s") % {"number": page} if page else ""


class RowReader:
    """Reads the things of one list."""

    def __init__(self, bundle: Bundle, file: SourceFile, library: Library, name: str) -> None:
        self.file, self.library, self.name = file, library, name
        self.pictures = PictureCollector(bundle, file.path.parent.as_posix())
        self.writer = EntryTreeWriter(library.names, self.pictures)

    def draft(self, row: Row, where: str) -> LoreDraft:
        if not row.get("name"):
            raise Invalid(_("This is no object with a name."))
        inherits = as_dict(row.get("inherits"))
        whole = {**inherits, **self.library.complete(self.name, row)}
        title = str(row["name"])
        kind = KINDS[self.name]
        if self.name == "monster" and (row.get("isNpc") or row.get("isNamedCreature")):
            kind = "character"
        for token in (whole.get("token"), as_dict(whole.get("token")).get("name"), title):
            if isinstance(token, str):
                self.pictures.add(f"{token}.webp", title, is_portrait=True)
        texts = {
            "monster": self._creature,
            "spell": self._spell,
            **dict.fromkeys(("item", "baseitem", "magicvariant", "itemGroup"), self._item),
        }.get(self.name, self._thing)
        body = join_blocks([texts(whole), self._fluff(row), self._source(whole)])
        known = (*COMMON, *TEXTS, *HEADS.get(KINDS[self.name], ()), *SECTIONS, *HEADERS.values())
        extra = fields_except(whole, *known)
        if copied := as_dict(row.get("_copy")):
            extra["_copy"] = copied
        head = kind_of_creature(whole) if self.name == "monster" else ""
        return make_draft(
            where,
            file=self.file.name,
            title=title,
            kind=kind,
            is_rule=True,
            body=body,
            aliases=[each for each in as_list(whole.get("alias")) if isinstance(each, str)],
            tags=self._tags(whole, kind),
            source=f"5e.tools:{self.name}/{title}|{row.get('source') or ''}",
            extra=extra,
            person=PersonDraft(summary=head) if kind == "character" else None,
            pictures=tuple(self.pictures.pictures),
        )

    def _creature(self, row: Row) -> str:
        facts = stat_table(creature_facts(row, self.writer.line))
        casting = [
            self.writer.spellcasting(as_dict(each)) for each in as_list(row.get("spellcasting"))
        ]
        head = kind_of_creature(row)
        return join_blocks(
            [
                f"*{head}*" if head else "",
                self._based_on(row),
                facts,
                ability_table(row),
                *self._sections(row, {"trait": join_blocks(casting)}),
                self.writer.write(as_list(row.get("entries"))),
            ]
        )

    def _based_on(self, row: Row) -> str:
        copied = as_dict(row.get("_copy"))
        if not copied:
            return ""
        source = copied.get("source") or ""
        return _("Based on %(name)s (%(source)s).") % {"name": copied.get("name"), "source": source}

    def _sections(self, row: Row, more: dict[str, str]) -> Iterator[str]:
        for key, heading in SECTIONS.items():
            intro = self.writer.write(as_list(row.get(HEADERS.get(key, ""))))
            parts = [
                self.writer.write({"type": "item", **each} if isinstance(each, dict) else each)
                for each in as_list(row.get(key))
            ]
            yield section(heading, join_blocks([intro, *parts, more.get(key, "")]))

    def _spell(self, row: Row) -> str:
        higher = self.writer.write(as_list(row.get("entriesHigherLevel")), level=3)
        facts = stat_table(spell_facts(row, self.writer.line))
        return join_blocks([facts, self.writer.write(as_list(row.get("entries"))), higher])

    def _item(self, row: Row) -> str:
        return join_blocks(
            [
                stat_table(item_facts(row, self.writer.line)),
                self.writer.write(as_list(row.get("entries"))),
                self._members(row),
            ]
        )

    def _members(self, row: Row) -> str:
        """The items of a group, which are named `item|source`."""
        members = [each for each in as_list(row.get("items")) if isinstance(each, str)]
        return "\n".join(
            f"- {self.writer.inline('{@item ' + each.replace('}', '') + '}')}" for each in members
        )

    def _thing(self, row: Row) -> str:
        parts: list[str] = []
        if "rows" in row:
            parts.append(self.writer.write({**row, "type": "table", "caption": ""}))
        for key in TEXTS:
            if key in row and not (key == "items" and self.name == "itemGroup"):
                parts.append(self.writer.write(as_list(row[key])))
        parts += self._sections(row, {})
        return join_blocks(parts)

    def _fluff(self, row: Row) -> str:
        fluff = self.library.fluff.get(key_of(self.name, row))
        own = as_dict(row.get("fluff"))
        texts = []
        for each in (fluff, own):
            text = self.writer.write(as_list(as_dict(each).get("entries")), level=3)
            pictures = self.writer.write(as_list(as_dict(each).get("images")))
            texts.append(join_blocks([text, pictures]))
        return section(_("Lore"), join_blocks(texts))

    def _source(self, row: Row) -> str:
        code = str(row.get("source") or "")
        about = self.library.sources.get(code.lower(), {})
        names = [about.get("full") or code, _page(row), readable(about.get("authors"))]
        return source_line(*names, about.get("license"), about.get("url"))

    def _tags(self, row: Row, kind: str) -> list[str]:
        tags = [kind]
        if self.name == "monster":
            creature = as_dict(row.get("type")).get("type", row.get("type"))
            tags.append(creature if isinstance(creature, str) else "")
        return list(dict.fromkeys(filter(None, tags)))
