"""What readers return: entries with the people, relations and pictures that belong to them, and the
problems of a source. Plain values; nothing here touches the database."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from knowledge.schemas import LoreIn


@dataclass(frozen=True)
class ImportProblem:
    """A fault of a source. With `is_error` what it is about is left out; else it is a note."""

    file: str
    message: str
    line: int | None = None
    is_error: bool = True

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.message}"


@dataclass(frozen=True)
class BookHeader:
    """What a file of rules says of its book."""

    title: str
    licence: str = ""
    licence_url: str = ""
    attribution: str = ""


@dataclass(frozen=True)
class RelationDraft:
    """`target` is a name. `words` say what the entry is to it: "sister of", "lives in".
    `attitude` (-100 to 100) is how the entry regards its target, where a tool knows that."""

    target: str
    words: str = ""
    attitude: int | None = None
    private: bool = False
    source: str = ""
    """A field of the source that names the target, kept if nothing has that name."""
    quote: str = ""
    """The line of the text that says so."""


@dataclass(frozen=True)
class PictureDraft:
    """A picture of an entry. `file` is its path in the upload, or the end of it."""

    file: str
    alt: str = ""
    is_portrait: bool = False
    is_hidden: bool = False
    """Not shown to players in the gallery of an entry that they may see."""


@dataclass(frozen=True)
class PersonDraft:
    """What makes an entry a character who is played: fields of `npcs.schemas.NPCIn`, as far as the
    source knows them. `faction` and `home` are names."""

    role: str = ""
    summary: str = ""
    faction: str = ""
    home: str = ""
    voice: str = ""
    goals: tuple[str, ...] = ()
    play_now: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True)
class LoreDraft:
    """`where` names the source in the report; `body_line` is the line of the file at which the body
    begins. `private`: GM only, whatever the import asks for. `template` is the source's own word
    for what the entry is, `fields` are those that a mapping may interpret."""

    entry: LoreIn
    where: str
    private: bool = False
    is_exact: bool = False
    """An entry of our own export: nothing in it is interpreted or guessed."""
    is_rule: bool = False
    """From a book of rules: only `template` names its kind. Folders are chapters, and the monsters
    of a chapter "Characters" are no characters."""
    notes: tuple[str, ...] = ()
    file: str = ""
    body_line: int = 1
    folder: str = ""
    template: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    person: PersonDraft | None = None
    relations: tuple[RelationDraft, ...] = ()
    pictures: tuple[PictureDraft, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.entry.title, *self.entry.aliases)
