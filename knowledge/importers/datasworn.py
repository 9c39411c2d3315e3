"""Datasworn: rulesets and expansions of Ironsworn and its kin. Oracles are roll tables; moves,
assets, foes, places, truths and the basics of the rules are entries, in folders of their
collections."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from knowledge.importers.drafts import BookHeader, LoreDraft
from knowledge.importers.entry_fields import fields_except, make_draft
from knowledge.importers.entry_text import (
    DEEPEST,
    as_dict,
    as_list,
    heading_of,
    join_blocks,
    licence_name,
    link_to,
    named_paragraph,
    readable,
    section,
    source_line,
    stat_table,
    table,
)
from knowledge.importers.files import Bundle, SourceFile
from retrieval.errors import Invalid

Node = dict[str, Any]

# Links are `[words](id:classic/moves/…)`, since version 0.1 `[words](datasworn:move:classic/…)`.
LINK = re.compile(r"\[([^\[\]\n]{0,300})\]\((?:id|datasworn):([^()\s]{1,300})\)")
MACRO = re.compile(r"\{\{(\w{1,40})[:>]([^{}\s]{1,300})\}\}")
KINDS = {
    "oracles": "roll table",
    "moves": "move",
    "assets": "asset",
    "atlas": "place",
    "npcs": "foe",
    "truths": "truth",
    "rarities": "item",
    "delve_sites": "place",
    "site_domains": "site domain",
    "site_themes": "site theme",
}
"""The parts of a ruleset, and the word for what an entry of each is. The NPCs of a ruleset are
kinds of foes, no persons."""
NAMES_OF_PARTS = {"npcs": "foes"}
ROOTS = ("ruleset", "expansion")
FACTS = ("category", "rank", "nature", "roll_type", "dice", "region", "theme", "domain", "asset")
LISTS = ("features", "drives", "tactics", "dangers", "denizens")
TEXTS = ("requirement", "summary", "text", "description")
ENDS = ("quest_starter", "your_truth", "extension")
KNOWN = (
    *("_id", "_source", "_comment", "_i18n", "type", "name", "label", "canonical_name", "contents"),
    *("collections", "rows", "column_labels", "abilities", "options", "variants", "icon", "images"),
    *("oracle_type", "trigger", "outcomes", "oracles", "moves", "suggestions", "title", "_index"),
    *FACTS,
    *LISTS,
    *TEXTS,
    *ENDS,
)
OUTCOMES = {"strong_hit": "Strong hit", "weak_hit": "Weak hit", "miss": "Miss"}
COLUMNS = ("text", "text2", "text3")


def is_datasworn(file: SourceFile, _bundle: Bundle) -> int:
    root = as_dict(file.json())
    if "datasworn_version" in root:
        return 90
    return 75 if root.get("type") in ROOTS and any(name in root for name in KINDS) else 0


@dataclass(frozen=True)
class RulesetPlace:
    """A node of a ruleset: the part that it is in, and the folder of its collections."""

    node: Node
    part: str
    folder: str
    file: SourceFile
    path: str

    @property
    def id(self) -> str:
        """The id without the type that version 0.1 puts before it."""
        return str(self.node.get("_id") or self.path).rpartition(":")[2]

    @property
    def name(self) -> str:
        node = self.node
        names = (node.get("name"), node.get("title"), node.get("label"))
        return next((str(name) for name in names if name), heading_of(self.path.split("/")[-1]))

    @property
    def is_collection(self) -> bool:
        return "contents" in self.node or "collections" in self.node


def read_datasworn(bundle: Bundle) -> Iterator[LoreDraft]:
    places: list[RulesetPlace] = []
    roots: list[tuple[SourceFile, Node]] = []
    for file in bundle.files:
        with bundle.problems_of(file.name):
            root = file.json()
            if not isinstance(root, dict) or not any(name in root for name in (*KINDS, "rules")):
                raise Invalid(_("The file holds no ruleset of Datasworn."))
            roots.append((file, root))
            bundle.books.append(_book_header(file, root))
            for part in KINDS:
                with bundle.problems_of(f"{file.name}: {part}"):
                    name = NAMES_OF_PARTS.get(part, part)
                    folder = f"{_title(file, root)}/{heading_of(name)}"
                    places += _walk(as_dict(root.get(part)), part, folder, file=file, path=part)
    titles = titles_of(places)
    for file, root in roots:
        with bundle.problems_of(f"{file.name}: rules"):
            if rules := as_dict(root.get("rules")):
                yield _rules_draft(file, root, rules, RulesetTexts(titles))
    for place in places:
        with bundle.problems_of(f"{place.file.name}: {place.path}"):
            if not place.is_collection or any(place.node.get(name) for name in TEXTS):
                yield _draft(place, titles)


def _title(file: SourceFile, root: Node) -> str:
    return str(root.get("title") or heading_of(str(root.get("_id") or file.path.stem))).replace(
        "/", " "
    )


def _book_header(file: SourceFile, root: Node) -> BookHeader:
    title, licence = _title(file, root), str(root.get("license") or "").strip()
    is_address = licence.startswith(("https://", "http://"))
    name = licence_name(licence) if is_address else licence
    attribution = (title, _authors(root), str(root.get("url") or ""))
    return BookHeader(
        title, name, licence if is_address else "", ", ".join(filter(None, attribution))
    )


def _authors(about: Node) -> str:
    names = (str(as_dict(each).get("name") or "") for each in as_list(about.get("authors")))
    return ", ".join(names)


def _walk(
    nodes: Node, part: str, folder: str, *, file: SourceFile, path: str, depth: int = 0
) -> Iterator[RulesetPlace]:
    if depth > DEEPEST:
        raise Invalid(_("The data is nested too deeply."))
    for key, node in nodes.items():
        if not isinstance(node, dict):
            raise Invalid(_("This is no object with a name."))
        place = RulesetPlace(node, part, folder, file, f"{path}/{key}")
        yield place
        inner = f"{folder}/{place.name.replace('/', ' ')}"
        for name in ("contents", "collections"):
            children = as_dict(node.get(name))
            where = place.path
            yield from _walk(children, part, inner, file=file, path=where, depth=depth + 1)


def titles_of(places: list[RulesetPlace]) -> dict[str, str]:
    """Titles by the id. Names such as "Features" occur often: then the collection is named, too."""
    counts = Counter(place.name.lower() for place in places)
    titles = {}
    for place in places:
        collection = place.folder.rpartition("/")[2]
        is_unique = counts[place.name.lower()] == 1
        titles[place.id] = place.name if is_unique else f"{place.name} ({collection})"
    return titles


def _draft(place: RulesetPlace, titles: dict[str, str]) -> LoreDraft:
    node = place.node
    name = titles[place.id]
    canonical = node.get("canonical_name")
    aliases = [str(canonical)] if canonical and canonical != name else []
    kind = "collection" if place.is_collection else KINDS[place.part]
    return make_draft(
        f"{place.file.name}: {place.path}",
        file=place.file.name,
        title=name,
        kind=kind,
        is_rule=True,
        body=RulesetTexts(titles).body(node),
        aliases=aliases,
        tags=[NAMES_OF_PARTS.get(place.part, place.part).replace("_", " ")],
        folder=place.folder,
        source=f"datasworn:{place.id}",
        extra=fields_except(node, *KNOWN),
    )


def _rules_draft(file: SourceFile, root: Node, rules: Node, texts: "RulesetTexts") -> LoreDraft:
    """Stats, meters and impacts, one section each."""
    sections = []
    for name, group in rules.items():
        lines = [texts.rule_line(key, each) for key, each in as_dict(group).items()]
        sections.append(section(heading_of(name), "\n".join(filter(None, lines))))
    title = _title(file, root)
    return make_draft(
        f"{file.name}: rules",
        file=file.name,
        title=_("%(name)s: basics of the rules") % {"name": title},
        kind="rule",
        is_rule=True,
        body=join_blocks([texts.text(root.get("description")), *sections, texts.source(root)]),
        tags=["rules"],
        folder=title,
        source=f"datasworn:{root.get('_id') or file.path.stem}/rules",
        extra=fields_except(root, *KINDS, *KNOWN, "rules", "ruleset", *SOURCE_FIELDS),
    )


SOURCE_FIELDS = ("datasworn_version", "authors", "date", "url", "license", "page")


class RulesetTexts:
    """Writes the texts of nodes; `titles` by id are those that links name."""

    def __init__(self, titles: dict[str, str]) -> None:
        self.titles = titles

    def body(self, node: Node, *, depth: int = 0) -> str:
        if depth > DEEPEST:
            raise Invalid(_("The data is nested too deeply."))
        texts = list(dict.fromkeys(self.text(node.get(name)) for name in TEXTS))
        facts = {heading_of(name): self._fact(node.get(name)) for name in FACTS}
        return join_blocks(
            [
                stat_table(facts),
                *texts,
                "" if node.get("text") else self._outcomes(node),
                self._rows(node.get("rows"), as_dict(node.get("column_labels"))),
                self._abilities(node, depth),
                self._options(node),
                *(self._list(name, node.get(name)) for name in LISTS),
                *self._inner(node, depth),
                *(
                    section(heading_of(name), self.text(node.get(name)), level=3)
                    for name in ENDS
                    if isinstance(node.get(name), str)
                ),
                self.source(node),
            ]
        )

    def text(self, value: Any) -> str:
        if not isinstance(value, str):
            return ""
        text = MACRO.sub(lambda found: self._link(found[2], ""), value)
        return LINK.sub(lambda found: self._link(found[2], found[1]), text).strip()

    def source(self, node: Node) -> str:
        about = as_dict(node.get("_source")) or (node if "license" in node else {})
        page = about.get("page")
        words = _("page %(number)s") % {"number": page} if page else ""
        return source_line(
            about.get("title"), words, _authors(about), about.get("license") or about.get("url")
        )

    def rule_line(self, key: str, rule: Any) -> str:
        about = as_dict(rule)
        text = self.text(about.get("description"))
        bounds = [about.get(name) for name in ("min", "max")]
        if all(isinstance(each, int) for each in bounds):
            text = f"{text} ({bounds[0]} to {bounds[1]})".strip()
        lines = [f"- {named_paragraph(str(about.get('label') or heading_of(key)), text)}"]
        for inner_key, inner in as_dict(about.get("contents")).items():
            label = str(as_dict(inner).get("label") or inner_key)
            lines.append(
                f"  - {named_paragraph(label, self.text(as_dict(inner).get('description')))}"
            )
        return "\n".join(lines)

    def _link(self, target: str, words: str) -> str:
        title = self.titles.get(target.rpartition(":")[2], "")
        return link_to(title, words) if title else words

    def _fact(self, value: Any) -> str:
        """A word, or the id of another node."""
        text = readable(value)
        return self._link(text, "") or text.replace("_", " ")

    def _outcomes(self, node: Node) -> str:
        outcomes = as_dict(node.get("outcomes"))
        trigger = self.text(as_dict(node.get("trigger")).get("text"))
        texts = [
            named_paragraph(words, self.text(as_dict(outcomes.get(name)).get("text")))
            for name, words in OUTCOMES.items()
            if outcomes.get(name)
        ]
        return join_blocks([trigger, *texts])

    def _rows(self, rows: Any, labels: Node) -> str:
        """A table of results: the roll and its texts."""
        found = [as_dict(row) for row in as_list(rows)]
        columns = [name for name in COLUMNS if any(row.get(name) for row in found)] or ["text"]
        names = [str(labels.get(name) or heading_of(name.rstrip("23"))) for name in columns]
        lines = [[_roll(row), *(self._cell(row.get(name)) for name in columns)] for row in found]
        return table([str(labels.get("roll") or "Roll"), *names], lines) if lines else ""

    def _cell(self, value: Any) -> str:
        return self.text(value).replace("\n\n", " ")

    def _abilities(self, node: Node, depth: int) -> str:
        lines = []
        for ability in as_list(node.get("abilities")):
            about = as_dict(ability)
            box = "☑" if about.get("enabled") else "☐"
            name = f"**{about['name']}.** " if about.get("name") else ""
            text = f"{name}{self.text(about.get('text'))}".replace("\n", "\n  ")
            lines.append(f"- {box} {text}")
            lines += [
                f"  {line}"
                for part in self._inner(about, depth)
                for line in ["", *part.split("\n")]
            ]
        return "\n".join(lines)

    def _inner(self, node: Node, depth: int) -> Iterator[str]:
        """Moves and oracles inside a node, and the variants of a foe."""
        for name in ("moves", "oracles", "variants"):
            for key, inner in as_dict(node.get(name)).items():
                title = str(as_dict(inner).get("name") or heading_of(key))
                yield section(title, self.body(as_dict(inner), depth=depth + 1), level=4)

    def _options(self, node: Node) -> str:
        """The choices of a truth, or the fields that a player fills in on an asset."""
        options = node.get("options")
        if isinstance(options, dict):
            labels = [str(as_dict(each).get("label") or key) for key, each in options.items()]
            return "\n".join(f"- {label}: …" for label in labels)
        parts = []
        for option in as_list(options):
            about = as_dict(option)
            texts = [self.text(about.get(name)) for name in ("summary", "description")]
            texts += [self._rows(as_dict(about.get("table")).get("rows"), {})]
            starter = self.text(about.get("quest_starter"))
            texts += [named_paragraph("Quest starter", starter) if starter else ""]
            parts.append(section(_roll(about) or "—", join_blocks(texts), level=3))
        return join_blocks(parts)

    def _list(self, name: str, value: Any) -> str:
        values = as_list(value)
        if values and all(isinstance(each, dict) for each in values):
            rows = [
                {
                    **each,
                    "text": each.get("text") or each.get("name") or self._fact(each.get("npc")),
                }
                for each in values
            ]
            text = self._rows(rows, {})
        else:
            text = "\n".join(f"- {self.text(each)}" for each in values if isinstance(each, str))
        return section(heading_of(name), text, level=3)


def _roll(row: Node) -> str:
    """`1–33`; version 0.1 puts both ends into `roll`."""
    ends = as_dict(row.get("roll")) or row
    low, high = ends.get("min"), ends.get("max")
    if low is None or high is None:
        return ""
    return str(low) if low == high else f"{low}–{high}"
