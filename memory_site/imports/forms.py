"""The mapping of an import as its page asks for it, and back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from knowledge.importers.field_map import FIELD_USES, GROUPS
from knowledge.importers.formats import FORMATS
from knowledge.lore_kinds import LoreKind
from knowledge.models import Lore
from memory_site.imports.options import ImportOptions
from retrieval.text import clean_text
from worlds.audience_names import parties_with_characters
from worlds.models import ImportRun, World

Options = list[tuple[str, str]]
TEXTS = {"system": 200, "edition": 80, "book": 200}
"""Text fields of the form, with the most characters of each."""


@dataclass(frozen=True)
class Row:
    """A word that the page asks about. `name` is that of its form field."""

    name: str
    word: str
    count: int
    value: str
    example: str
    options: Options


@dataclass(frozen=True)
class Section:
    title: str
    help: str
    rows: list[Row]


def kind_options(world: World) -> Options:
    own = LoreKind.objects.filter(world=world).values_list("slug", "name")
    builtin = [(value, str(label)) for value, label in Lore.Kind.choices]
    return [("", _("says nothing")), *builtin, *((f"custom:{slug}", name) for slug, name in own)]


def audience_options(world: World) -> Options:
    return parties_with_characters(world)


def callout_options(parties: Options) -> Options:
    known = _("Secret that %(name)s know")
    return [
        ("", _("Quotation, as it is")),
        ("gm", _("Secret of the game master")),
        *((value, known % {"name": name}) for value, name in parties),
    ]


def use_options() -> Options:
    labels = {
        "extra": _("Keep as data"),
        "alias": _("Alias"),
        "tag": _("Tag"),
        "date": _("In-world date"),
        "relation": _("Relation"),
        "picture": _("Portrait"),
    }
    return [(use, labels[use]) for use in FIELD_USES]


def format_options() -> Options:
    return [("", _("Recognised by their content"))] + [
        (name, str(each.label)) for name, each in FORMATS.items()
    ]


def sections_of(run: ImportRun) -> list[Section]:
    """What the page asks about this upload; sections without words are left out."""
    asked: Mapping[str, Any] = run.report.get("asked", {})
    options = ImportOptions.model_validate(run.options)
    kinds, parties = kind_options(run.world), audience_options(run.world)
    texts = {
        "template": (_("Types and templates"), _("Which kind of entry is it?")),
        "folder": (_("Folders"), _("Of which kind are the entries in it?")),
        "tag": (_("Tags"), _("Of which kind are the entries that have it?")),
    }
    sections = [
        Section(
            *texts[group],
            _rows(f"kind:{group}", asked.get(group, ()), options.kinds, kinds, key=f"{group}:"),
        )
        for group in GROUPS
    ]
    callouts = callout_options(parties)
    help_callouts = _("Blocks that begin with [!word]. Who may read them?")
    help_fields = _("Of the front matter, or columns. Nothing is lost: the rest is kept as data.")
    rows = _rows("callout", asked.get("callouts", ()), options.callouts, callouts)
    sections.append(Section(_("Callouts"), help_callouts, rows))
    rows = _rows("field", asked.get("fields", ()), options.fields, use_options())
    sections.append(Section(_("Fields"), help_fields, rows))
    return [section for section in sections if section.rows]


def _rows(
    prefix: str,
    choices: Iterable[Any],
    chosen: Mapping[str, str],
    options: Options,
    *,
    key: str = "",
) -> list[Row]:
    values = {value for value, _label in options}
    rows = []
    for word, count, guess, example in choices:
        value = chosen.get(f"{key}{word}", guess)
        known = value if value in values else ""
        rows.append(Row(f"{prefix}:{word}", word, count, known, example, options))
    return rows


def options_from(run: ImportRun, data: QueryDict) -> dict[str, Any]:
    """Return the options that a form sends. Words and values that the page did not offer are
    ignored."""
    kinds: dict[str, str] = {}
    callouts: dict[str, str] = {}
    fields: dict[str, str] = {}
    for section in sections_of(run):
        for row in section.rows:
            value = data.get(row.name)
            if value is None or value not in {each for each, _label in row.options}:
                continue
            group, _colon, word = row.name.partition(":")
            {"kind": kinds, "callout": callouts, "field": fields}[group][word] = value
    visibilities = {"gm", "public", *(value for value, _name in audience_options(run.world))}
    choices = {
        "format": {"", *FORMATS},
        "status": {"draft", "published"},
        "visibility": visibilities,
        "existing": {"update", "overwrite", "skip"},
        "bad_files": {"skip", "refuse"},
        "target": {"lore", "rules"},
    }
    plain = {name: data[name] for name, known in choices.items() if data.get(name) in known}
    switches = {name: name in data for name in ("people", "pictures", "plays")}
    texts = {
        name: clean_text(str(data[name])).strip()[:most]
        for name, most in TEXTS.items()
        if name in data
    }
    return {
        **run.options,
        **plain,
        **texts,
        **switches,
        "kinds": kinds,
        "callouts": callouts,
        "fields": fields,
    }
