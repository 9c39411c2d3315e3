"""Which entity a statement means by a description: `the admiral`, `the capital`, `Dorrick's
daughter`, `the keeper of the atlas`.

A description is a noun of `data/descriptions.yaml`, alone or with the name of whom it belongs to.
It means the only entity of its kind whose name, in any language, has the noun, or of which the
label of a present fact says it. If there are two, it means none.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from uuid import UUID

from django.db.models import Q

from knowledge.fact_check.description_nouns import Noun, calls, has_noun, nouns_of
from knowledge.fact_check.description_words import (
    BETWEEN_NAME_AND_NOUN,
    BETWEEN_NOUN_AND_NAME,
    COPULA,
    DEFINITE,
    FORMER,
    IN_PLACE,
    INSIDE,
    PLURALS,
    TOPICS,
)
from knowledge.fact_check.labelled_facts import labelled_facts
from knowledge.fact_check.lexicon import bonds, claim_kinds, language_of
from knowledge.fact_check.name_slots import (
    DescribedMention,
    described_parts,
    inflection_of,
    slots_with_spans,
)
from knowledge.fact_check.related_names import related_names
from knowledge.fact_check.sexes import may_be_of_sex
from knowledge.fact_check.verdicts import has_ended, is_valid_on
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.labels import in_words
from knowledge.graph.models import GraphEdge, GraphNode, NodeKind
from knowledge.graph.protocol import View
from retrieval.text import NameMatch, NameMention, Word, name_words
from worlds.stored_names import index_of_names

MOST_READINGS, MOST_MEANT = 14, 2
MOST_FACTS = 200
Mentions = tuple[NameMention, ...]


class DescriptionReader:
    """Reads the descriptions of a sentence about the entities that `view` shows."""

    def __init__(self, sentence: str, linker: EntityLinker, view: View) -> None:
        self.sentence = sentence
        self.view = view
        self.language = language_of(sentence)
        self.nodes: dict[UUID, GraphNode] = {node.pk: node for node in linker.nodes}
        self.words = name_words(sentence)
        self._facts: dict[UUID, list[GraphEdge]] = {}
        self._alone: dict[Noun, set[UUID]] = {}
        self._joins_families = False

    @property
    def linker(self) -> EntityLinker:
        """Return a linker that knows the entities described, too."""
        return EntityLinker(list(self.nodes.values()))

    def readings(self, mentions: Sequence[NameMention]) -> Iterator[Mentions]:
        """Yield the mentions with one description for a name more, then with two, and so on."""
        seen: list[Mentions] = []
        shared = [m for m in mentions if m.ambiguous]
        factions = [
            [node for node in self._nodes_of(m) if node.kind == NodeKind.FACTION] for m in shared
        ]
        # `Averil and Dunmarrow made peace` are two houses.
        self._joins_families = len(shared) == len(mentions) == 2 and all(
            len(each) == 1 for each in factions
        )
        # The deepest first: a sentence is mostly understood when all of its descriptions are.
        waiting = list(self._unambiguous(tuple(mentions)))[::-1]
        while waiting and len(seen) < MOST_READINGS:
            state = waiting.pop()
            if state in seen:
                continue
            seen.append(state)
            # `The admiral is the commander of M0` says that she commands it, as long as the
            # admiral is not known: what is told of somebody is no description.
            is_open = any(map(self._tells, state)) and bool(self._free_nouns(state))
            if state != tuple(mentions) and not is_open:
                yield state
            new = [self._with(state, mention) for mention in self._descriptions(state)]
            keys = [[each.matches[0].key for each in more] for more in new]
            apart = [more for more, ids in zip(new, keys, strict=True) if len(set(ids)) == len(ids)]
            waiting.extend(apart[::-1])

    def _unambiguous(self, mentions: Mentions) -> Iterator[Mentions]:
        """Yield the mentions with the ambiguous ones told apart; those of a place or its siege as
        of the place first."""
        resolved = tuple(self._resolve(mention) for mention in mentions)
        yield resolved
        for n, mention in enumerate(mentions):
            kinds = {node.kind for node in self._nodes_of(mention)}
            other = tuple(m for m in mention.matches if m not in resolved[n].matches)
            if other and len(kinds) == len(mention.matches) == 2:
                one = replace(mention, matches=other)
                yield (*resolved[:n], one, *resolved[n + 1 :])

    def _nodes_of(self, mention: NameMention) -> list[GraphNode]:
        keys = {match.key for match in mention.matches if isinstance(match.key, UUID)}
        return [self.nodes[key] for key in keys if key in self.nodes]

    def _with(self, state: Mentions, new: NameMention) -> Mentions:
        apart = [m for m in state if m.end <= new.start or m.start >= new.end]
        return tuple(sorted([*apart, new], key=lambda mention: mention.start))

    def _resolve(self, mention: NameMention) -> NameMention:
        """Return an ambiguous mention as that of the entity which the words beside it, or its kind,
        tell apart: `Captain Fell`; a fort rather than its siege."""
        if not mention.ambiguous:
            return mention
        nodes = self._nodes_of(mention)
        beside = [
            word
            for n, word in enumerate(self.words)
            if mention.start <= word.start < mention.end
            or (self.words[n + 1 : n + 2] and self.words[n + 1].start == mention.start)
            or (n and self.words[n - 1].end == mention.end and self.language == "ko")
        ]
        nouns = [noun for word in beside for noun in nouns_of(word.norm) if noun.kind]
        told = {
            node.pk for noun in nouns for node in nodes if node.pk in self._described_alone(noun)
        }
        lasting = [node.pk for node in nodes if node.kind != NodeKind.EVENT]
        for fitting in (told, self._family(mention, nodes), set(lasting)):
            if len(fitting) == 1:
                kept = tuple(match for match in mention.matches if match.key in fitting)
                titles = [w for w in beside if w.start >= mention.end] if fitting is told else []
                end = titles[0].end if titles else mention.end
                return self._with_title(replace(mention, matches=kept), end)
        return mention

    def _family(self, mention: NameMention, nodes: Iterable[GraphNode]) -> set[UUID]:
        """Return the house, bank or clan that `the Kelds` means where people share its name."""
        plural = PLURALS.get(self.language)
        if not (plural and plural.fullmatch(mention.text)) and not self._joins_families:
            return set()
        return {node.pk for node in nodes if node.kind == NodeKind.FACTION}

    def _with_title(self, mention: NameMention, end: int) -> NameMention:
        """Return the mention with the title after it: `펠 선장의`."""
        if end == mention.end:
            return mention
        text = self.sentence[mention.start : end]
        ending = self._ending(next(w for w in self.words if w.end == end), text)
        return DescribedMention(text, mention.start, end, mention.matches, ending=ending)

    def _free_nouns(self, state: Mentions) -> list[Word]:
        return [
            word
            for word in self.words
            if not any(m.start <= word.start < m.end for m in state)
            if nouns_of(word.norm)
        ]

    def _tells(self, mention: NameMention) -> bool:
        is_described = isinstance(mention, DescribedMention)
        return is_described and any(
            self._is_predicate(word)
            for word in self.words
            if mention.start <= word.start < mention.end and nouns_of(word.norm)
        )

    def _descriptions(self, state: Mentions) -> Iterator[NameMention]:
        """Yield the descriptions in what the mentions leave, those with a name first, and those
        that are told of somebody last."""
        yield from self._places_of(state)
        yield from self._clauses_about(state)
        for mention in described_parts(self.sentence, state, self.linker):
            if not any(nouns_of(word.norm) for word in name_words(mention.text)):
                yield mention
        free = self._free_nouns(state)
        free = free if self.language == "ko" else free[::-1]
        free.sort(key=self._is_predicate)
        for word in free:
            for owner in state:
                if not owner.ambiguous and (span := self._span_with(word, owner)):
                    key = owner.matches[0].key
                    assert isinstance(key, UUID)
                    yield from self._mention(word, span, self._described_with(word, key))
        for word in free:
            if former := self._former(word):
                over = {k for n in nouns_of(word.norm) if n.kind for k in self._formerly(n)}
                if len(over) == 1:
                    yield from self._mention(word, (former.start, word.end), over)
            elif self.language != "en" or DEFINITE.search(self.sentence[: word.start]):
                alone = {
                    key
                    for noun in nouns_of(word.norm)
                    if noun.kind
                    for key in self._described_alone(noun)
                }
                if len(alone) == 1:
                    for mention in self._mention(word, (word.start, word.end), alone):
                        yield replace(mention, is_definite=self._is_definite(word, mention.ending))

    def _places_of(self, state: Mentions) -> Iterator[NameMention]:
        """Yield the names with the place where they are: `the fort on Murn` is the fort."""
        for one, other in pairwise(state):
            if one.ambiguous or other.ambiguous:
                continue
            name, place = (other, one) if self.language == "ko" else (one, other)
            between = self.sentence[one.end : other.start]
            link = IN_PLACE[self.language].fullmatch(between)
            key = name.matches[0].key
            if link and isinstance(key, UUID) and self._is_in(key, place.matches[0].key):
                text = self.sentence[one.start : other.end]
                ending = inflection_of(name, self.nodes[key])
                yield DescribedMention(text, one.start, other.end, name.matches, ending=ending)

    def _clauses_about(self, state: Mentions) -> Iterator[NameMention]:
        """Yield those whom a clause about one of the names means: `the man who built M0`."""
        if any(mention.ambiguous for mention in state):
            return
        nodes = [self.nodes[mention.matches[0].key] for mention in state]  # type: ignore[index]
        text, spans = slots_with_spans(self.sentence, state, nodes)
        for found in related_names(text, nodes, self.language, self._facts_ever, day=self.view.at):
            inside = [
                (start, end) for place, start, end in spans if found.start <= place < found.end
            ]
            if len(found.keys) == 1 and inside:
                (key,) = found.keys
                span = (inside[0][0], inside[-1][1])
                match = NameMatch(key, self.nodes[key].name, "part", 0.5)
                part = self.sentence[span[0] : span[1]]
                yield DescribedMention(part, *span, (match,), ending=found.ending)

    def _is_in(self, key: UUID, place: object) -> bool:
        return any(
            fact.src_id == key and fact.dst_id == place and fact.relation_id in INSIDE
            for fact in self._facts_of(key)
        )

    def _is_definite(self, word: Word, ending: str) -> bool:
        """Whether it means a certain one: `여관을` may be any inn, `여관은` is a certain one."""
        if self.language == "ru":
            return not ending or word.start == self.words[0].start
        return self.language == "en" or ending in TOPICS

    def _is_predicate(self, word: Word) -> bool:
        before, after = self.sentence[: word.start], self.sentence[word.end :]
        if self.language == "ko":
            return not after.strip(" .!?") and word.norm.endswith(("다", "요", "야"))
        return bool(COPULA[self.language].search(before))

    def _span_with(self, word: Word, owner: NameMention) -> tuple[int, int] | None:
        """Return where the description is, if `owner` says whose it is."""
        before = self.sentence[owner.end : word.start]
        if owner.end <= word.start and BETWEEN_NAME_AND_NOUN.fullmatch(before):
            is_possessive = owner.text.endswith(("'s", "’s", "s'", "s’")) or self.language == "ko"
            # `The Watch captain`: of no person, whose surname the next word may be.
            kinds = {node.kind for node in self._nodes_of(owner)}
            is_compound = NodeKind.CHARACTER not in kinds and not before.strip(" ")
            return (owner.start, word.end) if is_possessive or is_compound else None
        link = BETWEEN_NOUN_AND_NAME.get(self.language)
        if link and word.end <= owner.start:
            between = self.sentence[word.end : owner.start]
            return (word.start, owner.end) if link.fullmatch(between) else None
        return None

    def _mention(
        self, word: Word, span: tuple[int, int], keys: Iterable[UUID]
    ) -> Iterator[DescribedMention]:
        """Yield the description as the mention of the only one that it may mean, or of each of a
        few: then what is true of one of them is true, and nothing is false."""
        found = set(keys)
        if len(found) > MOST_MEANT:
            return
        for key in sorted(found):
            match = NameMatch(key, self.nodes[key].name, "part", 0.5)
            text = self.sentence[span[0] : span[1]]
            ending, is_only = self._ending(word, text), len(found) == 1
            yield DescribedMention(text, *span, (match,), ending=ending, is_definite=is_only)

    def _ending(self, word: Word, text: str) -> str:
        known = {each for noun in nouns_of(word.norm) for each in noun.words}
        if self.language == "ru":
            return "" if word.norm in known else "x"
        if self.language == "ko":
            stems = sorted((w for w in known if word.norm.startswith(w)), key=len)
            return word.norm[len(stems[-1]) :] if stems else ""
        return "s" if text.endswith(("'s", "’s")) else ""

    def _described_with(self, word: Word, owner: UUID) -> set[UUID]:
        """Return whom the noun means beside the name of `owner`."""
        found = set()
        for noun in nouns_of(word.norm):
            if noun.claim:
                found |= self._by_claim(noun.claim, owner)
                continue
            facts = self._facts_of(owner)
            said = {s.pk for s, target in self._subjects(noun, facts) if target.pk == owner}
            joined = {end.pk for fact in facts for end in (fact.src, fact.dst)} - {owner}
            found |= said or (self._described_alone(noun) & joined)
        return found - {owner}

    def _by_claim(self, claim: str, owner: UUID) -> set[UUID]:
        """Return those who are a `daughter`, an `owner` or the like to `owner`."""
        facts, found = self._facts_of(owner), set()
        for reading in claim_kinds()[claim].readings:
            if reading.bond:
                for fact in labelled_facts(facts):
                    ends = (fact.first, fact.second)
                    whom, whose = ends[::-1] if reading.inverse else ends
                    if bonds()[fact.bond].mutual and whom == owner:
                        whom, whose = whose, whom
                    if (
                        fact.bond == reading.bond
                        and whose == owner
                        and may_be_of_sex(fact, whom, reading.sex)
                    ):
                        found.add(whom)
            for edge in facts if reading.relation else ():
                src, dst = edge.src, edge.dst
                whom_node, of = (dst, src) if reading.inverse else (src, dst)
                if reading.mutual and whom_node.pk == owner:
                    whom_node, of = of, whom_node
                if edge.relation_id == reading.relation and of.pk == owner:
                    self.nodes.setdefault(whom_node.pk, whom_node)
                    found.add(whom_node.pk)
        return {key for key in found if isinstance(key, UUID) and key in self.nodes}

    def _facts_of(self, key: UUID) -> list[GraphEdge]:
        return [fact for fact in self._facts_ever(key) if is_valid_on(fact, self.view.at)]

    def _facts_ever(self, key: UUID) -> list[GraphEdge]:
        if key not in self._facts:
            facts = self.view.facts().filter(Q(src=key) | Q(dst=key))[:MOST_FACTS]
            self._facts[key] = list(facts)
            for fact in self._facts[key]:
                self.nodes.setdefault(fact.src_id, fact.src)
                self.nodes.setdefault(fact.dst_id, fact.dst)
        return self._facts[key]

    def _described_alone(self, noun: Noun) -> set[UUID]:
        """Return those of the kind of the noun whose name has it, or a label of theirs."""
        if noun.trade:
            nouns = [each for each in nouns_of(noun.of) if each.kind and not each.trade]
            things = {key for each in nouns for key in self._described_alone(each)}
            return {key for each in things for key in self._by_claim(noun.trade, each)}
        if noun not in self._alone:
            entities = self.view.entities().filter(kind=noun.kind)
            named = index_of_names(entities, " ".join(noun.words), name="name", keys="keys")
            keys = [entry.key for entry in named.entries]
            nodes = [n for n in entities.filter(pk__in=keys) if has_noun(_names_of(n), noun)]
            pattern = "|".join(map(re.escape, noun.words))
            facts = self.view.facts().valid_on(self.view.at)
            labelled = facts.filter(label__iregex=rf"\m(?:{pattern})")[:MOST_FACTS]
            nodes += [subject for subject, _target in self._subjects(noun, labelled)]
            self.nodes |= {node.pk: node for node in nodes}
            self._alone[noun] = {node.pk for node in nodes}
        return self._alone[noun]

    def _formerly(self, noun: Noun) -> set[UUID]:
        """Return of whom the label of a fact that is over says it: the former mayor."""
        pattern = "|".join(map(re.escape, noun.words))
        labelled = self.view.facts().filter(label__iregex=rf"\m(?:{pattern})")[:MOST_FACTS]
        over = [fact for fact in labelled if has_ended(fact, self.view.at)]
        nodes = [subject for subject, _target in self._subjects(noun, over)]
        self.nodes |= {node.pk: node for node in nodes}
        return {node.pk for node in nodes} - self._described_alone(noun)

    def _former(self, word: Word) -> Word | None:
        """Return the word before a noun by which it is over."""
        before = [each for each in self.words if each.end <= word.start][-1:]
        return before[0] if before and FORMER[self.language].fullmatch(before[0].norm) else None

    def _subjects(
        self, noun: Noun, facts: Iterable[GraphEdge]
    ) -> Iterator[tuple[GraphNode, GraphNode]]:
        """Yield whom the labels of `facts` call so, and of whom."""
        for fact in facts:
            subject, _label, target = in_words(fact)
            if subject.kind == noun.kind and calls(fact.label, noun):
                yield subject, target


def _names_of(node: GraphNode) -> list[str]:
    return [node.name, *node.aliases]
