"""The text of an entity of Kanka: its entry, and below it posts, traits, attributes and what else
stands in lists of its own."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.utils.translation import gettext as _

from knowledge.importers.entry_text import (
    as_dict,
    as_list,
    heading_of,
    join_blocks,
    link_to,
    readable,
    secret_block,
    section,
    table,
)
from knowledge.importers.html import html_to_markdown
from knowledge.importers.kanka_export import (
    Entity,
    KankaExport,
    MentionedEntity,
    is_open,
    is_private,
)
from knowledge.importers.markup import PictureCollector, adopt_pictures

MENTION = re.compile(r"\[(\w{1,40}):(\d{1,18})(?:\|([^\[\]\n]{0,200}))?\]")
DIRECTION = re.compile(r"(?:page|field|anchor|tab|params?):", re.IGNORECASE)
"""What a mention shows of its target or where it leads; the rest are its words."""
UNNAMED = "???"
"""What stands for a private entity in an open text: Kanka does not tell players its name."""
APPEARANCE = 1
"""The section of traits that everybody sees; the others are a personality."""
CHECKBOXES, HEADINGS = (3, "checkbox"), (4, "section")
"""The types of attributes, in exports of today and of before."""
PROFILE = (
    *("age", "sex", "pronouns", "is_dead", "price", "size", "weight", "charges"),
    *("is_completed", "is_defunct", "is_destroyed", "is_extinct"),
)
"""Fields that Kanka shows beside the text."""
Line = tuple[str, bool]
"""A line of a list, and whether it is for everybody who may see the entity."""


class EntityText:
    """Writes Markdown of one entity. `unnamed` collects the private entities that its open texts
    mention, with the words that stand there instead of a link: a link would tell their names."""

    def __init__(self, entity: Entity, export: KankaExport, pictures: PictureCollector) -> None:
        self.entity, self.export, self.pictures = entity, export, pictures
        self.shared: dict[str, Any] = as_dict(entity.get("entity"))
        self.is_private = is_private(entity)
        self.unnamed: dict[str, str] = {}

    def body(self) -> str:
        entry = self.entity.get("entry") or self.shared.get("entry")
        blocks = [self.text(entry), *self._parts()]
        hidden = (item(link_to(name), words) for name, words in self.unnamed.items())
        return join_blocks([*blocks, secret_block(section(_("Hidden names"), "\n".join(hidden)))])

    def _parts(self) -> list[str]:
        return [
            self._hidden_appearance(),
            *map(self._post, self._rows("posts")),
            self._attributes(),
            self._lists(_("Elements"), self._quest_elements()),
            *self._eras(),
            self._lists(_("Inventory"), self._inventory()),
            self._lists(_("Abilities"), self._abilities()),
            self._lists(_("Personality"), self._personality()),
        ]

    def appearance(self) -> str:
        """The traits that everybody sees."""
        return "\n".join(line for line, is_shown in self._traits(is_appearance=True) if is_shown)

    def _hidden_appearance(self) -> str:
        traits = self._traits(is_appearance=True)
        hidden = "\n".join(line for line, is_shown in traits if not is_shown)
        return secret_block(section(_("Appearance"), hidden))

    def text(self, html: Any, *, is_shown: bool = True) -> str:
        """Return Markdown. `is_shown`: for everybody who may see the entity."""
        text = adopt_pictures(html_to_markdown(str(html or "")), self.pictures)

        def link(mention: re.Match[str]) -> str:
            parts = (mention[3] or "").split("|")
            words = " ".join(each for each in parts if not DIRECTION.match(each)).strip()
            target = self.export.entity(mention[2])
            if target is None:
                return f"[[{words}]]" if words else mention[0]
            return self._link(target, words, is_shown=is_shown)

        return MENTION.sub(link, text)

    def _link(self, target: MentionedEntity, words: str = "", *, is_shown: bool) -> str:
        if target.is_private and is_shown and not self.is_private:
            self.unnamed[target.name] = words or UNNAMED
            return words or UNNAMED
        return link_to(target.name, words)

    def _rows(self, name: str) -> list[dict[str, Any]]:
        rows = self.shared.get(name) or self.entity.get(name)
        return [each for each in as_list(rows) if isinstance(each, dict)]

    def _post(self, post: dict[str, Any]) -> str:
        is_shown = is_open(post)
        text = self.text(post.get("entry"), is_shown=is_shown)
        block = section(str(post.get("name") or "Post"), text)
        return block if is_shown else secret_block(block)

    def _lists(self, heading: str, lines: Iterable[Line]) -> str:
        """A list for everybody and one for the game master."""
        rows = [*lines]
        shown, hidden = (
            section(heading, "\n".join(line for line, is_shown in rows if is_shown == wanted))
            for wanted in (True, False)
        )
        return join_blocks([shown, secret_block(hidden)])

    def _traits(self, *, is_appearance: bool) -> Iterator[Line]:
        for each in self._rows("characterTraits") or self._rows("traits"):
            if (each.get("section_id") == APPEARANCE) == is_appearance:
                is_shown = is_open(each)
                text = self.text(each.get("entry"), is_shown=is_shown)
                yield item(str(each.get("name") or ""), text), is_shown

    def _personality(self) -> Iterator[Line]:
        is_visible = bool(self.entity.get("is_personality_visible", True))
        for line, is_shown in self._traits(is_appearance=False):
            yield line, is_shown and is_visible

    def _attributes(self) -> str:
        profile = [
            (heading_of(name), readable(bool(value) if name.startswith("is_") else value))
            for name in PROFILE
            if (value := self.entity.get(name))
        ]
        hidden: list[tuple[str, str]] = []
        for each in self._rows("entityAttributes") or self._rows("attributes"):
            is_hidden = self.shared.get("is_attributes_private") or each.get("is_hidden")
            is_shown = is_open(each) and not is_hidden
            value = self._value(each, is_shown=is_shown)
            # The cell of a table cannot hold a secret block: such a value is hidden as a whole.
            rows = profile if is_shown and ":::" not in value else hidden
            rows.append((str(each.get("name") or ""), value))
        return join_blocks(
            [
                section(_("Attributes"), fact_table(profile)),
                secret_block(section(_("Attributes"), fact_table(hidden))),
            ]
        )

    def _value(self, attribute: dict[str, Any], *, is_shown: bool) -> str:
        kind = attribute.get("type_id") or attribute.get("type")
        value = attribute.get("value")
        if kind in CHECKBOXES:
            return readable(str(value) in ("1", "on", "true", "True"))
        return "" if kind in HEADINGS else self.text(value, is_shown=is_shown)

    def _quest_elements(self) -> Iterator[Line]:
        for each in self._rows("elements"):
            # Those of a timeline stand below their era.
            if "era_id" not in each:
                is_shown = is_open(each)
                role = str(each.get("role") or "")
                name = self._name_of(each, is_shown=is_shown)
                head = f"{name} ({role})" if role else name
                text = self.text(each.get("description"), is_shown=is_shown)
                yield item(head, text), is_shown

    def _name_of(self, element: dict[str, Any], *, is_shown: bool) -> str:
        target = self.export.entity(element.get("entity_id"))
        words = str(element.get("name") or "")
        return self._link(target, words, is_shown=is_shown) if target else words

    def _eras(self) -> Iterator[str]:
        elements = sorted(self._rows("elements"), key=lambda each: each.get("position") or 0)
        for era in self._rows("eras"):
            ends = (era.get("start_year"), era.get("end_year"))
            years = "–".join(str(year) for year in ends if year is not None)
            heading = " ".join(filter(None, (era.get("name"), years and f"({years})")))
            own = [each for each in elements if each.get("era_id") == era.get("id")]
            text = [self.text(era.get("entry")), *map(self._era_element, own)]
            yield section(heading, join_blocks(text))

    def _era_element(self, element: dict[str, Any]) -> str:
        is_shown = is_open(element)
        link = self._name_of(element, is_shown=is_shown)
        words = link.strip("[]").rpartition("|")[2]
        date = f" ({element['date']})" if element.get("date") else ""
        text = self.text(element.get("entry"), is_shown=is_shown)
        # A heading is no place for a link.
        block = join_blocks([f"### {words}{date}", link if link != words else "", text])
        return block if is_shown else secret_block(block)

    def _inventory(self) -> Iterator[Line]:
        for each in self._rows("inventories"):
            is_shown = is_open(each)
            name = self._row_name("items", each.get("item_id"), each.get("name"), is_shown=is_shown)
            amount = each.get("amount")
            head = f"{amount} × {name}" if amount not in (None, 1, "1") else name
            yield item(head, self.text(each.get("description"), is_shown=is_shown)), is_shown

    def _abilities(self) -> Iterator[Line]:
        for each in self._rows("abilities"):
            is_shown = is_open(each)
            name = self._row_name("abilities", each.get("ability_id"), "", is_shown=is_shown)
            if name:
                yield item(name, self.text(each.get("note"), is_shown=is_shown)), is_shown

    def _row_name(self, module: str, row_id: Any, words: Any, *, is_shown: bool) -> str:
        target = self.export.row(module, row_id)
        words = str(words or "")
        return self._link(target, words, is_shown=is_shown) if target else words


def item(head: str, text: str) -> str:
    """An item of a list: `- head: text`, with longer texts below the head."""
    # Marks of secret blocks begin a line.
    if ":::" in text:
        return f"- {head}\n\n{text}"
    if "\n" not in text:
        return f"- {head}: {text}" if text else f"- {head}"
    indented = "\n".join(f"  {line}".rstrip() for line in text.split("\n"))
    return f"- {head}\n\n{indented}"


def fact_table(rows: list[tuple[str, str]]) -> str:
    return table(("", ""), ((f"**{name}**", value) for name, value in rows)) if rows else ""
