"""Look up names: which known entry a name means, and which names a sentence contains."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Literal, NamedTuple

from django.utils.translation import gettext as _
from rapidfuzz import fuzz, process

from retrieval.errors import Ambiguous, NotFound
from retrieval.text.names.given_names import other_given_names
from retrieval.text.names.inflections import name_forms, text_forms
from retrieval.text.names.misspelt_phrases import PhrasesByLength
from retrieval.text.names.normalize import (
    Word,
    compose,
    fold_name,
    has_article,
    name_words,
    prefix_keys,
    query_keys,
)
from retrieval.text.names.parts import MAX_PART_WORDS, has_patronymic, name_parts, quoted_names
from retrieval.text.names.phrase_keys import MAX_JOINED

MatchKind = Literal["exact", "alias", "ending", "quoted", "part", "fuzzy"]
# The best that each kind can score; a fuzzy match loses a share of it with every typo.
SCORES: dict[MatchKind, float] = {"exact": 1.0, "alias": 0.99, "ending": 0.97}
SCORES |= {"quoted": 0.95, "part": 0.8, "fuzzy": 0.7}
CANDIDATES = 5
IdsOf = Callable[[Sequence[Hashable]], Mapping[Hashable, str]]
"""Returns what else names the entries of these keys."""


@dataclass(frozen=True, slots=True)
class KnownName:
    """An entry that names refer to: `key` identifies it, `name` is displayed, `aliases` are its
    other names in any language."""

    key: Hashable
    name: str
    aliases: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class NameMatch:
    key: Hashable
    name: str
    how: MatchKind
    score: float


@dataclass(frozen=True, slots=True)
class NameMention:
    """Characters [start, end) of the text (in NFC) name one of `matches`; more than one key means
    that the name is ambiguous."""

    text: str
    start: int
    end: int
    matches: tuple[NameMatch, ...]

    @property
    def ambiguous(self) -> bool:
        return len({match.key for match in self.matches}) > 1


@dataclass(frozen=True, slots=True)
class NameForm:
    """One way to write an entry's name: the whole name, an alias or a part of either; a part in
    quotation marks counts as a name of its own. `with_article`: the name is written `the Nine`."""

    entry: KnownName
    words: tuple[Word, ...]
    forms: tuple[frozenset[str], ...]
    joined: str
    how: MatchKind
    with_article: bool = False

    def match(self, how: MatchKind, score: float | None = None) -> NameMatch:
        score = SCORES[how] if score is None else score
        return NameMatch(self.entry.key, self.entry.name, how, score)


def is_misspelt(reference: str, *names: str) -> bool:
    """Whether `reference` is one of the names of something in a wrong spelling only: not a part of
    one, nor an inflection."""
    found = NameIndex([KnownName(0, names[0], names[1:])]).find(reference)
    return bool(found) and found[0].how == "fuzzy"


Span = tuple[int, int, tuple[NameMatch, ...]]
"""First word, the word after the last, and the equally good matches."""
Found = tuple[int, tuple[NameMatch, ...]]
"""Number of words, and the equally good matches."""


class NameIndex:
    """An in-memory index of names and aliases; without `parts` of whole names only, which takes a
    fraction of the time."""

    def __init__(self, entries: Iterable[KnownName], *, parts: bool = True) -> None:
        self.entries = tuple(entries)
        self._has_parts = parts
        self._by_form: dict[str, list[NameForm]] = defaultdict(list)
        self._by_joined_words: dict[str, list[NameForm]] = defaultdict(list)
        self._full: list[NameForm] = []
        self._longest = MAX_JOINED
        for form in (form for entry in self.entries for form in name_forms_of(entry, parts=parts)):
            for first_word in form.forms[0]:
                self._by_form[first_word].append(form)
            self._longest = max(self._longest, len(form.words))
            if form.how != "part":
                self._full.append(form)
                self._by_joined_words[form.joined].append(form)

    @classmethod
    def for_text(cls, entries: Iterable[KnownName], text: str) -> "NameIndex":
        """An index of those entries alone that `text` may name: to build one of all names takes
        longer than the question to it."""
        keys = frozenset(query_keys(text))
        return cls(
            entry
            for entry in entries
            if not keys.isdisjoint(prefix_keys_of(entry.name, *entry.aliases))
        )

    def find(self, name: str, *, limit: int = CANDIDATES) -> list[NameMatch]:
        """Return the entries that `name` may mean, best first, one match each."""
        words = name_words(name)
        return _best_of_each([*self._whole_matches(words), *self._typo_matches(words)])[:limit]

    def find_spelled(self, name: str) -> list[NameMatch]:
        """Return the entries whose whole name `name` is, in any inflection, but without typos;
        only those of the best kind."""
        matches = _best_of_each(self._whole_matches(name_words(name)))
        whole = [match for match in matches if match.how != "part"]
        return [match for match in whole if match.score == whole[0].score]

    def _whole_matches(self, words: list[Word]) -> list[NameMatch]:
        readings = self._readings(words)
        return [form.match(how) for count, form, how in readings if count == len(words)]

    def resolve(self, name: str, *, what: str = "name", ids: IdsOf | None = None) -> Hashable:
        """Return the one key that `name` means. Raises NotFound or Ambiguous with candidates:
        names, but for entries of the same name the ids that `ids` returns of their keys."""
        matches = self.find(name, limit=2 * CANDIDATES)
        if not matches:
            detail = _("No %(what)s %(name)r is known here.") % {"what": _(what), "name": name}
            raise NotFound(detail, candidates=self.suggest(name))
        tier = [match for match in matches if _tier(match) == _tier(matches[0])]
        if len(tier) > 1:
            raise _ambiguity(name, tier[:CANDIDATES], ids)
        return tier[0].key

    def resolve_spelled(
        self, name: str, *, what: str = "name", ids: IdsOf | None = None
    ) -> Hashable:
        """Return the one key whose whole name `name` is, in any inflection: for writing, where a
        guess would change the wrong thing. Raises as `resolve` does."""
        if not self.find_spelled(name):
            detail = _(
                "No %(what)s is called %(name)r here. Write the whole name, an alias or the id."
            ) % {"what": _(what), "name": name}
            raise NotFound(detail, candidates=self.suggest(name))
        return self.resolve(name, what=what, ids=ids)

    def suggest(self, name: str) -> list[str]:
        """Return up to five names that `name` may mean, also by an alias, or that resemble it."""
        names = {entry.name: fold_name(entry.name) for entry in self.entries}
        near = process.extract(
            fold_name(name), names, scorer=fuzz.WRatio, limit=CANDIDATES, score_cutoff=55
        )
        meant = dict.fromkeys(match.name for match in self.find(name))
        return [*(meant | dict.fromkeys(similar for *_score, similar in near))][:CANDIDATES]

    def mentions(self, text: str, *, typos: bool = True) -> list[NameMention]:
        """Return the names in `text` from left to right; where matches overlap, the longest and
        then the best one wins. Without `typos` misspelt names are not looked for, which is many
        times as fast."""
        if not self.entries:
            return []
        words = name_words(text)
        # A capital at the start of a sentence says nothing about the text's use of capitals.
        has_case = any(map(is_capitalized, words[1:]))
        spans = [*self._spans(words, has_case), *(self._typo_spans(words) if typos else ())]
        spans.sort(key=lambda span: (span[0] - span[1], -span[2][0].score, span[0]))
        used_words: set[int] = set()
        best_spans = []
        for begin, end, matches in spans:
            if used_words.isdisjoint(range(begin, end)):
                used_words.update(range(begin, end))
                best_spans.append((words[begin].start, words[end - 1].end, matches))
        text = compose(text)
        best_spans.sort(key=lambda span: span[0])
        return [NameMention(text[start:end], start, end, names) for start, end, names in best_spans]

    def _readings(self, words: list[Word]) -> Iterator[tuple[int, NameForm, MatchKind]]:
        """Yield (number of words, form, kind) of every name with which `words` begin."""
        yield from self._written_readings(words)
        # A short form of a given name, `Саша`, is no more certain than a part of the name.
        if self._has_parts and words:
            for name in other_given_names(words[0].norm):
                other = [replace(words[0], norm=name), *words[1:]]
                for count, form, _how in self._written_readings(other):
                    yield count, form, "part"

    def _written_readings(self, words: list[Word]) -> Iterator[tuple[int, NameForm, MatchKind]]:
        if not words:
            return
        for first_word in text_forms(words[0].norm):
            for form in self._by_form.get(first_word, ()):
                if matches_words(form, words):
                    yield len(form.words), form, match_kind(form, words)
        # Names that are written with other spaces than the entry: `Ironhold` for `Iron Hold`.
        for count in range(1, min(MAX_JOINED, len(words)) + 1):
            joined_words = "".join(word.norm for word in words[:count])
            for phrase in text_forms(joined_words):
                for form in self._by_joined_words.get(phrase, ()):
                    if len(form.words) != count:
                        yield count, form, "quoted" if form.how == "quoted" else "ending"

    def _spans(self, text_words: list[Word], has_case: bool) -> Iterator[Span]:
        # The same words are looked up once: a text may repeat them a thousand times.
        found: dict[tuple[tuple[str, bool, bool], ...], list[Found]] = {}
        for begin in range(len(text_words)):
            words = text_words[begin : begin + self._longest]
            key = tuple((word.norm, word.capital, word.begins_sentence) for word in words)
            if key not in found:
                found[key] = list(self._names_at_beginning(words, has_case))
            for count, matches in found[key]:
                yield begin, begin + count, matches

    def _names_at_beginning(self, words: list[Word], has_case: bool) -> Iterator[Found]:
        """Yield the names with which `words` begin, by their numbers of words."""
        by_count: dict[int, list[NameMatch]] = defaultdict(list)
        for count, form, how in self._readings(words):
            if is_proper_name(form, words[:count], has_case, how=how):
                by_count[count].append(form.match(how))
        for count, matches in by_count.items():
            best = max(map(_tier, matches))
            unique = {match.key: match for match in matches if _tier(match) == best}
            yield count, tuple(unique.values())

    def _typo_matches(self, words: list[Word], *, count: int = 0) -> list[NameMatch]:
        """Return the full names (of `count` words, if given) that differ by one or two typos."""
        if not words:
            return []
        head = [word.norm for word in words[:-1]]
        phrases = [" ".join((*head, last)) for last in text_forms(words[-1].norm)]
        names = self._full_names.get(count)
        return [
            form.match("fuzzy", SCORES["fuzzy"] * (1 - share))
            for form, share in (names.find(phrases) if names else ())
        ]

    @cached_property
    def _full_names(self) -> dict[int, PhrasesByLength[NameForm]]:
        """The full names by their number of words, and all of them by 0."""
        names: dict[int, PhrasesByLength[NameForm]] = defaultdict(PhrasesByLength)
        for form in self._full:
            phrase = " ".join(word.norm for word in form.words)
            for count in (0, len(form.words)):
                names[count].add(phrase, form)
        return names

    def _typo_spans(self, text_words: list[Word]) -> Iterator[Span]:
        longest = min(max((len(form.words) for form in self._full), default=0), MAX_PART_WORDS)
        found: dict[tuple[str, ...], tuple[NameMatch, ...]] = {}
        for begin, count in product(range(len(text_words)), range(1, longest + 1)):
            words = text_words[begin : begin + count]
            if len(words) < count or not (words[0].capital and words[-1].capital):
                continue
            key = tuple(word.norm for word in words)
            if key not in found:
                matches = self._typo_matches(words, count=count)
                best = max((match.score for match in matches), default=0)
                found[key] = tuple(match for match in matches if match.score == best)
            if found[key]:
                yield begin, begin + count, found[key]


def _ambiguity(name: str, matches: Sequence[NameMatch], ids: IdsOf | None) -> Ambiguous:
    candidates = names = [match.name for match in matches]
    if ids and len(set(names)) < len(names):
        by_key = ids([match.key for match in matches])
        candidates = [by_key.get(match.key, match.name) for match in matches]
        names = [f"{match.name} ({ref})" for match, ref in zip(matches, candidates, strict=True)]
    detail = _("%(name)r fits several: %(names)s. Name one of them.")
    return Ambiguous(detail % {"name": name, "names": ", ".join(names)}, candidates=candidates)


def _best_of_each(matches: Iterable[NameMatch]) -> list[NameMatch]:
    """Return the best match of each key, the best first."""
    best: dict[Hashable, NameMatch] = {}
    for match in matches:
        if match.key not in best or match.score > best[match.key].score:
            best[match.key] = match
    return sorted(best.values(), key=lambda match: (-match.score, match.name))


def name_forms_of(entry: KnownName, *, parts: bool = True) -> Iterator[NameForm]:
    """Yield the whole names of `entry` and their parts; a part that two names share comes once."""
    known: set[tuple[str, ...]] = set()
    for number, text in enumerate((entry.name, *entry.aliases)):
        for spelling in spellings_of(text):
            if spelling.kind == "part":
                if not parts or spelling.norms in known:
                    continue
                how: MatchKind = "part"
            elif spelling.kind == "quoted":
                how = "quoted"
            else:
                how = "alias" if number else "exact"
            known.add(spelling.norms)
            with_article = spelling.kind == "whole" and has_article(text)
            yield NameForm(
                entry, spelling.words, spelling.forms, spelling.joined, how, with_article
            )


@lru_cache(20_000)
def prefix_keys_of(*names: str) -> frozenset[str]:
    return frozenset(key for name in names for key in prefix_keys(name))


class NameSpelling(NamedTuple):
    """A way to write one name: its words and the inflected forms of each, the words in their normal
    form, and these joined."""

    kind: Literal["whole", "part", "quoted"]
    words: tuple[Word, ...]
    forms: tuple[frozenset[str], ...]
    norms: tuple[str, ...]
    joined: str


@lru_cache(20_000)
def spellings_of(name: str) -> tuple[NameSpelling, ...]:
    """Return the ways to write `name`: whole, its parts, the parts in quotation marks. Kept,
    because the names of a world go into one index after another."""
    words = tuple(name_words(name))
    spans = [words[begin:end] for begin, end in name_parts(words)]
    spans += [(words[0], words[2])] if has_patronymic(words) else []
    own = [spelling("part" if span != words else "whole", span) for span in spans]
    quoted = [spelling("quoted", tuple(name_words(part))) for part in quoted_names(name)]
    return (*own, *quoted)


def spelling(kind: Literal["whole", "part", "quoted"], words: tuple[Word, ...]) -> NameSpelling:
    norms = tuple(word.norm for word in words)
    forms = tuple(name_forms(word.norm, word.raw) for word in words)
    return NameSpelling(kind, words, forms, norms, "".join(norms))


def is_capitalized(word: Word) -> bool:
    """Whether `word` shows that the text writes names with capitals. `I` and `NOT` do not."""
    return word.raw[0].isupper() and word.raw[1:2].islower()


def matches_words(form: NameForm, text_words: list[Word]) -> bool:
    """Whether `text_words` begin with this name, each word in some inflection; only the last word
    may carry a particle."""
    last = len(form.forms) - 1
    if len(text_words) <= last:
        return False
    within = all(text_words[n].norm in forms for n, forms in enumerate(form.forms[:last]))
    return within and not form.forms[last].isdisjoint(text_forms(text_words[last].norm))


def match_kind(form: NameForm, text_words: list[Word]) -> MatchKind:
    if form.how in ("part", "quoted"):
        return form.how
    pairs = zip(form.words, text_words, strict=False)
    return form.how if all(own.norm == word.norm for own, word in pairs) else "ending"


def is_proper_name(
    form: NameForm, text_words: list[Word], has_case: bool, *, how: MatchKind
) -> bool:
    """Whether these words are a name here: a part, or a name of one word, needs its capital, and
    `the Nine` its article where a capital says nothing."""
    first = text_words[0]
    says_nothing = first.begins_sentence and first.raw[0].isupper()
    if form.with_article and len(text_words) == 1 and says_nothing:
        return False
    if "part" in (form.how, how) or (form.how == "quoted" and len(text_words) == 1):
        return text_words[0].capital and text_words[-1].capital
    return len(text_words) > 1 or text_words[0].capital or not has_case


def _tier(match: NameMatch) -> float:
    """Return the rank for ambiguity: name, alias and inflected form are equal, a part ranks lower,
    and the part in quotation marks between them, a fuzzy match by its own score."""
    if match.how == "fuzzy":
        return match.score
    return SCORES[match.how if match.how in ("part", "quoted") else "ending"]
