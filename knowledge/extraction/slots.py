"""A sentence with slots for its names, and with its punctuation: `M0 , miller , owns M1`.

Pronouns become slots of whom they mean. Names in quotation marks or with capitals that are of no
entity are `X0`: they may be aliases."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from knowledge.extraction.findings import TextSentence
from knowledge.extraction.lexicon import TextLexicon, text_lexicon
from knowledge.extraction.new_names import name_lexicon
from knowledge.extraction.russian_names import MEN_IN_A
from knowledge.fact_check.lexicon import lexicon
from knowledge.fact_check.name_slots import joined_mentions, with_slots
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphNode, NodeKind
from retrieval.text import NameMention, Word, fold_name, has_hangul, name_words, text_forms

MEN = MEN_IN_A | {
    *("илья", "никита", "фома", "савва", "лука", "кузьма", "данила", "гаврила", "миша", "саша"),
    *("тиша", "сенька", "гришка", "ванька", "петя", "ваня", "коля", "митя", "вася"),
}
HOLDERS = (NodeKind.FACTION, NodeKind.LOCATION)
MOST_SLOTS = 10
"""A slot is one digit."""
QUOTED = re.compile(r"[«“\"„‘'‹「『](?P<name>[^«»“”\"„‘’'‹›「」『』]{2,60})[»”\"“’'›」』]")
CAPITALISED = re.compile(
    r"(?<![\w’'-])[A-ZА-ЯЁ][\w’'-]*(?:[ ](?:(?:of|the|de|von|van|af|in|на|в|из|of the)[ ])?"
    r"[A-ZА-ЯЁ][\w’'-]*)*"
)
SLOTS = re.compile(r"(\S+ )?(?<!\S)M(\d)\S*")
X_SLOT = re.compile(r"X\d$")
CLOSING = "’'”\"»」』"
PUNCTUATION = {",": ",", ";": ";", ":": ":", "(": "(", ")": ")", "—": "-", "–": "-"}


@dataclass
class SlottedSentence:
    """`text` with slots; `nodes` by the number of the slot, `others` the names of `X`."""

    sentence: TextSentence
    text: str
    nodes: list[GraphNode]
    others: list[str] = field(default_factory=list)

    def node(self, slot: str) -> GraphNode:
        return self.nodes[int(slot[1:])]


@dataclass
class OpenSentence:
    """A sentence while slots are put into it. `present` are those named so far, in order."""

    row: SlottedSentence
    mentions: Sequence[NameMention]
    spans: Sequence[tuple[int, int]]
    parts: list[str] = field(default_factory=list)
    present: list[GraphNode] = field(default_factory=list)

    @cached_property
    def words(self) -> list[Word]:
        return name_words(self.row.sentence.text)


@dataclass
class Salience:
    """Whom pronouns may mean: what the sentences before have named, the subject first."""

    nodes: list[GraphNode] = field(default_factory=list)
    sexes: dict[object, str] = field(default_factory=dict)
    roles: dict[str, GraphNode] = field(default_factory=dict)
    """Whom `the queen` or `the guild` means: who was called so last."""
    every: set[object] = field(default_factory=set)
    language: str = "en"
    about: GraphNode | None = None
    """The entity that the text is about."""
    topic: GraphNode | None = None
    """The only group or place whose offices a text may mean without saying whose they are."""
    has_rivals: bool = False

    def name_topic(self, node: GraphNode) -> None:
        """Take the first group or place that a text names for what it is about; none once it has
        named another group."""
        if node.kind not in HOLDERS or node is self.topic:
            return
        if self.topic is None and not self.has_rivals:
            self.topic = node
        elif self.topic and (node.kind == NodeKind.FACTION or self.topic.kind == node.kind):
            self.topic, self.has_rivals = None, True

    def _is_about_thing(self) -> bool:
        return self.about is not None and self.about.kind != NodeKind.CHARACTER

    def referent(
        self, sex: str, current: Sequence[GraphNode], *, begins: bool = True
    ) -> GraphNode | None:
        """Return whom a pronoun means. `begins`: it is the first word of its sentence."""
        for candidates in (current, self.nodes):
            fitting = [node for node in candidates if self._fits(node, sex)]
            certain = [node for node in fitting if self.sex_of(node) == sex]
            if sex == "n":
                # What a text is about is `it`; in a sentence, of several other things none is.
                if self.about in fitting or self._is_about_thing():
                    return self.about
                if len(fitting) > 1 and not begins:
                    return None
            if fitting:
                return (certain or fitting)[0]
        return None

    def sex_of(self, node: GraphNode) -> str:
        """Return `m`, `f` or nothing: as the text tells, else by the ending of a Russian name."""
        if known := self.sexes.get(node.pk):
            return known
        if self.language != "ru" or node.kind != NodeKind.CHARACTER:
            return ""
        first = node.name.split()[0].lower()
        return "f" if first[-1] in "ая" and first not in MEN else "m"

    def _fits(self, node: GraphNode, sex: str) -> bool:
        if sex == "a":
            return True
        if sex == "n":
            return node.kind != NodeKind.CHARACTER
        if node.kind != NodeKind.CHARACTER:
            return False
        return sex == "c" or self.sex_of(node) in ("", sex)


class SentenceSlotter:
    """Puts slots into the sentences of one text, in order."""

    def __init__(self, linker: EntityLinker, language: str) -> None:
        self.linker = linker
        self.words: TextLexicon = text_lexicon(language)
        self.statements = lexicon(language)
        self.salience = Salience(language=language)
        self.names = name_lexicon(language)
        self.language = language

    def put_slots(self, sentence: TextSentence) -> SlottedSentence:
        every = (self._clear(m) for m in joined_mentions(sentence.text, self.linker))
        mentions = [each for each in every if not (each.ambiguous or self._is_role(each))]
        mentions = mentions[: MOST_SLOTS - 3]
        nodes = [self.linker.node_of(mention) for mention in mentions]
        others, spans = self._other_names(sentence.text, mentions)
        row = SlottedSentence(sentence, "", list(nodes), others)
        row.text = self._tokens(OpenSentence(row, mentions, spans))
        # Before titles go: `the captain M0` may be the captain of whom the text is about.
        row.text = self._tidy(self._with_subject(row, self._with_holders(row)))
        slots = _subjects_first(row.text, self.words.data["oblique"])
        named = [(row.nodes[number], is_oblique) for number, is_oblique in slots]
        self.salience.nodes = [node for node, _is_oblique in named] or self.salience.nodes
        for node, is_oblique in named:
            if not is_oblique or self.salience.topic is None:
                self.salience.name_topic(node)
        return row

    def _with_holders(self, row: SlottedSentence) -> str:
        """Say whose office it is where a text leaves it out: `the abbess, M0, sleeps` is of the
        abbey that the text is about. A Korean sentence may leave out its subject, too."""
        data, holder = self.words.data, self._holder(row)
        if holder is None:
            return row.text

        def add_holder(found: re.Match[str]) -> str:
            held = found["office"] or found["seat"]
            return found[0].replace(
                held, f"{self._slot_of(holder, row, data['possessive'])} {held}", 1
            )

        text = self.words.holder.sub(add_holder, row.text)
        if (missing := data.get("no_subject")) and re.search(missing, text):
            text = f"{self._slot_of(holder, row, data['subject_ending'])} {text}"
        return text.strip()

    def _holder(self, row: SlottedSentence) -> GraphNode | None:
        """Return whose an office is of which a sentence does not say it: what the entry is about,
        else what the text has named, if that was just now."""
        about, topic = self.salience.about, self.salience.topic
        if about is not None and about.kind in HOLDERS and not self._has_other_subject(about):
            return about
        # One that the sentences before last have named is not what the reader thinks of.
        return topic if topic in (*self.salience.nodes, *row.nodes) else None

    def _has_other_subject(self, about: GraphNode) -> bool:
        """Whether the sentence before speaks of something else of the kind of `about`."""
        return any(
            node.kind == about.kind and node is not about for node in self.salience.nodes[:1]
        )

    def _with_subject(self, row: SlottedSentence, text: str) -> str:
        """Say who `Captain of M0.` is: whom the text is about, until it has named others first.
        In Russian and Korean a whole sentence may leave out whom the entry is about."""
        about, nodes = self.salience.about, self.salience.nodes
        if about and self.words.dropped.search(text) and not self._has_other_subject(about):
            ending = self.words.data.get("subject_ending", "")
            return f"{self._slot_of(about, row, ending)} {text}"
        if about is None or about not in nodes[:1] or not self.words.fragment.search(text):
            return text
        slot = self._slot_of(about, row)
        said = self.words.data["fragment_of"].replace("M", slot)
        return self.words.fragment.sub(said, text) if slot else text

    def _is_role(self, mention: NameMention) -> bool:
        """Whether a part of a name is an ordinary word: `Masters` is not the master of somebody."""
        is_part = all(match.how == "part" for match in mention.matches)
        return is_part and fold_name(mention.text) in self.names.kinds

    def _clear(self, mention: NameMention) -> NameMention:
        """Of several that share a part of a name, the one that the text has named before."""
        if not mention.ambiguous or any(match.how != "part" for match in mention.matches):
            return mention
        named = [match for match in mention.matches if match.key in self.salience.every]
        return replace(mention, matches=tuple(named)) if len(named) == 1 else mention

    def _other_names(
        self, text: str, mentions: Sequence[NameMention]
    ) -> tuple[list[str], list[tuple[int, int]]]:
        """Return the names that are of no entity, and where they stand."""
        found: list[tuple[int, int, str]] = []
        for pattern in (QUOTED, CAPITALISED):
            for match in pattern.finditer(text):
                group = "name" if pattern is QUOTED else 0
                start, end = match.span(group)
                taken = [(m.start, m.end) for m in mentions] + [(s, e) for s, e, _n in found]
                is_word = start == 0 and self._is_ordinary(fold_name(match[0]))
                if not is_word and not any(start < e and s < end for s, e in taken):
                    found.append((start, end, match[group]))
        found = sorted(found)[:MOST_SLOTS]
        return [name for _s, _e, name in found], [(s, e) for s, e, _n in found]

    def _is_ordinary(self, word: str) -> bool:
        """Whether the first word of a sentence is a role, or the verb of one without a subject."""
        return word in self.names.kinds or bool(self.words.dropped.match(f"{word} "))

    def _tokens(self, sentence: OpenSentence) -> str:
        text, end = sentence.row.sentence.text, 0
        for number, word in enumerate(sentence.words):
            sentence.parts += _marks(text[end : word.start])
            end = word.end
            if not (self._add_name(sentence, number) or self._add_other_name(sentence, word)):
                sentence.parts.append(self._word(sentence, number))
        sentence.parts += _marks(text[end:])
        return " ".join(sentence.parts)

    def _add_name(self, sentence: OpenSentence, number: int) -> bool:
        """Add the slot of the entity that the word names, once for all words of a name."""
        word, parts = sentence.words[number], sentence.parts
        mentions = enumerate(sentence.mentions)
        at = next((n for n, m in mentions if m.start <= word.start < m.end), None)
        if at is None:
            return False
        if word.start == sentence.mentions[at].start:
            node = sentence.row.nodes[at]
            self._remember(node, parts, sentence.words[:number])
            parts.append(self._slot(sentence.mentions[at], at, node))
            sentence.present.append(node)
        elif parts and parts[-1] in PUNCTUATION.values():
            parts.pop()
        return True

    def _add_other_name(self, sentence: OpenSentence, word: Word) -> bool:
        """Add the slot of a name that is of no entity."""
        parts, spans = sentence.parts, enumerate(sentence.spans)
        span = next((n for n, (s, e) in spans if s <= word.start < e), None)
        if span is not None and word.raw not in self.words.data["not_names"]:
            # `The Order` is the one that the text has named.
            start, end = sentence.spans[span]
            is_alone = word.end == end and sentence.row.sentence.text[
                start : word.start
            ].lower() in (*("", "the "),)
            if is_alone and (slot := self._by_role(word, sentence.row)):
                parts.append(slot)
                return True
            if word.start == sentence.spans[span][0] or f"X{span}" not in parts:
                parts.append(f"X{span}")
            return True
        # A particle after a quoted name: `'붉은 왜가리'라고도`.
        before = sentence.row.sentence.text[word.start - 1]
        if has_hangul(word.raw) and before in CLOSING and parts and X_SLOT.match(parts[-1]):
            parts[-1] += f"_{word.norm}"
            return True
        return False

    def _word(self, sentence: OpenSentence, number: int) -> str:
        """Return the slot of whom a pronoun or `the queen` means, else the word."""
        word, words = sentence.words[number], sentence.words
        after = words[number + 1] if number + 1 < len(words) else None
        is_title = after and after.start in [m.start for m in sentence.mentions]
        slot = self._pronoun(sentence, number, follows=after.norm if after else "")
        if not slot and not is_title:
            slot = self._by_role(word, sentence.row)
        return slot or word.norm

    def _slot(self, mention: NameMention, number: int, node: GraphNode) -> str:
        alone = replace(mention, start=0, end=len(mention.text))
        ending = with_slots(mention.text, [alone], [node]).partition("_")[2]
        return f"M{number}_{ending}" if ending else f"M{number}"

    def _pronoun(self, sentence: OpenSentence, number: int, *, follows: str) -> str:
        """Return the slot for a pronoun, empty for another word or an unclear one."""
        word, row, present = sentence.words[number].norm, sentence.row, sentence.present
        kind = self.words.pronouns.get(word)
        if kind is None:
            return ""
        role, sex = kind[0], kind[1]
        ending = kind[2] if len(kind) > 2 else ""
        if role == "p" and sex == "a":
            sex = self._sex_of_possessor(word, follows)
        # A subject is not who the sentence has named before, as a rule; a possessor is.
        current = present if role != "s" or number > 3 else []
        if follows in self.words.data.get("called", ()):
            # Whom people call by a name is somebody, as a rule.
            person = str(self.words.data["sexes"].get(word, "c"))
            sex = person if self.salience.referent(person, current) else sex
        node = self.salience.referent(sex, current, begins=number == 0)
        if node is None:
            return ""
        if sex in ("m", "f"):
            self.salience.sexes.setdefault(node.pk, sex)
        present.append(node)
        return self._slot_of(node, row, ending)

    def _sex_of_possessor(self, word: str, follows: str) -> str:
        """`Её брат` is of a woman, `его староста` of a place, `его основал` of either."""
        if follows in self.names.kin:
            leads = self.words.data["nouns"]["leads"]
            if re.fullmatch(leads, follows):
                return "n"
            return str(self.words.data["sexes"].get(word, "c"))
        role = self.names.kinds.get(follows)
        if role and role[0] == "Item":
            return str(self.words.data["sexes"].get(word, "c"))
        return "a"

    def _slot_of(self, node: GraphNode, row: SlottedSentence, ending: str = "") -> str:
        if node not in row.nodes[:MOST_SLOTS]:
            if len(row.nodes) >= MOST_SLOTS:
                return ""
            row.nodes.append(node)
        slot = f"M{row.nodes.index(node)}"
        return f"{slot}_{ending}" if ending else slot

    def _remember(self, node: GraphNode, parts: Sequence[str], before: Sequence[Word]) -> None:
        """Remember what the text calls the entity: by the word before its name or in it."""
        self.salience.every.add(node.pk)
        for word in name_words(node.name):
            role = self.names.kinds.get(word.norm)
            if role and role[0] == node.kind != NodeKind.CHARACTER:
                self.salience.roles[role[1]] = node
        role = self.names.kinds.get(before[-1].norm) if before else None
        if role and role[0] == node.kind and parts and parts[-1] == before[-1].norm:
            self.salience.roles[role[1]] = node
            if sex := self.words.data["sexes"].get(role[1]):
                self.salience.sexes[node.pk] = sex

    def _by_role(self, word: Word, row: SlottedSentence) -> str:
        """Return the slot of whom `the queen` means."""
        role = self.names.kinds.get(word.norm)
        ending = ""
        if self.language == "ko":
            stem = next((s for s in text_forms(word.norm) if s in self.names.kinds), "")
            role, ending = self.names.kinds.get(stem), word.norm[len(stem) :]
        elif self.language == "ru" and role and fold_name(role[1]) != word.norm:
            ending = "x"
        node = self.salience.roles.get(role[1]) if role else None
        has_article = row.sentence.text[: word.start].lower().endswith(("the ", "this ", "that "))
        if node is None or (self.language == "en" and not has_article):
            return ""
        return self._slot_of(node, row, ending)

    def _tidy(self, text: str) -> str:
        """Remove fillers and titles; `M0 , who` keeps its commas."""
        # `Once` is no filler here: what was once is no fact.
        text = self.statements.fillers.sub(
            lambda found: found[0] if self.words.formerly.search(found[0]) else "", text
        )
        for _time in range(3):
            text = self.words.titles.sub("", re.sub(r"\s+", " ", text))
        if adverbs := self.words.data.get("adverbs"):
            text = re.sub(adverbs, "", text)
        for pattern, by in self.words.data.get("tidy", []):
            text = re.sub(pattern, by, text)
        return re.sub(r"\s+", " ", text).strip()


def _subjects_first(text: str, oblique: str) -> list[tuple[int, bool]]:
    """Return the slots in their order, those after a preposition or in an oblique case last: in `of
    the bridges of M0 only M1 stands` it is M1 that `it` means. And whether they are of these."""
    slots = [(int(found[2]), bool(re.search(oblique, found[0]))) for found in SLOTS.finditer(text)]
    return sorted(slots, key=lambda slot: slot[1])


def _marks(gap: str) -> list[str]:
    found = [PUNCTUATION[char] for char in gap if char in PUNCTUATION]
    if " - " in gap:
        found.append("-")
    return found
