"""Replace the names of a sentence by slots that keep the inflection: `M0 is allied with M1_s`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from knowledge.fact_check.lexicon import language_of, vocabulary
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphNode, NodeKind
from retrieval.text import (
    NameMatch,
    NameMention,
    Word,
    fold_name,
    has_hangul,
    is_cyrillic,
    name_words,
    text_forms,
    word_stem,
)


@dataclass(frozen=True, slots=True)
class DescribedMention(NameMention):
    """A description that stands for a name. `ending` is its inflection, as slots have it. Unless it
    `is_definite`, it may mean any one of the kind."""

    ending: str = ""
    is_definite: bool = True


def joined_mentions(sentence: str, linker: EntityLinker) -> list[NameMention]:
    """Return the mentions of a sentence, each with the words beside it that belong to the same
    name: `Master Orrin Tace` is one mention of an Orrin Tace who is also called Master Tace."""
    words = name_words(sentence)
    mentions: list[NameMention] = []
    for mention in linker.mentions(sentence):
        if _is_relation_word(mention):
            continue
        before = mentions[-1] if mentions else None
        if before and _is_same_name(before, mention) and _is_adjacent(before, mention, words):
            mention = _clearer(before, mention)
            mention = replace(mention, start=before.start)
            mentions.pop()
        mentions.append(mention)
    joined = [_extend(mention, words, linker) for mention in mentions]
    return [replace(m, text=sentence[m.start : m.end]) for m in joined]


DESCRIBED = frozenset((NodeKind.CHARACTER, NodeKind.FACTION, NodeKind.LOCATION, NodeKind.ITEM))
SHORTEST_DESCRIPTION = {"en": 4, "ru": 4, "ko": 2}


def described_mentions(
    sentence: str, mentions: list[NameMention], linker: EntityLinker
) -> Iterator[list[NameMention]]:
    """Yield the mentions with a description for a name more: `the queen` is Queen Aldith if no
    other name has this word. First with all descriptions, then with each alone."""
    new = described_parts(sentence, mentions, linker)
    if new:
        yield sorted([*mentions, *new], key=lambda mention: mention.start)
    if len(new) > 1:
        for one in new:
            yield sorted([*mentions, one], key=lambda mention: mention.start)


def described_parts(
    sentence: str, mentions: Sequence[NameMention], linker: EntityLinker
) -> list[NameMention]:
    """Return the words of a sentence that mean the only entity with this word in its name."""
    language = language_of(sentence)
    words = [
        word
        for word in name_words(sentence)
        if not word.capital or language != "en"
        if not any(m.start <= word.start < m.end for m in mentions)
        if len(word.norm) >= SHORTEST_DESCRIPTION[language]
        if language != "en" or sentence[: word.start].lower().endswith("the ")
    ]
    found = [
        _mention(sentence, word, node) for word in words if (node := _find_described(word, linker))
    ]
    named = {match.key for mention in mentions for match in mention.matches}
    return [mention for mention in found if mention.matches[0].key not in named]


def _mention(sentence: str, word: Word, node: GraphNode) -> NameMention:
    """Return the mention that `word` is the end of: `Трёх воронах` begins with the numeral."""
    before = [each for each in name_words(sentence) if each.end <= word.start][-1:]
    starts = {each.norm[:2] for name in _names_of(node) for each in name_words(name)[:-1]}
    begins = before and before[0].capital and before[0].norm[:2] in starts
    start = before[0].start if begins else word.start
    match = NameMatch(node.pk, node.name, "part", 0.5)
    return NameMention(sentence[start : word.end], start, word.end, (match,))


def _find_described(word: Word, linker: EntityLinker) -> GraphNode | None:
    """Return the only entity with this word in its name."""
    is_possessive = word.raw.endswith(("'s", "’s"))
    norm = fold_name(word.raw[:-2]) if is_possessive else word.norm
    stems = {word_stem(form) for form in text_forms(norm)} | {word_stem(norm)}
    stems |= {stem.removesuffix("들") for stem in stems if has_hangul(stem) and len(stem) > 2}
    fitting: dict[bool, list[GraphNode]] = {True: [], False: []}
    for node in linker.nodes:
        if node.kind not in DESCRIBED:
            continue
        names = [[each.norm for each in name_words(name)] for name in _names_of(node)]
        own = [[word_stem(part) for part in name] for name in names]
        if any(stem in name for name in own for stem in stems):
            fitting[any(len(name) == 1 and name[0] in stems for name in own)].append(node)
    best = fitting[True] or fitting[False]
    return best[0] if len(best) == 1 else None


def _is_relation_word(mention: NameMention) -> bool:
    """Whether this is no misspelt name but a word of the patterns: `사람` is not Haram."""
    if any(match.how != "fuzzy" for match in mention.matches):
        return False
    words = [word.norm for word in name_words(mention.text)]
    known = vocabulary(language_of(mention.text))
    return len(words) == 1 and any(form in known for form in text_forms(words[0]))


def _is_same_name(one: NameMention, other: NameMention) -> bool:
    return not {match.key for match in one.matches}.isdisjoint(m.key for m in other.matches)


def _is_adjacent(one: NameMention, other: NameMention, words: Iterable[Word]) -> bool:
    return not any(one.end <= word.start < other.start for word in words)


def _clearer(one: NameMention, other: NameMention) -> NameMention:
    both = {match.key for match in one.matches} & {match.key for match in other.matches}
    matches = tuple(m for m in (*one.matches, *other.matches) if m.key in both)
    return replace(other, matches=matches)


def _extend(mention: NameMention, words: list[Word], linker: EntityLinker) -> NameMention:
    """Return the mention with the words beside it that are of the same name in another form, or
    that say what a thing or place is: `кафе «Два чайника»`."""
    if mention.ambiguous:
        return mention
    node = linker.node_of(mention)
    before = [word for word in words if word.end <= mention.start][-1:]
    if before and _is_part_before(before[0], mention, node):
        mention = replace(mention, start=before[0].start)
    if mention.matches[0].how != "part":
        return mention
    stems = {word_stem(word.norm) for name in _names_of(node) for word in name_words(name)}
    for word in words:
        if word.start >= mention.end:
            if word_stem(word.norm) not in stems:
                break
            mention = replace(mention, end=word.end)
    return mention


def _is_part_before(word: Word, mention: NameMention, node: GraphNode) -> bool:
    """Whether the word before a mention is the beginning of the name (`Матери Пижме`)."""
    if not is_cyrillic(word.norm) or not word.capital:
        return False
    if len(word.norm) < 4 or any(
        each.norm[:3] == word.norm[:3] for each in name_words(mention.text)
    ):
        return False
    names = [name_words(name)[:-1] for name in _names_of(node)]
    return any(each.norm[:3] == word.norm[:3] for name in names for each in name)


def _names_of(node: GraphNode) -> list[str]:
    return [node.name, *node.aliases]


def with_slots(sentence: str, mentions: Sequence[NameMention], nodes: Sequence[GraphNode]) -> str:
    """Return the sentence in folded words with slots for its names: `M0 is allied with M1_s`."""
    return slots_with_spans(sentence, mentions, nodes)[0]


def slots_with_spans(
    sentence: str, mentions: Sequence[NameMention], nodes: Sequence[GraphNode]
) -> tuple[str, list[tuple[int, int, int]]]:
    """Return the sentence with slots, and for each word of it its place, and the beginning and end
    of what it stands for."""
    parts: list[str] = []
    spans: list[tuple[int, int, int]] = []
    place = 0
    for word in name_words(sentence):
        inside = next((n for n, m in enumerate(mentions) if m.start <= word.start < m.end), None)
        if inside is None:
            part, span = word.norm, (word.start, word.end)
        elif word.start == mentions[inside].start:
            ending = inflection_of(mentions[inside], nodes[inside])
            part = f"M{inside}_{ending}" if ending else f"M{inside}"
            span = (mentions[inside].start, mentions[inside].end)
        else:
            continue
        parts.append(part)
        spans.append((place, *span))
        place += len(part) + 1
    return " ".join(parts), spans


def inflection_of(mention: NameMention, node: GraphNode) -> str:
    """Return the inflection of a mention of `node`, as slots have it."""
    if isinstance(mention, DescribedMention):
        return mention.ending
    return _ending_of(mention.text, node)


def _ending_of(text: str, node: GraphNode) -> str:
    """Return the inflection of a name: a Korean particle, `s` for a possessive, `x` for a
    Russian oblique case."""
    mention = fold_name(text)
    names = [fold_name(name) for name in _names_of(node)]
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
