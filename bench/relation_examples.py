"""What `bench.relation_training` trains with: texts with their names, and pairs of names with the
relation that a text gives them.

- `relation_passages_*.txt`: passages in which each name is marked once, `{P:Anna Roe}` (P person, L
  place, F faction, I item, E event), and after `=>` the relations of the names by their numbers
  (`1 leads 2`, in the words of `retrieval.named_relations`). Two names without a relation there
  have none.
- `relation_phrases.txt` (`bench.relation_phrases`), filled with names.
- Labelled passages of `bench.proposals` on which was worked before: their names, and the relations
  of those facts the words of which the lexicon knows.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from pathlib import Path

import yaml

import bench.django_apps  # noqa: F401
from bench.labelled_sets import DATA
from retrieval.named_relations.inventory import CLASSES, DIRECTED, MUTUAL, NONE, RelationClass
from retrieval.named_relations.marked_text import MarkedSpan, MarkedText
from retrieval.named_relations.windows import ReadText

KINDS = {"P": "person", "L": "place", "F": "faction", "I": "item", "E": "event"}
PROPOSALS = (
    ("proposals_development.jsonl", None),
    ("proposals_fourth_author.jsonl", None),
    ("proposals_fifth_author.jsonl", None),
    ("proposals_sixth_author.jsonl", "even"),
)
"""Sets and the half that is trained with, None for both."""
MARK = re.compile(r"\{([PLFIE]):([^{}]+)\}")
FACT = re.compile(r"(\d+) (\w+) (\d+)")
UNKNOWN = None
SOUNDS = (("이", "가"), ("은", "는"), ("을", "를"), ("과", "와"), ("이랑", "랑"), ("아", "야"))
"""Forms of Korean particles after a consonant and after a vowel."""


@dataclass(frozen=True)
class Mention:
    start: int
    end: int
    kind: str
    name: int
    """Which of the names of the text it is a mention of."""


@dataclass(frozen=True)
class LabelledText:
    """`relations`: of two names by their numbers (`a < b` by their first mention), as a class; None
    where it is not known. Pairs that are missing have none."""

    text: str
    mentions: tuple[Mention, ...]
    relations: dict[tuple[int, int], RelationClass | None] = field(default_factory=dict)
    source: str = ""


@dataclass(frozen=True)
class RelationExample:
    marked: MarkedText
    label: int


def read_passages(path: Path) -> Iterator[LabelledText]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                yield _read_passage(line)
            except (ValueError, IndexError) as error:
                raise ValueError(f"{path.name}:{number}: {error}") from error


def _read_passage(line: str) -> LabelledText:
    marks, _, facts = line.partition("=>")
    text, place = "", 0
    mentions: list[Mention] = []
    for match in MARK.finditer(marks):
        text += marks[place : match.start()]
        start = len(text)
        text += match[2]
        mentions.append(Mention(start, len(text), KINDS[match[1]], len(mentions)))
        place = match.end()
    text = (text + marks[place:]).rstrip()
    names = [text[each.start : each.end] for each in mentions]
    again = [
        Mention(found.start(), found.end(), each.kind, each.name)
        for each, name in zip(mentions, names, strict=True)
        for found in _repeated(text, name)
        if all(found.end() <= other.start or found.start() >= other.end for other in mentions)
    ]
    relations: dict[tuple[int, int], RelationClass | None] = {}
    for a, relation, b in FACT.findall(facts):
        put_relation(relations, int(a) - 1, relation, int(b) - 1, len(names))
    return LabelledText(text, tuple(sorted([*mentions, *again], key=by_place)), relations)


def by_place(mention: Mention) -> int:
    return mention.start


def _repeated(text: str, name: str) -> Iterator[re.Match[str]]:
    """Yield where a name, or the last or first word of it, stands again."""
    words = [name, *(w for w in name.split() if w[:1].isupper() and len(w) > 3)]
    in_latin = rf"\b(?:{'|'.join(map(re.escape, words))})(?=\b|['’])"
    yield from re.finditer(in_latin if name.isascii() else re.escape(name), text)


def put_relation(
    relations: dict[tuple[int, int], RelationClass | None],
    a: int,
    relation: str,
    b: int,
    count: int,
) -> None:
    if not (0 <= a < count and 0 <= b < count) or a == b:
        raise ValueError(f"no such names: {a + 1} {relation} {b + 1}")
    if relation not in (*DIRECTED, *MUTUAL, NONE):
        raise ValueError(f"no such relation: {relation}")
    pair, is_first = (min(a, b), max(a, b)), a < b or relation in MUTUAL
    relations.setdefault(pair, RelationClass(relation, is_first))


# --- relation_phrases.txt


@cache
def filling_names() -> dict[str, dict[str, list[str]]]:
    """Return the names that fill phrases, by language and letter of the kind."""
    names: dict[str, dict[str, list[str]]] = yaml.safe_load(
        (DATA / "relation_names.yaml").read_text(encoding="utf-8")
    )
    return names


def filled_phrases(chance: random.Random) -> Iterator[tuple[str, LabelledText]]:
    """Yield the language of each phrase and the phrase with names in it."""
    claim, kinds = NONE, ("P", "P")
    for line in (DATA / "relation_phrases.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            claim, *pair = line[1:].split()
            kinds = (pair[0], pair[1])
        elif line:
            language, text = line.split("\t")
            if text.count("{a}") == text.count("{b}") == 1:
                yield language, _filled(text, claim, kinds, language, chance)


def _filled(
    text: str, claim: str, kinds: tuple[str, str], language: str, chance: random.Random
) -> LabelledText:
    own = filling_names()[language]
    names = [chance.choice(own[kind]) for kind in kinds]
    while names[0] == names[1]:
        names[1] = chance.choice(own[kinds[1]])
    found: list[Mention] = []
    result, place = "", 0
    order = sorted((0, 1), key=lambda at: text.index("{" + "ab"[at] + "}"))
    for at in order:
        slot = "{" + "ab"[at] + "}"
        start = text.index(slot)
        result += text[place:start]
        begin = len(result)
        result += names[at]
        found.append(Mention(begin, len(result), KINDS[kinds[at]], len(found)))
        place = start + len(slot)
        if language == "ko":
            ending, place = _with_sound(names[at], text, place)
            result += ending
    result += text[place:]
    if language != "ko":
        result = result[:1].upper() + result[1:] + chance.choice([".", ".", ""])
    relations: dict[tuple[int, int], RelationClass | None] = {}
    if claim != NONE:
        a, b = (0, 1) if order[0] == 0 else (1, 0)
        put_relation(relations, a, claim, b, 2)
    return LabelledText(result, tuple(found), relations)


def _with_sound(name: str, text: str, place: int) -> tuple[str, int]:
    """Return the particle at `place` in the form that follows this name, and where it ends."""
    closed = (ord(name[-1]) - 0xAC00) % 28 > 0
    for pair in SOUNDS:
        for form in pair:
            if re.match(rf"{form}(?=[ .,]|$)", text[place:]):
                return pair[0] if closed else pair[1], place + len(form)
    if text[place : place + 1] == " " and text[:place].endswith("{a}"):
        return "은" if closed else "는", place
    return "", place


# --- passages of bench.proposals


def read_proposals(path: Path, half: str | None) -> Iterator[LabelledText]:
    from bench.proposals import kind_of, known_entity, same_name
    from knowledge.graph.entity_linking import EntityLinker
    from knowledge.graph.models import GraphNode

    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if half and row.get("half") != half:
            continue
        rows = [known_entity(each) for each in row["known"]]
        rows += [
            (each["name"], kind_of(each.get("entity_kind") or "person"), [])
            for each in row["expected"]
            if each["kind"] == "new"
        ]
        nodes = [GraphNode(name=name, kind=kind, aliases=al) for name, kind, al in rows]
        linker = EntityLinker(nodes, typos=False)
        order: dict[int, int] = {}
        mentions = []
        for each in linker.mentions(row["text"]):
            node = linker.node_of(each)
            kind = {"Character": "person", "Location": "place"}.get(node.kind, node.kind.lower())
            if each.ambiguous or kind not in KINDS.values():
                continue
            at = order.setdefault(nodes.index(node), len(order))
            mentions.append(Mention(each.start, each.end, kind, at))
        relations: dict[tuple[int, int], RelationClass | None] = {}
        for each in row["expected"]:
            if each["kind"] == "fact":
                ends = []
                for end in ("src", "dst"):
                    hits = [n for n, node in enumerate(nodes) if same_name(node.name, each[end])]
                    ends.append(order.get(hits[0]) if hits else None)
                a, b = ends
                if a is not None and b is not None and a != b:
                    _put_fact(relations, a, each, b)
        yield LabelledText(row["text"], tuple(mentions), relations, path.name)


CLAIMS = {
    **{each: (each, True) for each in (*DIRECTED, *MUTUAL)},
    "father": ("parent", True),
    "mother": ("parent", True),
    "child": ("parent", False),
    "son": ("parent", False),
    "daughter": ("parent", False),
    "brother": ("siblings", True),
    "sister": ("siblings", True),
    "husband": ("married", True),
    "wife": ("married", True),
    "employs": ("serves", False),
    "serves_in": ("works", True),
    "pupil": ("teacher", False),
    "patient": ("physician", False),
    "creditor": ("owes", False),
    "grandfather": ("grandparent", True),
    "grandmother": ("grandparent", True),
    "grandchild": ("grandparent", False),
    "grandson": ("grandparent", False),
    "granddaughter": ("grandparent", False),
    "uncle": ("uncle", True),
    "aunt": ("uncle", True),
    "nephew": ("uncle", False),
    "niece": ("uncle", False),
    "belongs": ("owns", False),
    "holds": ("owns", True),
}
CODES = {
    "OWNED_BY": ("owns", False),
    "OWNS": ("owns", True),
    "LOCATED_IN": ("located", True),
    "PART_OF": ("member", True),
    "ALLY_WITH": ("allied", True),
    "ENEMY_OF": ("enemy", True),
    "KNOWS": ("knows", True),
}


def _put_fact(
    relations: dict[tuple[int, int], RelationClass | None], a: int, fact: dict[str, str], b: int
) -> None:
    from knowledge.fact_check.labelled_facts import meanings_of

    found = CODES.get(fact.get("relation", ""))
    words = fact.get("words") or fact.get("label") or ""
    if found is None and not re.match(r"(?:former|once|was |ex-|belonged)", words):
        for meaning in meanings_of(words):
            if name := CLAIMS.get(_claim_name(meaning.kind)):
                found = (name[0], name[1] != meaning.is_swapped)
                break
    pair = (min(a, b), max(a, b))
    if found is None:
        relations.setdefault(pair, UNKNOWN)
        return
    relation, is_forward = found
    is_first = relation in MUTUAL or (a < b) == is_forward
    relations.setdefault(pair, RelationClass(relation, is_first))


def _claim_name(kind: object) -> str:
    from knowledge.fact_check.lexicon import claim_kinds

    return next((name for name, each in claim_kinds().items() if each is kind), "")


# --- examples


def examples_of(text: LabelledText) -> Iterator[RelationExample]:
    """Yield an example for each two names that are near enough to each other."""
    names = sorted({each.name for each in text.mentions})
    for a, b in combinations(names, 2):
        relation = text.relations.get((a, b), RelationClass(NONE))
        if relation is UNKNOWN:
            continue
        if window := marked_pair(text.text, text.mentions, a, b):
            yield RelationExample(window, CLASSES.index(relation))


def marked_pair(text: str, mentions: Sequence[Mention], a: int, b: int) -> MarkedText | None:

    own = [each for each in mentions if each.name in (a, b)]
    spans = [MarkedSpan(each.start, each.end, each.kind, each.name == a) for each in own]
    window = ReadText(text).window(spans)
    return window.marked if window else None


def relation_examples(texts: Iterable[LabelledText]) -> list[RelationExample]:
    return [example for text in texts for example in examples_of(text)]
