"""Read a plain sentence as a claim about entities: `Mira is allied with the Ferrymen's Guild`. Only a sentence that is
understood to its last word is read; everything else is `Unread`, with the reason."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from knowledge.fact_check.lexicon import ClaimKind, Lexicon, claim_kinds, language_of, lexicon
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphNode
from retrieval.text import Mention, fold_name, has_hangul, is_cyrillic, name_words, text_forms

MAX_NAMES = 10
SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class Claim:
    """`a` stands to `b` as `kind` says. `label` instead of a kind: some free relation in the words of the sentence."""

    a: GraphNode
    b: GraphNode | None
    kinds: tuple[ClaimKind, ...] = ()
    label: str = ""
    negated: bool = False
    past: bool = False


@dataclass(frozen=True)
class UnparsedClaim:
    """Why a sentence was not understood, and which names it may have meant."""

    reason: str
    candidates: tuple[str, ...] = ()


def parse_claim(sentence: str, names: EntityLinker) -> Claim | UnparsedClaim:
    mentions = names.mentions(sentence)[:MAX_NAMES]
    if unclear := next((mention for mention in mentions if mention.ambiguous), None):
        fits = tuple(match.name for match in unclear.matches[:5])
        return UnparsedClaim(
            _("%(name)s may be any of several.") % {"name": f"“{unclear.text}”"}, fits
        )
    if not mentions:
        return UnparsedClaim(
            _("No name in this statement is known here."), tuple(names.index.suggest(sentence))
        )
    text, nodes = _with_slots(sentence, mentions, names)
    return _matched(text, nodes, lexicon(language_of(sentence))) or UnparsedClaim(
        _("This says something that the relations do not tell, or names something unknown.")
    )


def _with_slots(
    sentence: str, mentions: list[Mention], names: EntityLinker
) -> tuple[str, list[GraphNode]]:
    """Return the sentence in folded words, with `M0`, `M1` for its names: `M0 is allied with M1`."""
    nodes = [names.by_id[mention.matches[0].key] for mention in mentions]  # type: ignore[index]
    parts: list[str] = []
    for word in name_words(sentence):
        inside = next((n for n, m in enumerate(mentions) if m.start <= word.start < m.end), None)
        if inside is None:
            parts.append(word.folded)
        elif word.start == mentions[inside].start:
            ending = _ending(mentions[inside].text, nodes[inside])
            parts.append(f"M{inside}_{ending}" if ending else f"M{inside}")
    return " ".join(parts), nodes


def _ending(text: str, node: GraphNode) -> str:
    """Return what the sentence did to the name: a Korean particle, `s` of a possessive, `x` of another case."""
    said = fold_name(text)
    written = [fold_name(name) for name in (node.name, *node.aliases)]
    if any(f" {said} " in f" {name} " for name in written):
        return ""
    last = said.split()[-1]
    if has_hangul(last[-1]):
        joined = [name.replace(" ", "") for name in written]
        bare = next(
            (form for form in text_forms(last)[1:] if any(form in name for name in joined)), last
        )
        return last[len(bare) :]
    if is_cyrillic(last):
        return "x"
    return "s" if text.endswith(("'s", "’s")) else ""


def _matched(text: str, nodes: list[GraphNode], known: Lexicon) -> Claim | None:
    text, negated = _plain(text, known)
    past = bool(known.past.search(text))
    text = _without(text, known.ignored)
    found = {(claim, m["a"], m.groupdict().get("b")): None for claim, m in _matches(text, known)}
    fitting = [(claim, a, b) for claim, a, b in found if _fits(claim_kinds()[claim], a, b, nodes)]
    pairs = {(a, b) for _claim, a, b in fitting}
    if len(pairs) != 1:
        return None if pairs else _labelled(text, nodes, negated=negated, past=past)
    ((a, b),) = pairs
    kinds = tuple(claim_kinds()[claim] for claim, _a, _b in fitting)
    return Claim(_node(nodes, a), _node(nodes, b) if b else None, kinds, negated=negated, past=past)


def _plain(text: str, known: Lexicon) -> tuple[str, bool]:
    """Return the statement without question form, fillers and negation; and whether it was negated."""
    text = _without(text, known.fillers)
    for what, by in known.rewrites:
        text = what.sub(by, text)
    denials = 0
    for opposite, by in known.antonyms:
        text, count = opposite.subn(by, text)
        denials += count
    for negation in known.negations:
        text, count = negation.subn(lambda m: "지" if m.group().startswith("지") else "", text)
        denials += count
    return SPACES.sub(" ", text).strip(), denials % 2 == 1


def _without(text: str, phrases: re.Pattern[str] | None) -> str:
    return SPACES.sub(" ", phrases.sub("", text)).strip() if phrases else text


def _matches(text: str, known: Lexicon) -> Iterator[tuple[str, re.Match[str]]]:
    for claim, pattern in known.patterns:
        if match := pattern.fullmatch(text):
            yield claim, match


def _fits(kind: ClaimKind, a: str, b: str | None, nodes: list[GraphNode]) -> bool:
    src, dst = _node(nodes, a).kind, _node(nodes, b).kind if b else ""
    return (not kind.src or src in kind.src) and (not b or not kind.dst or dst in kind.dst)


def _node(nodes: list[GraphNode], slot: str) -> GraphNode:
    return nodes[int(slot[1:])]


def _labelled(text: str, nodes: list[GraphNode], *, negated: bool, past: bool) -> Claim | None:
    """`Heron Abbey is two hours on foot from Saltgate`: the words between two names may be a fact's own label."""
    match = re.fullmatch(r"M0\S* (?:is |was |are |were )?(?P<label>.+?) M1\S*", text)
    if match is None or len(nodes) != 2:
        return None
    return Claim(nodes[0], nodes[1], label=match["label"], negated=negated, past=past)
