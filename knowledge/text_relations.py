"""Relations that a text states in a form: a line with a label, a list or a table under a heading.
Only links are targets; what a sentence says is left to people and models."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from knowledge.relation_words import KINSHIP_WORDS, TARGET_WORDS
from retrieval.text import find_links, fold_name, without_secrets

LABELLED = re.compile(
    r"^[ \t>]*(?:[-*+][ \t]+)?(?:\*\*|__)?(?P<label>[^\W\d_][^\n:*_\[\]|]{0,39}?)(?:\*\*|__)?"
    r"[ \t]*(?P<colon>::?)(?:\*\*|__)?[ \t]*(?P<value>\S.*)$"
)
HEADING = re.compile(r"^#{1,6}[ \t]+(?P<title>.+?)[ \t#]*$")
ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?:\*\*|__)?(?=\[\[)")
FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
LINK = re.compile(r"\[\[[^\]]*\]\]")
ASIDE = re.compile(r"\([^()]*\)")
"""What stands in parentheses is said about the target, not of another one."""
BETWEEN = re.compile(r"[\s*_.;·]*(?:,|;|/|&|\+|·|\band\b|\bи\b|와|과|및)?[\s*_]*", re.IGNORECASE)
"""What may stand between two targets; after any other words, a link belongs to a sentence."""

LABEL_WORDS = """
ally, allies, friend, friends, enemy, enemies, foe, foes, rival, rivals, nemesis, member of,
faction, factions, guild, organization, organisation, affiliation, allegiance, part of,
belongs to, parent, region, location, located in, lives in, home, residence, based in, base,
headquarters, owner, owned by, holder, owns, possessions, belongings, inventory, members,
leader, leaders, led by, head, ruler, ruled by, residents, inhabitants, places, districts,
participants, involves, family, relatives, sister, brother, mother, father, wife, husband,
spouse, son, daughter, child, children, parents, sibling, siblings, mentor, apprentice,
lover, knows, acquaintances, subgroups, owner of, holder of, sworn to, loyal to, serves,
vassal of, hometown, place of residence, lives at, birthplace, place of birth,
союзник, союзники, друг, друзья, враг, враги, соперник, соперники, фракция, фракции,
состоит в, входит в, часть, регион, место, дом, живёт в, живет в, находится в, владелец,
владеет, имущество, члены, участники, глава, лидер, правитель, жители, обитатели, семья,
сестра, брат, мать, отец, жена, муж, сын, дочь, дети, наставник, ученик, знаком с, штаб,
владелица, хозяин, хозяйка, принадлежит, место жительства, проживает, проживает в, родной город,
родина, место рождения, расположен в, расположена в, служит, присягнул, присягнула, верен, верна,
동맹, 동료, 친구, 적, 원수, 라이벌, 소속, 세력, 일부, 지역,
위치, 고향, 거주지, 본거지, 주인, 소유자, 소유, 소지품, 구성원, 회원, 지도자,
수장, 통치자, 주민, 거주자, 참가자, 가족, 자매, 누나, 언니, 여동생,
형, 오빠, 남동생, 어머니, 아버지, 아내, 남편, 배우자, 아들, 딸, 자녀,
스승, 제자, 연인, 지인, 사는 곳, 출생지, 섬기는 사람, 충성
"""
LABELS = frozenset(
    fold_name(label) for label in (*LABEL_WORDS.split(","), *KINSHIP_WORDS, *TARGET_WORDS)
)
"""What a label or a heading has to be; anything else is text."""


@dataclass(frozen=True)
class TextRelation:
    """What a text states about a link in it. `words` say what the entry is to the target, `quote`
    is the line; `private` is what nothing outside of secrets states."""

    target: str
    words: str
    quote: str
    private: bool = False

    @property
    def key(self) -> tuple[str, str, bool]:
        """The same in another version of the text, whose line may have changed."""
        return fold_name(self.target), self.words, self.private


@dataclass(frozen=True)
class TextLine:
    """A line of a text: the heading above it, if that is a label, and its number."""

    text: str
    heading: str
    number: int


def relations_in_text(body: str) -> list[TextRelation]:
    """Return the relations that the lines of `body` state, each once. Those that nothing outside
    its secrets states are private."""
    stated_openly = set(_relations_of(without_secrets(body)))
    return [
        replace(relation, private=relation not in stated_openly)
        for relation in dict.fromkeys(_relations_of(body))
    ]


def quotes_in(body: str) -> set[str]:
    """Return the lines of `body` that state relations."""
    return {relation.quote for relation in _relations_of(body)}


def _relations_of(body: str) -> Iterator[TextRelation]:
    if "[[" not in body:  # what a line states, it states of a link
        return
    lines = list(_lines(body))
    yield from _of_tables(lines)
    for line in lines:
        yield from _of_line(line)


def _lines(body: str) -> Iterator[TextLine]:
    heading, in_code = "", False
    for number, text in enumerate(body.splitlines()):
        if FENCE.match(text):
            in_code = not in_code
        elif in_code:
            continue
        elif match := HEADING.match(text):
            heading = label_in(match["title"])
        else:
            yield TextLine(text, heading, number)


def _of_line(line: TextLine) -> Iterator[TextRelation]:
    if line.text.lstrip().startswith("|"):
        return
    if match := LABELLED.match(line.text):
        # Two colons are a field of Dataview: whoever writes one means it.
        label = label_in(match["label"])
        label = label or (match["label"].strip() if match["colon"] == "::" else "")
        if label:
            yield from _drafts(label, targets_in(match["value"]), line)
            return
    if line.heading and ITEM.match(line.text):
        # Of an item the first link is what is listed; the others are said about it.
        yield from _drafts(line.heading, targets_in(item_of(line.text))[:1], line)


def _of_tables(lines: Sequence[TextLine]) -> Iterator[TextRelation]:
    """Yield the links in columns that are headed by a label, else, under a heading that is one,
    those in the first column."""
    columns: dict[int, str] = {}
    for above, line in zip([None, *lines], lines, strict=False):
        cells = cells_of(line.text)
        if not cells:
            columns = {}
        elif not above or not cells_of(above.text) or above.number != line.number - 1:
            labels = {at: label_in(cell) for at, cell in enumerate(cells)}
            columns = {at: label for at, label in labels.items() if label}
            columns = columns or ({0: line.heading} if line.heading else {})
        else:
            for at, label in columns.items():
                names = targets_in(cells[at]) if at < len(cells) else []
                yield from _drafts(label, names, line)


def _drafts(label: str, names: Sequence[str], line: TextLine) -> Iterator[TextRelation]:
    words = label.replace("_", " ").replace("-", " ")
    quoted = line.text.strip()[:400]
    for name in names:
        yield TextRelation(name, words, quoted)


def cells_of(line: str) -> list[str]:
    text = line.strip()
    if not text.startswith("|"):
        return []
    # A bar in a link stands between its target and its words.
    text = LINK.sub(lambda link: link[0].replace("\\|", "|").replace("|", "\0"), text)
    return [cell.replace("\0", "|").strip() for cell in text.strip("|").split("|")]


@lru_cache(maxsize=4_096)
def label_in(words: str) -> str:
    """Return the label that these words are, in lower case; "" if they are none."""
    label = words.strip(" \t*_:#").lower()
    return label if fold_name(label) in LABELS else ""


def item_of(line: str) -> str:
    """Return the text of a list item without its mark."""
    mark = ITEM.match(line)
    return line[mark.end() :] if mark else line


def targets_in(value: str) -> list[str]:
    """Return the names that `value` begins with, up to the first words of a sentence."""
    text = ASIDE.sub("", value)
    names, at = [], 0
    for link in find_links(text):
        if not BETWEEN.fullmatch(text[at : link.start]):
            break
        names.append(link.name)
        at = link.end
    return names
