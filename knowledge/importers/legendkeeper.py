"""A LegendKeeper export: a `.lk` file (JSON, packed with gzip) or the JSON itself. It holds
resources with documents (tabs): pages in the JSON of ProseMirror, maps, boards and timelines."""

import gzip
import json
import zlib
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from knowledge.importers.drafts import LoreDraft, PersonDraft, RelationDraft
from knowledge.importers.entry_fields import fields_except, guess_kind, make_draft
from knowledge.importers.entry_text import (
    as_dict,
    as_list,
    join_blocks,
    link_to,
    secret_block,
    section,
)
from knowledge.importers.files import LARGEST_FILE, Bundle, SourceFile
from knowledge.importers.markup import PictureCollector
from knowledge.importers.prosemirror import ProseMirrorWriter, plain_text
from retrieval.errors import Invalid
from retrieval.text import string_list

Resource = dict[str, Any]

GZIP = b"\x1f\x8b"
KNOWN = (
    *("id", "name", "parentId", "pos", "aliases", "tags", "isHidden", "isLocked", "documents"),
    *("properties", "schemaVersion", "showPropertyBar", "createdBy", "iconColor", "iconShape"),
    *("iconGlyph", "banner", "createdAt", "updatedAt", "type", "image"),
)
TABS = {
    "character": ("overview", "backstory"),
    "place": ("overview", "map", "history"),
}
"""The tabs that the templates of LegendKeeper give to a page; it keeps no template itself."""
NAMES_OF_PINS = ("pins", "markers", "features")
MOST_PARENTS = 20
FIRST_TABS = ("main", "overview")


def is_legendkeeper(file: SourceFile, _bundle: Bundle) -> int:
    resources = as_dict(content_of(file)).get("resources")
    rows = [each for each in as_list(resources)[:20] if isinstance(each, dict)]
    is_world = any("documents" in each or "properties" in each for each in rows)
    return 88 if is_world and any("name" in each for each in rows) else 0


def content_of(file: SourceFile) -> Any:
    """The JSON of a file, which may be packed; raises `Invalid` for what is neither."""
    content = file.read() if file.suffix == ".lk" else b""
    if not content.startswith(GZIP):
        return file.json()
    unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        text = unpacker.decompress(content, LARGEST_FILE)
        if unpacker.unconsumed_tail:
            raise Invalid(_("The file unpacks to far more than its size: it is left out."))
        return json.loads(text)
    except (zlib.error, gzip.BadGzipFile, json.JSONDecodeError, UnicodeDecodeError) as problem:
        message = _("The file cannot be unpacked: %(reason)s.") % {"reason": problem}
        raise Invalid(message) from problem
    except RecursionError as problem:
        raise Invalid(_("This JSON is nested too deeply.")) from problem


def read_legendkeeper(bundle: Bundle) -> Iterator[LoreDraft]:
    """What is hidden, and what lies below something hidden, stays GM only."""
    for file in bundle.files:
        with bundle.problems_of(file.name):
            resources = as_dict(content_of(file)).get("resources")
            if not isinstance(resources, list):
                raise Invalid(_("The file holds no resources of LegendKeeper."))
            tree = ResourceTree(resources)
            for number, resource in enumerate(resources, 1):
                where = f"{file.name}: {number}"
                with bundle.problems_of(where):
                    if not isinstance(resource, dict) or not resource.get("name"):
                        raise Invalid(_("This is no object with a name."))
                    if not tree.is_empty_root(resource):
                        yield ResourceReader(bundle, file, resource, tree).draft(where)


class ResourceTree:
    """The resources of a file by their id, and what lies above each."""

    def __init__(self, resources: list[Any]) -> None:
        rows = [each for each in resources if isinstance(each, dict)]
        self.by_id = {str(each.get("id")): each for each in rows}
        self.names = {key: str(each.get("name") or "") for key, each in self.by_id.items()}
        self.parents = {str(each["parentId"]) for each in rows if each.get("parentId")}

    def above(self, resource: Resource) -> list[Resource]:
        """The resources above this one, the nearest first."""
        found: dict[str, Resource] = {}
        key = str(resource.get("parentId"))
        # An export may hold a loop: none is followed twice.
        while key in self.by_id and key not in found and len(found) < MOST_PARENTS:
            found[key] = self.by_id[key]
            key = str(found[key].get("parentId"))
        return [*found.values()]

    def is_hidden(self, resource: Resource) -> bool:
        return any(each.get("isHidden") for each in (resource, *self.above(resource)))

    def folder_of(self, resource: Resource) -> str:
        """The path of what lies above; the root is the world itself."""
        names = [
            str(each.get("name") or "") for each in self.above(resource) if each.get("parentId")
        ]
        return "/".join(name.replace("/", " ") for name in reversed(names))

    def is_empty_root(self, resource: Resource) -> bool:
        """Whether this is the root of the tree, without a text of its own."""
        key = str(resource.get("id"))
        texts = (
            plain_text(as_dict(each).get("content")) for each in as_list(resource.get("documents"))
        )
        return not resource.get("parentId") and key in self.parents and not any(texts)


class ResourceReader:
    """Reads one resource."""

    def __init__(
        self, bundle: Bundle, file: SourceFile, resource: Resource, tree: ResourceTree
    ) -> None:
        self.file, self.resource, self.tree = file, resource, tree
        self.pictures = PictureCollector(bundle, file.path.parent.as_posix())
        self.writer = ProseMirrorWriter(tree.names, self.pictures)

    def draft(self, where: str) -> LoreDraft:
        resource, name = self.resource, str(self.resource["name"])
        fields, relations, texts, private = self._properties()
        documents = sorted(
            (each for each in as_list(resource.get("documents")) if isinstance(each, dict)),
            key=lambda each: str(each.get("pos") or ""),
        )
        template = self._template(documents)
        self._add_pictures(name)
        body = join_blocks([*texts, *(self._document(each) for each in documents), *private])
        parent = next(iter(self.tree.above(resource)), None)
        if (
            parent is not None
            and parent.get("parentId")
            and "place" in (template, guess_kind(template))
        ):
            relations.append(RelationDraft(str(parent.get("name")), "part of", source=""))
        is_hidden = self.tree.is_hidden(resource)
        return make_draft(
            where,
            file=self.file.name,
            private=is_hidden,
            title=name,
            kind=template,
            body=body,
            aliases=[each for each in string_list(resource.get("aliases")) if each != name],
            tags=string_list(resource.get("tags")),
            folder=self.tree.folder_of(resource),
            source=f"legendkeeper:{resource.get('id') or name}",
            fields=fields,
            extra=fields_except(resource, *KNOWN),
            person=PersonDraft() if template == "character" else None,
            relations=tuple(relations),
            pictures=tuple(self.pictures.pictures),
        )

    def _template(self, documents: list[Resource]) -> str:
        """A tag that names a kind, else the template whose tabs the page has."""
        tag = next((tag for tag in string_list(self.resource.get("tags")) if guess_kind(tag)), "")
        if tag:
            return tag
        tabs = {str(each.get("name") or "").lower() for each in documents}
        found = next((kind for kind, names in TABS.items() if tabs.issuperset(names)), "")
        has_map = any(each.get("type") == "map" for each in documents)
        return found or ("map" if has_map and len(documents) == 1 else "")

    def _document(self, document: Resource) -> str:
        name, kind = str(document.get("name") or ""), str(document.get("type") or "page")
        content = document.get("content")
        text = join_blocks([self.writer.write(content), self._pins(document)])
        is_first = document.get("isFirst") or name.lower() in FIRST_TABS
        if not is_first or kind not in ("page", "blank"):
            text = section(name or kind.capitalize(), text)
        return secret_block(text) if document.get("isHidden") else text

    def _pins(self, document: Resource) -> str:
        """The pins of a map as a list; a pin may lead to a resource."""
        lines: list[str] = []
        for holder in (document, as_dict(document.get("map")), as_dict(document.get("content"))):
            for name in NAMES_OF_PINS:
                for pin in as_list(holder.get(name)):
                    lines.append(self._pin(as_dict(pin)))
        return "\n".join(line for line in dict.fromkeys(lines) if line)

    def _pin(self, pin: Resource) -> str:
        keys = ("resourceId", "linkedResourceId", "entityId", "targetId")
        target = next(
            (self.tree.names[str(pin[k])] for k in keys if str(pin.get(k)) in self.tree.names), ""
        )
        words = str(pin.get("name") or pin.get("label") or pin.get("title") or target)
        line = f"- {link_to(target, words) if target else words}" if words else ""
        return f":::secret\n{line}\n:::" if line and pin.get("isHidden") else line

    def _properties(
        self,
    ) -> tuple[dict[str, Any], list[RelationDraft], list[str], list[str]]:
        """The property bar: fields, relations, texts, and texts that are hidden."""
        fields: dict[str, Any] = {}
        relations: list[RelationDraft] = []
        texts: list[str] = []
        private: list[str] = []
        for each in as_list(self.resource.get("properties")):
            about, data = as_dict(each), as_dict(as_dict(each).get("data"))
            title = str(about.get("title") or about.get("type") or "")
            is_hidden = bool(about.get("isHidden"))
            names = [
                self.tree.names.get(str(as_dict(item).get("resourceId")), "")
                for item in as_list(data.get("items"))
            ]
            if any(names):
                relations += [
                    RelationDraft(name, title.lower()[:80], private=is_hidden)
                    for name in names
                    if name
                ]
            elif about.get("type") == "IMAGE":
                self._add_picture(str(data.get("url") or ""))
            else:
                value = self._value(data, about)
                if is_hidden:
                    private.append(secret_block(f"**{title}.** {value}") if value else "")
                elif "\n" in value:
                    texts.append(section(title, value))
                elif value:
                    fields[title] = value
        return fields, relations, texts, private

    def _value(self, data: Resource, about: Resource) -> str:
        """The text of a property: a fragment of a document, or a plain value."""
        for value in (
            data.get("fragment"),
            data.get("value"),
            data.get("text"),
            about.get("value"),
        ):
            if isinstance(value, dict | list):
                return self.writer.write(value)
            if value not in (None, ""):
                return str(value)
        tags = [str(as_dict(item).get("name") or item) for item in as_list(data.get("items"))]
        return ", ".join(tags)

    def _add_pictures(self, name: str) -> None:
        banner = as_dict(self.resource.get("banner"))
        for address in (self.resource.get("image"), banner.get("url")):
            if isinstance(address, str):
                self._add_picture(address, name)

    def _add_picture(self, address: str, name: str = "") -> None:
        """Add a picture that the upload holds: an export names them by their address."""
        file = address.partition("?")[0].rpartition("/")[2]
        if file:
            self.pictures.add(file, name, is_portrait=True)
