"""Read a text by rules: which facts, aliases, deaths, dates and new names its sentences state."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product

from knowledge.extraction.claim_facts import stated_fact
from knowledge.extraction.findings import Finding, TextSentence
from knowledge.extraction.lexicon import TextLexicon, text_lexicon
from knowledge.extraction.model_reader import facts_by_model, names_by_model, sentence_at
from knowledge.extraction.narrative import is_of_rules, is_rules_text, is_whole
from knowledge.extraction.new_names import NewName, joined_names, new_names
from knowledge.extraction.slots import SentenceSlotter, SlottedSentence
from knowledge.fact_check.lexicon import claim_kinds
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphNode, NodeKind
from knowledge.graph.relations import Relations
from retrieval.named_relations import ReadText, has_relation_model
from retrieval.text import fold_name, guess_language, has_hangul

LONGEST_SENTENCE = 700
SLOT = re.compile(r"M\d")
BREAK = re.compile(r" (?:[;:()]|-) | (?:but|while|whereas|но|а|зато|однако) ")
LANGUAGES = ("en", "ru", "ko")
ClaimTest = Callable[[str, str, str], bool]


@dataclass
class TextReader:
    """Reads one text. `nodes` are the entities that it may name; new names join them."""

    nodes: Sequence[GraphNode]
    relations: Relations
    about: GraphNode | None = None
    """Whom `she` means at the beginning: the entity of the entry that is read."""
    not_names: Collection[str] = frozenset()
    """Folded names of months and the like, which are no entities."""
    not_new: Sequence[GraphNode] = ()
    """Unsaved entities for names that are never proposed, in any inflection: those of player
    characters and of the world itself."""
    new: list[NewName] = field(default_factory=list)
    with_model: bool = field(default_factory=has_relation_model)
    """Whether the small model of names and relations reads beside the rules."""

    def read(self, text: str) -> list[Finding]:
        """Return what the text states; nothing of a text of rules."""
        every = sentences_of(text)
        if is_rules_text(every):
            return []
        sentences = [each for each in every if not is_of_rules(each.text)]
        # A heading or a cell has capitals without being a name.
        whole = [each for each in sentences if is_whole(each.text)]
        language = guess_language(text)
        language = language if language in LANGUAGES else "en"
        known = EntityLinker([*self.nodes, *self.not_new], typos=False)
        self.new = new_names(whole, known, language)
        if self.with_model:
            self.new = joined_names(self.new, self._names_by_model(text, whole, language))
        # Rows that are not saved: they name what does not exist yet.
        made = {each.name: GraphNode(name=each.name, kind=each.kind) for each in self.new}
        linker = EntityLinker([*self.nodes, *made.values()], typos=False)
        slotter = SentenceSlotter(linker, language)
        slotter.salience.nodes = [self.about] if self.about else []
        slotter.salience.about = self.about
        found: dict[tuple[object, ...], Finding] = {}
        for each in self.new:
            finding = Finding("entity", each.sentence, made[each.name])
            found[finding.key()] = finding
        words = text_lexicon(language)
        for sentence in sentences:
            if len(sentence.text) <= LONGEST_SENTENCE:
                for finding in self._read_sentence(slotter.put_slots(sentence), words):
                    found.setdefault(finding.key(), finding)
        if self.with_model:
            decided = {
                frozenset((each.node.pk, each.other.pk)) for each in found.values() if each.other
            }
            for finding in facts_by_model(text, linker, self.relations, decided):
                told = finding.sentence
                if is_whole(told.text) and not (is_of_rules(told.text) or supposes(told, words)):
                    found.setdefault(finding.key(), finding)
        return _without_aliases(list(found.values()))

    def _names_by_model(
        self, text: str, sentences: Sequence[TextSentence], language: str
    ) -> list[NewName]:
        """Return names beside those of the rules, without those that the rules read as another name
        of somebody."""
        told = [GraphNode(name=each.name, kind=each.kind) for each in self.new]
        linker = EntityLinker([*self.nodes, *self.not_new, *told], typos=False)
        slotter = SentenceSlotter(linker, language)
        aliases = [
            set(fold_name(found.alias).split())
            for sentence in sentences
            for found in aliases_in(slotter.put_slots(sentence), text_lexicon(language))
        ]
        return [
            each
            for each in names_by_model(text, sentences, linker, language)
            if fold_name(each.name) not in self.not_names
            and not any(_is_of_alias(each.name, alias) for alias in aliases)
        ]

    def _read_sentence(self, row: SlottedSentence, words: TextLexicon) -> Iterator[Finding]:
        if row.sentence.text.rstrip(" \"”»'").endswith("?"):
            return
        dead = {each.node.pk: each for each in deaths_in(row, words)}
        for fact in self._facts(row, words):
            # The abbess who died in this sentence was its abbess.
            if not (fact.node.pk in dead and fact.label == "leads"):
                yield fact
        yield from aliases_in(row, words)
        yield from dead.values()
        # The date of a death is a part of it.
        yield from (d for d in dates_in(row, words) if d.what != "died" or d.node.pk not in dead)

    def _facts(self, row: SlottedSentence, words: TextLexicon) -> Iterator[Finding]:
        seen: set[frozenset[str]] = set()
        for text in variants_of(row.text, words):
            for match, claim in claims_in(text, words, self._states(row)):
                pair = frozenset((match["a"], match["b"]))
                if pair in seen or is_doubtful(text, match, words):
                    continue
                first, second = row.node(match["a"]), row.node(match["b"])
                fact = stated_fact(claim_kinds()[claim], first, second, self.relations)
                if fact:
                    seen.add(pair)
                    yield Finding(
                        "fact",
                        row.sentence,
                        fact.src,
                        fact.dst,
                        relation=fact.relation,
                        label=fact.label,
                    )

    def _states(self, row: SlottedSentence) -> ClaimTest:
        """Return a test of whether a claim about two slots can be a fact."""

        def is_possible(claim: str, a: str, b: str) -> bool:
            kind, first, second = claim_kinds()[claim], row.node(a), row.node(b)
            return (
                first.pk != second.pk
                and kind.allows(first.kind, second.kind)
                and stated_fact(kind, first, second, self.relations) is not None
            )

        return is_possible


def _is_of_alias(name: str, alias: Collection[str]) -> bool:
    """Whether a word of the name is one of the alias; in Korean it may have an ending."""
    return any(
        word == other or (has_hangul(word) and word.startswith(other))
        for word in fold_name(name).split()
        for other in alias
    )


def _without_aliases(found: list[Finding]) -> list[Finding]:
    """Leave out new names that are an alias of somebody, or a part of one."""
    aliases = [set(fold_name(each.alias).split()) for each in found if each.alias]
    return [
        each
        for each in found
        if each.kind != "entity"
        or not any(set(fold_name(each.node.name).split()) <= alias for alias in aliases)
    ]


def sentences_of(text: str) -> list[TextSentence]:
    """Return the sentences of `text`, each with its place; every line ends one."""
    bounds = pairwise([*ReadText(text).starts, len(text)])
    sentences = (sentence_at(text, start, end) for start, end in bounds)
    return [each for each in sentences if each.text]


def variants_of(text: str, words: TextLexicon) -> list[str]:
    """Return the forms of a slotted sentence without its dates."""
    return forms_of(re.sub(words.data["date_phrase"], " ", text), words)


def forms_of(text: str, words: TextLexicon) -> list[str]:
    """Return the slotted sentence, and forms of it without what stands between: without
    appositions, and later clauses with the subject of the first."""
    data = words.data
    found = [re.sub(r"\s+", " ", text).strip(" ,")]
    for pattern, by in data["rewrites"]:
        found += [re.sub(pattern, by, each) for each in list(found) if re.search(pattern, each)]
    subject = re.search(data["subject"], text)
    if subject:
        for each in list(found):
            for connector in re.finditer(data["clauses"], each):
                clause, before = each[connector.end() :], each[: connector.start()]
                is_list = connector.group().strip() == "," and len(set(SLOT.findall(before))) > 1
                if clause and not is_list and not re.match(data["clause_subject"], clause):
                    found.append(f"{subject['subject']} {clause}")
    return list(dict.fromkeys(found))


def claims_in(
    text: str, words: TextLexicon, is_possible: ClaimTest
) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the claims of a slotted text that are possible. Of those that can be read in both
    directions only in the one in which the first name comes first."""
    found: dict[tuple[str, str, str], re.Match[str]] = {}
    for claim, pattern in words.patterns_for(text):
        for match in pattern.finditer(text):
            groups = match.groupdict()
            a, b = groups.get("a"), groups.get("b")
            if a and b and is_possible(claim, a, b):
                found.setdefault((claim, groups["a"], groups["b"]), match)
    mutual = {name for name, kind in claim_kinds().items() if any(r.mutual for r in kind.readings)}
    symmetric = mutual | {"siblings", "married", "cousin", "loves"}
    for (claim, a, b), match in sorted(found.items(), key=lambda item: item[1].start()):
        other = found.get((claim, b, a))
        if other is None or claim in symmetric or match.start("a") < match.start("b"):
            yield match, claim


def is_doubtful(text: str, match: re.Match[str], words: TextLexicon) -> bool:
    """Whether the clause supposes, denies, or speaks of earlier times."""
    start, end = match.span()
    breaks = [each.end() for each in BREAK.finditer(text[:start])]
    clause_start = max(breaks, default=0)
    after = BREAK.search(text, end)
    clause = text[clause_start : after.start() if after else len(text)]
    if words.data.get("negation_follows"):
        # `The abbess M0 never sleeps` denies the sleep, not the office.
        is_last = " " not in text[match.end("a") : end]
        is_attribute = is_last and match.start("b") < match.start("a")
        near = match.group() if is_attribute else clause.partition(" , ")[0]
    else:
        near = text[max(clause_start, text.rfind(" , ", clause_start, start) + 1) : end]
    return bool(
        words.hedges.search(text[:end] if not words.data.get("negation_follows") else text)
        or words.negations.search(near)
        or words.formerly.search(near)
    )


def supposes(sentence: TextSentence, words: TextLexicon) -> bool:
    """Whether a sentence tells what is said or thought: `It is said that …`."""
    return bool(words.hedges.search(fold_name(sentence.text)))


def aliases_in(row: SlottedSentence, words: TextLexicon) -> Iterator[Finding]:
    for pattern in words.alias:
        for match in pattern.finditer(row.text):
            groups = match.groupdict()
            name = groups.get("free") or row.others[int(match["x"][1:])]
            node = row.node(match["a"])
            names = {fold_name(each) for each in (node.name, *node.aliases)}
            if fold_name(name) in names or words.negations.search(match.group()):
                continue
            yield Finding("alias", row.sentence, node, alias=name.strip(" ,.").removeprefix("the "))


def deaths_in(row: SlottedSentence, words: TextLexicon) -> Iterator[Finding]:
    texts = dict.fromkeys([*forms_of(row.text, words), *variants_of(row.text, words)])
    for text, pattern in product(texts, words.death):
        for match in pattern.finditer(text):
            node = row.node(match["a"])
            near = text[max(0, text.rfind(" , ", 0, match.start())) : match.end() + 12]
            if node.kind != NodeKind.CHARACTER or words.not_death.search(near):
                continue
            if words.hedges.search(text[: match.end()]) or words.negations.search(near):
                continue
            yield Finding("death", row.sentence, node, value=date_of_death(row, node, words))


def date_of_death(row: SlottedSentence, node: GraphNode, words: TextLexicon) -> str:
    dates = (each for each in dates_in(row, words) if each.what == "died" and each.node is node)
    return next((each.value for each in dates), "")


def dates_in(row: SlottedSentence, words: TextLexicon) -> Iterator[Finding]:
    if words.hedges.search(row.text):
        return
    for text, (what, pattern) in product(forms_of(row.text, words), words.dates):
        for match in pattern.finditer(text):
            node = row.node(match["a"])
            kinds = words.data["date_kinds"].get(what)
            if kinds and node.kind not in kinds:
                continue
            yield Finding("date", row.sentence, node, what=what, value=match["date"])
