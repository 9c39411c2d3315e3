"""Parse a plain sentence into a claim about entities: `Mira is allied with the Ferrymen's Guild`.

A sentence has to match a pattern as a whole. Everything else becomes an `UnparsedClaim` with the
reason.
"""

import re
from dataclasses import dataclass

from django.utils.translation import gettext as _

from knowledge.fact_check.lexicon import ClaimKind, Lexicon, claim_kinds, language_of, lexicon
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphNode
from retrieval.text import NameMention, fold_name, has_hangul, is_cyrillic, name_words, text_forms

MAX_NAMES = 10
SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class Claim:
    """`a` has to `b` the relation of one of `kinds`, or one that the sentence's own words
    (`label`) describe."""

    a: GraphNode
    b: GraphNode | None
    kinds: tuple[ClaimKind, ...] = ()
    label: str = ""
    is_negated: bool = False
    is_past: bool = False


@dataclass(frozen=True)
class UnparsedClaim:
    """Why a sentence was not understood, and which names it may have meant."""

    reason: str
    candidates: tuple[str, ...] = ()
    is_model_down: bool = False


def parse_claim(sentence: str, linker: EntityLinker) -> Claim | UnparsedClaim:
    mentions = linker.mentions(sentence)[:MAX_NAMES]
    if unclear := next((mention for mention in mentions if mention.ambiguous), None):
        candidates = tuple(match.name for match in unclear.matches[:5])
        reason = _("%(name)s can refer to several entities.") % {"name": f"“{unclear.text}”"}
        return UnparsedClaim(reason, candidates)
    if not mentions:
        reason = _("This statement contains no known name.")
        return UnparsedClaim(reason, tuple(linker.index.suggest(sentence)))
    nodes = [linker.node_of(mention) for mention in mentions]
    text = _with_slots(sentence, mentions, nodes)
    return _match_patterns(text, nodes, lexicon(language_of(sentence))) or UnparsedClaim(
        _("No such relation exists, or the statement contains an unknown name.")
    )


def _with_slots(sentence: str, mentions: list[NameMention], nodes: list[GraphNode]) -> str:
    """Return the sentence in folded words with slots for its names: `M0 is allied with M1_s`."""
    parts: list[str] = []
    for word in name_words(sentence):
        inside = next((n for n, m in enumerate(mentions) if m.start <= word.start < m.end), None)
        if inside is None:
            parts.append(word.norm)
        elif word.start == mentions[inside].start:
            ending = _ending_of(mentions[inside].text, nodes[inside])
            parts.append(f"M{inside}_{ending}" if ending else f"M{inside}")
    return " ".join(parts)


def _ending_of(text: str, node: GraphNode) -> str:
    """Return the inflection of a name: a Korean particle, `s` for a possessive, `x` for a
    Russian oblique case."""
    mention = fold_name(text)
    names = [fold_name(name) for name in (node.name, *node.aliases)]
    if any(f" {mention} " in f" {name} " for name in names):
        return ""
    last = mention.split()[-1]
    if has_hangul(last[-1]):
        solid_names = [name.replace(" ", "") for name in names]
        stems = (form for form in text_forms(last)[1:] if any(form in name for name in solid_names))
        return last[len(next(stems, last)) :]
    if is_cyrillic(last):
        return "x"
    return "s" if text.endswith(("'s", "’s")) else ""


def _match_patterns(text: str, nodes: list[GraphNode], language: Lexicon) -> Claim | None:
    text, is_negated = _strip_negation(text, language)
    is_past = bool(language.past.search(text))
    text = without(text, language.ignorable)
    matches = {}  # a dict keeps the order of the patterns and drops repetitions
    for claim, pattern in language.patterns:
        if match := pattern.fullmatch(text):
            slots = {key: int(slot[1:]) for key, slot in match.groupdict().items() if slot}
            a, b = slots["a"], slots.get("b")
            kind = claim_kinds()[claim]
            if kind.allows(nodes[a].kind, None if b is None else nodes[b].kind):
                matches[claim, a, b] = kind
    pairs = {(a, b) for _claim, a, b in matches}
    if len(pairs) == 1:
        ((a, b),) = pairs
        second, kinds = None if b is None else nodes[b], tuple(matches.values())
        return Claim(nodes[a], second, kinds, is_negated=is_negated, is_past=is_past)
    # `Heron Abbey is two hours on foot from Saltgate`: the words between two names may be the label
    # of a fact.
    label = re.fullmatch(r"M0\S* (?:is |was |are |were )?(.+?) M1\S*", text)
    if pairs or label is None or len(nodes) != 2:
        return None
    return Claim(nodes[0], nodes[1], label=label[1], is_negated=is_negated, is_past=is_past)


def _strip_negation(text: str, language: Lexicon) -> tuple[str, bool]:
    """Return the statement without question form, fillers and negation, and whether it was
    negated."""
    text = without(text, language.fillers)
    for pattern, replacement in language.rewrites:
        text = pattern.sub(replacement, text)
    negations = 0
    for pattern, replacement in language.antonyms:
        text, count = pattern.subn(replacement, text)
        negations += count
    for pattern in language.negations:
        # Korean negates with "-지 않다": its "지" joins the verb to the negation and stays.
        text, count = pattern.subn(lambda m: "지" if m.group().startswith("지") else "", text)
        negations += count
    return SPACES.sub(" ", text).strip(), negations % 2 == 1


def without(text: str, phrases: re.Pattern[str] | None) -> str:
    return SPACES.sub(" ", phrases.sub("", text)).strip() if phrases else text
