"""Foundry VTT: journals, actors, items, roll tables and scenes; exported JSON, a pack with one JSON
object per line, or the YAML of a pack's source."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from django.utils.translation import gettext as _

from knowledge.importers.drafts import LoreDraft, PersonDraft, RelationDraft
from knowledge.importers.entry_fields import fields_except, make_draft
from knowledge.importers.entry_text import link_to
from knowledge.importers.files import Bundle, SourceFile
from knowledge.importers.foundry_pf2e import (
    PF2E_THINGS,
    actor_text,
    enricher_words,
    is_pf2e,
    is_unique,
    item_text,
)
from knowledge.importers.html import html_to_markdown
from knowledge.importers.markup import PictureCollector, adopt_pictures
from retrieval.errors import Invalid
from retrieval.text import without_secrets

Document = dict[str, Any]

LINK = re.compile(r"@\w{1,40}\[([^\[\]\n]{0,200})\](?:\{([^{}\n]{0,200})\})?")
ROLL = re.compile(
    # A roll may name its damage: `[[/r 2d6[fire]]]`. Older ones have no command: `[[2d6]]`.
    r"\[\[(?:/\w* ?|lookup |(?=@|\d{0,3}d\d))((?:[^\[\]\n]|\[[^\[\]\n]{0,60}\]){1,200})\]\]"
    r"(?:\{([^{}\n]{0,200})\})?"
)
# Ownership levels: -1 inherits, 0 none, 1 limited, 2 observer, 3 owner.
OBSERVER = 2
MARKDOWN = 2
THINGS = ("weapon", "equipment", "consumable", "tool", "loot", "container", "backpack", "object")
"""Types of items that lie in a world; others (spell, feat, class) are rules."""
COMPENDIUM = "Compendium."
ID = re.compile(r"[A-Za-z0-9]{16}")
KEY = re.compile(r"!(\w+)[!.]")
COLLECTIONS = {"journal", "actors", "items", "tables", "scenes", "folders"}
KNOWN = (
    *("_id", "_key", "_stats", "name", "type", "img", "ownership", "permission", "folder", "sort"),
    *("pages", "content", "results", "prototypeToken", "token", "effects", "items", "sorting"),
    *("tokens", "walls", "lights", "sounds", "drawings", "tiles", "notes", "background", "thumb"),
)


def is_foundry(file: SourceFile, _bundle: Bundle) -> int:
    documents = documents_of(file)
    first = documents[0] if documents else {}
    if "_key" in first or "_stats" in first:
        return 75
    return 60 if "name" in first and collection_of(first) else 0


def read_foundry(bundle: Bundle) -> Iterator[LoreDraft]:
    """A document that not every player may observe is GM only."""
    found: list[tuple[SourceFile, Document]] = []
    for file in bundle.files:
        with bundle.problems_of(file.name):
            for document in documents_of(file):
                if not document.get("name"):
                    raise Invalid(_("The file holds no Foundry documents with a name."))
                found.append((file, document))
    names = {str(document.get("_id")): str(document["name"]) for _file, document in found}
    # The source of a pack names the targets of links, where a pack has their ids.
    names |= {str(document["name"]): str(document["name"]) for _file, document in found}
    folders = folder_paths([document for _file, document in found])
    for file, document in found:
        with bundle.problems_of(file.name):
            collection = collection_of(document) or "journal"
            if collection != "folders":
                yield DocumentReader(bundle, file, document, names, folders).draft(collection)


def documents_of(file: SourceFile) -> list[Document]:
    if file.suffix in (".yml", ".yaml"):
        value = file.yaml
    else:
        try:
            value = json.loads(file.text)
        except RecursionError as problem:
            raise Invalid(_("This JSON is nested too deeply.")) from problem
        except json.JSONDecodeError:
            value = _lines(file)
    documents = value if isinstance(value, list) else [value]
    if not all(isinstance(each, dict) for each in documents):
        raise Invalid(_("The file holds no Foundry documents."))
    return documents


def _lines(file: SourceFile) -> Any:
    """A pack has one JSON object per line; anything else is reported as the JSON that it is not."""
    if file.suffix != ".db":
        return file.json()
    values = []
    for number, line in enumerate(file.text.splitlines(), 1):
        try:
            values += [json.loads(line)] if line.strip() else []
        except (json.JSONDecodeError, RecursionError) as problem:
            message = _("This line is not valid JSON.")
            raise Invalid(message, errors=[{"loc": ["line", number]}]) from problem
    return values


def collection_of(document: Document) -> str:
    """The collection that a document belongs to, by its key, else by the fields that it has."""
    key = KEY.match(str(document.get("_key") or ""))
    if key and key[1] in COLLECTIONS:
        return key[1]
    if "pages" in document or ("content" in document and "system" not in document):
        return "journal"
    if "results" in document and "formula" in document:
        return "tables"
    if "walls" in document or ("tokens" in document and "grid" in document):
        return "scenes"
    has_system = "system" in document or "data" in document
    if "prototypeToken" in document or ("items" in document and has_system):
        return "actors"
    if has_system:
        return "items"
    return "folders" if "sorting" in document else ""


def folder_paths(documents: list[Document]) -> dict[str, str]:
    """The path of each folder by its id, such as `North/Carrow`."""
    folders = {str(each.get("_id")): each for each in documents if collection_of(each) == "folders"}

    def path(folder_id: str, depth: int = 0) -> str:
        folder = folders.get(folder_id)
        if folder is None or depth > len(folders):
            return ""
        parent = path(str(folder.get("folder")), depth + 1)
        return f"{parent}/{folder['name']}".strip("/")

    return {folder_id: path(folder_id) for folder_id in folders}


def owner_level(document: Document) -> int:
    level = (document.get("ownership") or document.get("permission") or {}).get("default", 0)
    return level if isinstance(level, int) else 0


def without_rolls(value: Any) -> Any:
    """The value with the words of its inline rolls: `[[/r 2d6]]` would be a link in our data."""
    if isinstance(value, str):
        return ROLL.sub(lambda roll: roll[2] or roll[1], value)
    if isinstance(value, list):
        return [without_rolls(each) for each in value]
    if isinstance(value, dict):
        return {key: without_rolls(each) for key, each in value.items()}
    return value


class DocumentReader:
    """Reads one document; `names` by id are those that links of the upload may name."""

    def __init__(
        self,
        bundle: Bundle,
        file: SourceFile,
        document: Document,
        names: dict[str, str],
        folders: dict[str, str],
    ) -> None:
        self.file, self.document, self.names, self.folders = file, document, names, folders
        self.pictures = PictureCollector(bundle, file.path.parent.as_posix())
        self.system: Document = document.get("system") or document.get("data") or {}

    def draft(self, collection: str) -> LoreDraft:
        document = self.document
        readers: dict[str, Callable[[], dict[str, Any]]] = {
            "journal": self._journal,
            "actors": self._actor,
            "items": self._item,
            "tables": self._table,
            "scenes": self._scene,
        }
        if document.get("img"):
            self.pictures.add(str(document["img"]), str(document["name"]), is_portrait=True)
        fields = readers[collection]()
        return make_draft(
            f"{self.file.name}: {document['name']}",
            file=self.file.name,
            private=owner_level(document) < OBSERVER,
            title=document["name"],
            folder=self.folders.get(str(document.get("folder")), ""),
            source=f"foundry:{document.get('_id') or self.file.name}",
            extra=without_rolls(fields_except(document, *KNOWN)),
            pictures=tuple(self.pictures.pictures),
            **fields,
        )

    def _journal(self) -> dict[str, Any]:
        content = {"name": "", "text": {"content": self.document.get("content") or ""}}
        pages = self.document.get("pages") or [content]  # before version 10 there were no pages
        return {"body": "\n\n".join(filter(None, map(self._page, pages)))}

    def _page(self, page: Document) -> str:
        text = page.get("text") or {}
        if page.get("src"):
            body = self._text(f"![{page.get('name') or ''}](<{page['src']}>)", is_html=False)
        elif text.get("format") == MARKDOWN:
            body = self._text(str(text.get("markdown") or ""), is_html=False)
        else:
            body = self._text(text.get("content"))
        if not body:
            return ""
        section = f"## {page['name']}\n\n{body}" if page.get("name") else body
        # A page that inherits (-1) is as open as its journal.
        hidden = "ownership" in page and 0 <= owner_level(page) < OBSERVER
        return f":::secret\n{section}\n:::" if hidden else section

    def _actor(self) -> dict[str, Any]:
        details = self.system.get("details") or {}
        biography = details.get("biography") or {}
        biography = biography if isinstance(biography, dict) else {"value": biography}
        public, text = self._text(biography.get("public")), self._text(biography.get("value"))
        traits = {
            name: self._text(details.get(name)) for name in ("trait", "ideal", "bond", "flaw")
        }
        goals = tuple(traits[name][:400] for name in ("ideal", "bond") if traits[name])
        lines = tuple(traits[name][:400] for name in ("trait", "flaw") if traits[name])
        token = self.document.get("prototypeToken") or self.document.get("token") or {}
        is_pathfinder = is_pf2e(self.document)
        # A linked token is one certain person; monsters have many tokens of one actor.
        is_person = bool(token.get("actorLink")) or self.document.get("type") == "character"
        is_person = is_person or (is_pathfinder and is_unique(self.document))
        kind = str(self.document.get("type") or "")
        is_creature = not is_pathfinder or kind in ("npc", "character", "familiar")
        belongings = [
            str(each.get("name"))
            for each in self.document.get("items") or []
            if isinstance(each, dict) and each.get("type") in (*THINGS, *PF2E_THINGS)
        ]
        body = "\n\n".join(filter(None, [public, text if text != public else ""]))
        if is_pathfinder:
            body, public = actor_text(self.document, self._text), self._text(details.get("blurb"))
        return {
            "kind": ("character" if is_person else "monster") if is_creature else kind,
            "body": body,
            # Its secrets stand in the body.
            "person": PersonDraft(summary=without_secrets(public), goals=goals, play_now=lines),
            "relations": tuple(RelationDraft(name, "owns") for name in dict.fromkeys(belongings))
            if is_person
            else (),
        }

    def _item(self) -> dict[str, Any]:
        kind = str(self.document.get("type") or "")
        description = self.system.get("description")
        text = description.get("value") if isinstance(description, dict) else description
        is_thing = kind in (*THINGS, *PF2E_THINGS)
        body = item_text(self.document, self._text) if is_pf2e(self.document) else self._text(text)
        return {"kind": "item" if is_thing else kind, "is_rule": not is_thing, "body": body}

    def _table(self) -> dict[str, Any]:
        """A table of results: the roll and its text."""
        rows = []
        for result in self.document.get("results") or []:
            low, high = result.get("range") or (0, 0)
            text = result.get("description") or result.get("text") or result.get("name") or ""
            cell = self._text(text).replace("\n", " ").replace("|", "\\|")
            rows.append(f"| {low if low == high else f'{low}–{high}'} | {cell} |")
        formula = str(self.document.get("formula") or "")
        table = "\n".join([f"| {formula or '#'} | |", "| --- | --- |", *rows])
        parts = [self._text(self.document.get("description")), table if rows else ""]
        return {"kind": "roll table", "is_rule": True, "body": "\n\n".join(filter(None, parts))}

    def _scene(self) -> dict[str, Any]:
        """A scene is a place; its map is a picture, its pins are links."""
        background = self.document.get("background") or {}
        picture = background.get("src") if isinstance(background, dict) else ""
        if picture or self.document.get("thumb"):
            self.pictures.add(str(picture or self.document["thumb"]), is_portrait=True)
        pins = [
            str(note.get("text") or self.names.get(str(note.get("entryId")), ""))
            for note in self.document.get("notes") or []
        ]
        names = [name for name in dict.fromkeys(pins) if name]
        known = set(self.names.values())
        lines = [f"- [[{name}]]" if name in known else f"- {name}" for name in names]
        return {"kind": "place", "body": "\n".join(lines)}

    def _text(self, content: Any, *, is_html: bool = True) -> str:
        source = enricher_words(str(content or ""))
        text = html_to_markdown(source) if is_html else source
        text = ROLL.sub(lambda roll: roll[2] or f"`{roll[1]}`", text)
        return LINK.sub(self._link, adopt_pictures(text, self.pictures)).strip()

    def _link(self, link: re.Match[str]) -> str:
        target = link[1].rsplit(".", 1)[-1]
        name = self.names.get(target) or self.names.get(link[2] or "", "")
        if not name and link[1].startswith(COMPENDIUM):
            # A compendium of the system: of its thousands of rules only what comes along is linked.
            return link[2] or ("" if ID.fullmatch(target) else target)
        words = link[2] or name
        return link_to(name or words, words) if words else link[0]
