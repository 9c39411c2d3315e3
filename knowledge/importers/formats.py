"""The formats that can be imported, and which of them each file of an upload is in.

To add one, write a module with two functions and name them in `FORMATS`: `recognise` tells from the
content of a file how sure it is (0: not mine), `read` yields drafts of its files."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from knowledge.importers import (
    character_cards,
    datasworn,
    fivetools,
    foundry,
    kanka,
    legendkeeper,
    lorebooks,
    markdown,
    notion,
    open5e,
    spreadsheets,
    srd,
    statblocks,
    tables,
    world_anvil,
)
from knowledge.importers.drafts import LoreDraft
from knowledge.importers.files import PICTURE_SUFFIXES, Bundle, SourceFile
from retrieval.errors import Invalid, Problem

PICTURE, UNKNOWN = "picture", ""


@dataclass(frozen=True)
class Format:
    """`recognise` gets a file of one of the `suffixes` and the whole upload. Of several formats the
    one that is surest reads the file; the order of the table decides a tie."""

    label: Any
    suffixes: tuple[str, ...]
    recognise: Callable[[SourceFile, Bundle], int]
    read: Callable[[Bundle], Iterator[LoreDraft]]


JSON, TEXT = (".json",), (".md", ".markdown", ".txt")
FORMATS: dict[str, Format] = {
    "json": Format(_("Memory37 lore (JSON)"), JSON, tables.is_own_json, tables.read_own_json),
    "markdown": Format(
        _("Memory37 lore (Markdown)"), TEXT, markdown.is_own_markdown, markdown.read_own_markdown
    ),
    "card": Format(
        _("Character card"), (".json", ".png"), character_cards.is_card, character_cards.read_cards
    ),
    "novelai": Format(
        _("NovelAI lorebook"),
        (".lorebook", ".json"),
        lorebooks.is_novelai,
        lorebooks.read_novelai,
    ),
    "sillytavern": Format(
        _("SillyTavern lorebook"), JSON, lorebooks.is_world_info, lorebooks.read_world_info
    ),
    "kanka": Format(_("Kanka"), JSON, kanka.is_kanka, kanka.read_kanka),
    "foundry": Format(
        _("Foundry VTT"),
        (".json", ".db", ".yml", ".yaml"),
        foundry.is_foundry,
        foundry.read_foundry,
    ),
    "fivetools": Format(_("5e.tools"), JSON, fivetools.is_fivetools, fivetools.read_fivetools),
    "open5e": Format(_("Open5e"), JSON, open5e.is_open5e, open5e.read_open5e),
    "statblocks": Format(
        _("Fantasy Statblocks"), JSON, statblocks.is_bestiary, statblocks.read_bestiaries
    ),
    "datasworn": Format(_("Datasworn"), JSON, datasworn.is_datasworn, datasworn.read_datasworn),
    "worldanvil": Format(
        _("World Anvil"), JSON, world_anvil.is_world_anvil, world_anvil.read_world_anvil
    ),
    "legendkeeper": Format(
        _("LegendKeeper"),
        (".lk", ".json"),
        legendkeeper.is_legendkeeper,
        legendkeeper.read_legendkeeper,
    ),
    "notion": Format(_("Notion"), (".md", ".csv"), notion.is_notion, notion.read_notion),
    "csv": Format(_("Table (CSV)"), (".csv", ".tsv"), tables.is_table, tables.read_csv),
    "xlsx": Format(
        _("Table (Excel)"), (".xlsx",), spreadsheets.is_workbook, spreadsheets.read_workbooks
    ),
    "srd": Format(
        _("System Reference Document (SQLite)"),
        (".sqlite3", ".sqlite", ".db"),
        srd.is_srd,
        srd.read_srd,
    ),
    "obsidian": Format(
        _("Obsidian or Markdown notes"), TEXT, markdown.is_note, markdown.read_vault
    ),
}


@dataclass(frozen=True)
class Recognition:
    """What a file was recognised as: the name of a format, `PICTURE` or `UNKNOWN`."""

    file: SourceFile
    format: str


def recognise_files(bundle: Bundle, *, format: str = "") -> list[Recognition]:
    """Tell the format of each file by its content; with `format`, of each that may be in it.
    Reports files that cannot be read."""
    if format and format not in FORMATS:
        raise Invalid(
            gettext("Unknown format %(format)r.") % {"format": format}, candidates=sorted(FORMATS)
        )
    return [Recognition(file, _format_of(file, bundle, format)) for file in bundle.files]


def _format_of(file: SourceFile, bundle: Bundle, format: str) -> str:
    fits = {
        name: each for name, each in FORMATS.items() if file.name.lower().endswith(each.suffixes)
    }
    if format in fits:
        return format
    scores: dict[str, int] = {}
    problems: list[Problem] = []
    if not format:
        for name, each in fits.items():
            try:
                scores[name] = each.recognise(file, bundle)
            except Problem as problem:
                problems.append(problem)
            except (
                RecursionError,
                ArithmeticError,
                AttributeError,
                LookupError,
                TypeError,
                ValueError,
            ):
                # A foreign file may hold anything where a format expects its own shape.
                scores[name] = 0
    best = max(scores, key=lambda name: scores[name], default="")
    if best and scores[best]:
        return best
    # What one format cannot read may be another's: only what none can read is a fault.
    for fault in problems:
        bundle.report_once(file.name, fault)
    return PICTURE if file.suffix in PICTURE_SUFFIXES else UNKNOWN


def read_files(bundle: Bundle, recognitions: list[Recognition]) -> Iterator[LoreDraft]:
    """Read every recognised file; problems go to the bundle, and reading goes on."""
    for name, each in FORMATS.items():
        files = [found.file for found in recognitions if found.format == name]
        if files:
            yield from each.read(bundle.with_files(files))
