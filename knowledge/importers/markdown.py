"""Folders of Markdown: an Obsidian vault, plain notes, or our own export."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from django.utils.translation import gettext as _

from knowledge.importers.callouts import Callout, replace_callouts
from knowledge.importers.drafts import LoreDraft, PersonDraft
from knowledge.importers.entry_fields import fields_except, make_draft, title_from_path
from knowledge.importers.files import Bundle, SourceFile
from knowledge.importers.markup import (
    NoteFinder,
    PictureCollector,
    adopt_links,
    adopt_pictures,
    comments_to_secrets,
    outside_code,
    without_block_ids,
)
from knowledge.importers.statblocks import layout_of, tables_of_stat_blocks
from knowledge.schemas import LoreIn, Status
from retrieval.text import clean_text, fold_name, slugify, split_front_matter, string_list
from worlds.audiences import Visibility

TITLE = re.compile(
    r"\s*(?:#[ \t]+(?P<atx>[^\n]*?)(?:[ \t]+#+)?|(?P<setext>[^\s#>|-][^\n]*)\n=+)[ \t]*(?:\n|\Z)"
)
INLINE_TAG = re.compile(r"(?:^|\s)#([^\W\d][\w/-]*)")
OWN_FRONT_MATTER = re.compile(
    r"\A---\n(?=(?s:.{0,4000})^slug:)(?=(?s:.{0,4000})^visibility:)", re.M
)
OWN_FIELDS = set(LoreIn.model_fields) - {"title", "body", "slug", "extra"}
VAULT_FIELDS = ("title", "kind", "type", "aliases", "alias", "tags", "tag")
LANGUAGE = re.compile(r"[a-z]{2,3}")
GALLERIES = {"gallery": False, "hidden_pictures": True}
"""The lists of pictures in our own vault, and whether players do not see them."""
PERSON_LINES = ("role", "summary", "faction", "home", "voice")
PERSON_LISTS = ("goals", "play_now")
PERSON_SECRET = "npc-secret"
"""The fields of an NPC in our own vault, and its callouts for what the NPC hides."""
SLUG_FIELD = "memory37_slug"
"""Not `slug`: with that, a note is taken for one of `export_lore`."""
DAYS = ("in_world_at", "in_world_until")


def is_note(file: SourceFile, _bundle: Bundle) -> int:
    return 20 if file.text is not None else 0


def is_own_markdown(file: SourceFile, _bundle: Bundle) -> int:
    return 50 if OWN_FRONT_MATTER.search(file.text[:8_000]) else 0


def read_vault(bundle: Bundle) -> Iterator[LoreDraft]:
    """Read notes of an Obsidian vault. Its comments are private, so they become secrets."""
    for file in bundle.files:
        with bundle.problems_of(file.name):
            yield read_note(bundle, file)


def read_note(bundle: Bundle, file: SourceFile, *, title: str = "", origin: str = "") -> LoreDraft:
    """Return the draft of one note. `title` is that of a file whose name is not its title."""
    note_encoding(bundle, file)
    fields, body = split_front_matter(clean_text(file.text))
    stem = title or title_from_path(file.path)
    name = str(fields.get("title") or stem)
    body = without_title(body, name)
    body_line = line_of_body(file.text, body)
    folder = file.path.parent.as_posix()
    pictures, notes = PictureCollector(bundle, folder), NoteFinder(bundle, folder)
    person, body = split_person(fields, body)
    # Comments first: what a block shows may hold `%%`, and would begin or end one.
    body, creatures = tables_of_stat_blocks(comments_to_secrets(body), title=name)
    body = outside_code(
        body,
        lambda text: adopt_links(adopt_pictures(without_block_ids(text), pictures), notes),
    )
    add_gallery(fields, pictures)
    layouts = [layout for creature in creatures if (layout := layout_of(creature))]
    tags = [*string_list(fields.get("tags") or fields.get("tag")), *INLINE_TAG.findall(body)]
    return make_draft(
        file.name,
        title=name,
        slug=slug_of_note(fields) or slugify(stem) or None,
        private=is_private(fields),
        body=body.strip(),
        body_line=body_line,
        kind=str(fields.get("kind") or fields.get("type") or ""),
        folder=bundle.folder_of(file),
        aliases=aliases_of(fields, name, stem, creatures),
        tags=[tag.lstrip("#") for tag in dict.fromkeys(tags)],
        source=origin or f"obsidian:{file.name}",
        extra={"statblock_layout": layouts[0] if len(layouts) == 1 else layouts} if layouts else {},
        fields=fields_except(without_our_choices(fields), *VAULT_FIELDS, *DAYS, "in_world_label"),
        pictures=tuple(pictures.pictures),
        person=person,
        **in_world_fields(fields),
        **language_of_note(fields),
    )


def add_gallery(fields: Mapping[str, Any], pictures: PictureCollector) -> None:
    """Add the pictures that our own vault lists beside those of the text."""
    if is_of_our_vault(fields):
        for name, is_hidden in GALLERIES.items():
            for link in string_list(fields.get(name)):
                pictures.add(link.strip("![]"), is_hidden=is_hidden)


def split_person(fields: Mapping[str, Any], body: str) -> tuple[PersonDraft | None, str]:
    """Take what our own vault says of the NPC of an entry off its text."""
    if not is_of_our_vault(fields):
        return None, body
    secrets: list[str] = []

    def take(callout: Callout) -> str:
        secrets.append(callout.body)
        return ""

    body = replace_callouts(body, lambda kind: kind == PERSON_SECRET, take)
    lines: dict[str, Any] = {name: str(fields.get(name) or "") for name in PERSON_LINES}
    lists: dict[str, Any] = {name: tuple(string_list(fields.get(name))) for name in PERSON_LISTS}
    return PersonDraft(**lines, **lists, secrets=tuple(filter(None, secrets))), body


def is_of_our_vault(fields: Mapping[str, Any]) -> bool:
    return fields.get("visibility") in Visibility.values


def is_private(fields: Mapping[str, Any]) -> bool:
    """Whether our own vault says that players may not know of it: then it stays the game master's,
    whatever the page of the import asks for."""
    is_open = fields.get("visibility") == Visibility.PUBLIC and fields.get("status") != "draft"
    return is_of_our_vault(fields) and not is_open


def slug_of_note(fields: Mapping[str, Any]) -> str:
    """The slug that our own vault names, where that of the file is another."""
    return slugify(str(fields.get(SLUG_FIELD) or "")) if is_of_our_vault(fields) else ""


def without_our_choices(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a note without those by which our own vault tells status and audience: the page
    of an import asks for them, and as data of the entry they would go out of date."""
    if not is_of_our_vault(fields):
        return dict(fields)
    ours = {
        "visibility",
        "revealed_to",
        SLUG_FIELD,
        *GALLERIES,
        *PERSON_LINES,
        *PERSON_LISTS,
        *language_of_note(fields),
    }
    if fields.get("status") in get_args(Status):
        ours.add("status")
    return {name: value for name, value in fields.items() if name not in ours}


def language_of_note(fields: Mapping[str, Any]) -> dict[str, str]:
    """The language that our own vault names; in other notes the word has other meanings."""
    language = str(fields.get("language") or "")
    is_ours = is_of_our_vault(fields) and LANGUAGE.fullmatch(language)
    return {"language": language} if is_ours else {}


def aliases_of(
    fields: Mapping[str, Any], title: str, stem: str, creatures: Sequence[Mapping[str, Any]]
) -> list[str]:
    """The other names of a note: its own, that of its file, by which other notes link to it, and
    that of its only stat block."""
    aliases = [*string_list(fields.get("aliases") or fields.get("alias")), stem]
    if len(creatures) == 1 and isinstance(creatures[0].get("name"), str):
        aliases.append(creatures[0]["name"])
    return [alias for alias in dict.fromkeys(aliases) if alias != title]


def without_title(body: str, title: str) -> str:
    """Take a first heading that repeats the title off the text: the page shows the title above
    it."""
    heading = TITLE.match(body)
    words = fold_name(heading["atx"] or heading["setext"]) if heading else ""
    if heading and words and words == fold_name(title):
        return body[heading.end() :].lstrip("\n")
    return body


def in_world_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: fields[name] for name in DAYS if fields.get(name) is not None}
    if fields.get("in_world_label"):
        values["in_world_label"] = str(fields["in_world_label"])
    return values


def note_encoding(bundle: Bundle, file: SourceFile) -> None:
    """Tell when a file was not UTF-8: another encoding may be a wrong guess."""
    if file.encoding != "utf-8":
        message = _("The file is not UTF-8: read as %(encoding)s. Check its letters.")
        bundle.note(file.name, message % {"encoding": file.encoding})


def line_of_body(text: str, body: str) -> int:
    """The line of the file at which the body begins; 1 for the first."""
    return max(1, clean_text(text).count("\n") - body.count("\n") + 1)


def read_own_markdown(bundle: Bundle) -> Iterator[LoreDraft]:
    """Read files of `export_lore --format markdown`: the front matter holds all fields."""
    for file in bundle.files:
        with bundle.problems_of(file.name):
            fields, body = split_front_matter(clean_text(file.text))
            yield make_draft(
                file.name,
                title=fields.get("title") or title_from_path(file.path),
                slug=str(fields.get("slug") or slugify(title_from_path(file.path))),
                body=body,
                body_line=line_of_body(file.text, body),
                extra=fields.get("extra") or {},
                is_exact=True,
                **{name: fields[name] for name in OWN_FIELDS if name in fields},
            )
