"""A Notion export (Markdown and CSV): pages are named `Name <32 digits>.md`; a database is a CSV
beside a folder of its pages."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from knowledge.importers.drafts import LoreDraft
from knowledge.importers.entry_fields import make_draft
from knowledge.importers.files import Bundle, SourceFile
from knowledge.importers.markdown import note_encoding
from knowledge.importers.markup import PictureCollector, adopt_links, adopt_pictures, outside_code
from knowledge.importers.tables import LISTS, first_of, row_draft, table_rows
from retrieval.text import clean_text, slugify, string_list

ID = re.compile(r"(?:%20| )[0-9a-f]{32}(?=\.|/|_all\.|\Z)")
HEADING = re.compile(r"\A\s*#[ \t]+(.+?)[ \t]*\n")
PROPERTY = re.compile(r"([^:\n]{1,60}): (.+)")
KIND_PROPERTIES = ("type", "kind", "category")
ALL_ROWS = "_all.csv"


def is_notion(file: SourceFile, _bundle: Bundle) -> int:
    return 60 if ID.search(file.name) else 0


def read_notion(bundle: Bundle) -> Iterator[LoreDraft]:
    """Read pages, and the rows of databases that have no page."""
    pages = [file for file in bundle.files if file.suffix == ".md"]
    for file in pages:
        with bundle.problems_of(file.name):
            yield _read_page(bundle, file)
    # A database without its rows' pages is exported as a table alone.
    page_names = {(_plain(file.path.parent), _plain(file.path).stem) for file in pages}
    names = {file.name for file in bundle.files}
    for file in bundle.files:
        is_copy = file.name.replace(".csv", ALL_ROWS) in names
        if file.suffix == ".csv" and not is_copy:
            with bundle.problems_of(file.name):
                yield from _read_rows(bundle, file, page_names)


def _read_page(bundle: Bundle, file: SourceFile) -> LoreDraft:
    note_encoding(bundle, file)
    text = clean_text(file.text)
    heading = HEADING.match(text)
    title = heading[1] if heading else _plain(file.path).stem
    body = text[heading.end() :] if heading else text
    properties, body = _split_properties(body)
    pictures = PictureCollector(bundle, file.path.parent.as_posix())
    body_line = text.count("\n") - body.count("\n") + 1
    body = outside_code(
        body, lambda part: adopt_links(ID.sub("", adopt_pictures(part, pictures)))
    ).strip()
    lower = {name.lower(): value for name, value in properties.items()}
    used = (*LISTS, *KIND_PROPERTIES)
    return make_draft(
        file.name,
        title=title,
        slug=slugify(title) or None,
        body=body,
        body_line=body_line,
        kind=first_of(lower, KIND_PROPERTIES),
        folder=_folder(bundle, file),
        **{name: string_list(lower[name]) for name in LISTS if lower.get(name)},
        source=f"notion:{file.path.name}",
        fields={name: value for name, value in properties.items() if name.lower() not in used},
        pictures=tuple(pictures.pictures),
    )


def _read_rows(
    bundle: Bundle, file: SourceFile, page_names: set[tuple[PurePosixPath, str]]
) -> Iterator[LoreDraft]:
    database = _plain(file.path).with_suffix("")
    database = database.with_name(database.name.removesuffix("_all"))
    folder = "/".join(filter(None, (_folder(bundle, file), database.name)))
    for line, row in table_rows(file):
        name = next(iter(row.values()), "")  # the first column is the title of the page
        if (database, name) in page_names:
            continue
        with bundle.problems_of(file.name, line=line):
            fields = {"title": name, **dict(list(row.items())[1:]), "folder": folder}
            yield row_draft(fields, file=file.name, line=line, source=f"notion:{file.path.name}")


def _split_properties(body: str) -> tuple[dict[str, str], str]:
    """Take the lines `Name: value` off the top of a page."""
    properties: dict[str, str] = {}
    lines = body.lstrip("\n").split("\n")
    while lines and (found := PROPERTY.fullmatch(lines[0])):
        properties[found[1].strip()] = adopt_links(ID.sub("", found[2].strip()))
        lines.pop(0)
    # A paragraph that happens to hold a colon is no property: those end with an empty line.
    if properties and lines and lines[0].strip():
        return {}, body
    return properties, "\n".join(lines)


def _plain(path: PurePosixPath) -> PurePosixPath:
    return PurePosixPath(ID.sub("", path.as_posix()))


def _folder(bundle: Bundle, file: SourceFile) -> str:
    return ID.sub("", bundle.folder_of(file))
