"""Read the texts of the site: what the sources ask to be translated, what the catalogues answer. No
gettext needed.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.template import Engine
from django.templatetags.i18n import BlockTranslateNode, TranslateNode

PACKAGES = (
    "art",
    "episodes",
    "knowledge",
    "memories",
    "memory_site",
    "npcs",
    "retrieval",
    "worlds",
)
CALLS = {"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy"}
PLACEHOLDER = re.compile(r"%\(\w+\)|%[.\d]*[a-z%]|\{\w*\}")
LINE = re.compile(r'^(msgctxt|msgid|msgid_plural|msgstr|msgstr\[\d\])? ?(".*")$')


@dataclass
class Entry:
    """One text of a catalogue."""

    source: str
    plural: str
    translations: list[str]
    fuzzy: bool
    context: str = ""


def catalogue(language: str) -> Path:
    return settings.BASE_DIR / "memory_site/locale" / language / "LC_MESSAGES/django.po"


def read_po(path: Path) -> list[Entry]:
    """All entries after the header."""
    return [_entry(block) for block in path.read_text().strip().split("\n\n")[1:]]


def _entry(block: str) -> Entry:
    fields: dict[str, str] = {}
    name = ""
    for line in block.splitlines():
        if found := LINE.match(line):
            name = found[1] or name
            fields[name] = fields.get(name, "") + ast.literal_eval(found[2])
    translations = [text for name, text in fields.items() if name.startswith("msgstr")]
    is_fuzzy = "\n#, fuzzy" in "\n" + block
    plural, context = fields.get("msgid_plural", ""), fields.get("msgctxt", "")
    return Entry(fields["msgid"], plural, translations, is_fuzzy, context)


def asked() -> set[str]:
    """Every text that our code and templates ask to be translated."""
    modules = (path for package in PACKAGES for path in (settings.BASE_DIR / package).rglob("*.py"))
    pages = (settings.BASE_DIR / "templates").rglob("*.html")
    in_code = {text for path in modules for text in _of_module(path)}
    return in_code | {text for path in pages for text in _of_template(path)}


def _of_module(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in CALLS
            and node.args
        ):
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def _of_template(path: Path) -> Iterator[str]:
    template = Engine.get_default().from_string(path.read_text())
    for node in template.nodelist.get_nodes_by_type(TranslateNode):
        yield str(node.filter_expression.var.literal)
    for node in template.nodelist.get_nodes_by_type(BlockTranslateNode):
        yield node.render_token_list(node.singular)[0]
