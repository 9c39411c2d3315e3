"""Find which known thing a name means, and which names a sentence holds."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from retrieval.errors import Ambiguous, NotFound
from retrieval.text.names.inflections import name_forms, text_forms
from retrieval.text.names.normalize import Word, compose, jamo, name_words
from retrieval.text.scripts import has_hangul

MatchKind = Literal["exact", "alias", "ending", "part", "fuzzy"]
SCORES: dict[MatchKind, float] = {
    "exact": 1.0,
    "alias": 0.99,
    "ending": 0.97,
    "part": 0.8,
    "fuzzy": 0.7,
}
MAX_PART_WORDS = 6
MAX_JOINED = 3
CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class KnownName:
    """A known thing: `key` is given back, `name` is shown, `aliases` are its other names in any
    language."""

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
class Mention:
    """Characters [start, end) of the (NFC) text name one of `matches`; more than one key means:
    ambiguous."""

    text: str
    start: int
    end: int
    matches: tuple[NameMatch, ...]

    @property
    def ambiguous(self) -> bool:
        return len({match.key for match in self.matches}) > 1


@dataclass(frozen=True, slots=True)
class NameForm:
    """One way to write an entry's name."""

    entry: KnownName
    words: tuple[Word, ...]
    forms: tuple[frozenset[str], ...]
    how: MatchKind

    def match(self, how: MatchKind, score: float | None = None) -> NameMatch:
        return NameMatch(
            self.entry.key, self.entry.name, how, SCORES[how] if score is None else score
        )


@dataclass
class NameIndex:
    entries: Iterable[KnownName]
    _by_form: dict[str, list[NameForm]] = field(
        default_factory=lambda: defaultdict(list), init=False, repr=False
    )
    _joined: dict[str, list[NameForm]] = field(
        default_factory=lambda: defaultdict(list), init=False, repr=False
    )
    _full: list[NameForm] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        self.entries = tuple(self.entries)
        for entry in self.entries:
            for form in name_forms_of(entry):
                self._add(form)

    def _add(self, form: NameForm) -> None:
        for first_word in form.forms[0]:
            self._by_form[first_word].append(form)
        if form.how != "part":
            self._full.append(form)
            self._joined["".join(word.folded for word in form.words)].append(form)

    def find(self, name: str, *, limit: int = CANDIDATES) -> list[NameMatch]:
        """Return the entries that `name` may mean, best first, one match each."""
        query_words = name_words(name)
        best: dict[Hashable, NameMatch] = {}
        for match in (*self._whole(query_words), *self._typo_matches(query_words)):
            if match.key not in best or match.score > best[match.key].score:
                best[match.key] = match
        return sorted(best.values(), key=lambda match: (-match.score, match.name))[:limit]

    def resolve(self, name: str, *, what: str = "name") -> Hashable:
        """Return the one key that `name` means. Raises NotFound or Ambiguous, both with candidates;
        never guesses."""
        matches = self.find(name, limit=2 * CANDIDATES)
        if not matches:
            raise NotFound(f"No {what} {name!r} is known here.", candidates=self.suggest(name))
        tier = [match for match in matches if _tier(match) == _tier(matches[0])]
        if len(tier) > 1:
            names = [match.name for match in tier[:CANDIDATES]]
            raise Ambiguous(
                f"{name!r} fits several: {', '.join(names)}. Name one of them.", candidates=names
            )
        return tier[0].key

    def suggest(self, name: str) -> list[str]:
        """Return up to five names that look a little like `name`."""
        names = {
            entry.name: " ".join(word.folded for word in name_words(entry.name))
            for entry in self.entries
        }
        query = " ".join(word.folded for word in name_words(name))
        near = process.extract(query, names, scorer=fuzz.WRatio, limit=CANDIDATES, score_cutoff=55)
        return [shown for _text, _score, shown in near]

    def mentions(self, text: str) -> list[Mention]:
        """Return the names in `text` from left to right; the longest and best reading of each
        stretch wins."""
        if not self.entries:
            return []
        text_words = name_words(text)
        has_case = any(word.raw[0].isupper() for word in text_words[1:])
        spans = [*self._spans(text_words, has_case), *self._typo_spans(text_words)]
        spans.sort(key=lambda span: (span[0] - span[1], -span[2][0].score, span[0]))
        used_words: set[int] = set()
        best_spans = []
        for begin, end, matches in spans:
            if used_words.isdisjoint(range(begin, end)):
                used_words.update(range(begin, end))
                best_spans.append((begin, end, matches))
        return [
            _mention(compose(text), text_words[begin:end], matches)
            for begin, end, matches in sorted(best_spans)
        ]

    def _whole(self, text_words: list[Word]) -> Iterator[NameMatch]:
        for end, written, how in self._readings(text_words, 0):
            if end == len(text_words):
                yield written.match(how)

    def _readings(
        self, text_words: list[Word], begin: int
    ) -> Iterator[tuple[int, NameForm, MatchKind]]:
        """Yield (end, way to write, how) of every name that begins at word `begin`."""
        if begin >= len(text_words):
            return
        for form in text_forms(text_words[begin].folded):
            for written in self._by_form.get(form, ()):
                if matches_words(written, text_words[begin:]):
                    yield begin + len(written.words), written, _how(written, text_words[begin:])
        for count in range(1, min(MAX_JOINED, len(text_words) - begin) + 1):
            joined = "".join(word.folded for word in text_words[begin : begin + count])
            for written in (w for form in text_forms(joined) for w in self._joined.get(form, ())):
                if len(written.words) != count:
                    yield begin + count, written, "ending"

    def _spans(
        self, text_words: list[Word], has_case: bool
    ) -> Iterator[tuple[int, int, tuple[NameMatch, ...]]]:
        for begin in range(len(text_words)):
            by_end: dict[int, list[NameMatch]] = defaultdict(list)
            for end, written, how in self._readings(text_words, begin):
                if is_proper_name(written, text_words[begin:end], has_case):
                    by_end[end].append(written.match(how))
            for end, matches in by_end.items():
                yield begin, end, best_matches(matches)

    def _typo_matches(self, text_words: list[Word], *, count: int = 0) -> Iterator[NameMatch]:
        """Yield the full names (of `count` words, if given) that differ from `said` by a slip or
        two."""
        text = [jamo(form) for form in _whole_forms(text_words)]
        for written in self._full:
            if count and len(written.words) != count:
                continue
            name = jamo(" ".join(word.folded for word in written.words))
            distance = min(OSA.distance(name, form, score_cutoff=2) for form in text) if text else 3
            if 0 < distance <= max_typos(name):
                yield written.match("fuzzy", SCORES["fuzzy"] * (1 - distance / len(name)))

    def _typo_spans(
        self, text_words: list[Word]
    ) -> Iterator[tuple[int, int, tuple[NameMatch, ...]]]:
        longest = max((len(written.words) for written in self._full), default=0)
        for begin, count in product(
            range(len(text_words)), range(1, min(longest, MAX_PART_WORDS) + 1)
        ):
            window = text_words[begin : begin + count]
            if len(window) == count and window[0].capital and window[-1].capital:
                matches = sorted(
                    self._typo_matches(window, count=count), key=lambda match: -match.score
                )
                if matches:
                    yield (
                        begin,
                        begin + count,
                        tuple(m for m in matches if m.score == matches[0].score),
                    )


def name_forms_of(entry: KnownName) -> Iterator[NameForm]:
    folded_names: set[tuple[str, ...]] = set()
    for number, text in enumerate((entry.name, *entry.aliases)):
        name = tuple(name_words(text))
        forms = tuple(name_forms(word.folded, word.raw) for word in name)
        for begin, end in name_parts(name):
            folded = tuple(word.folded for word in name[begin:end])
            whole = end - begin == len(name)
            if folded not in folded_names or whole:
                folded_names.add(folded)
                how: MatchKind = "part" if not whole else ("alias" if number else "exact")
                yield NameForm(entry, name[begin:end], forms[begin:end], how)


def name_parts(name: tuple[Word, ...]) -> Iterator[tuple[int, int]]:
    """Yield the whole name, then the parts of it that could stand for it (`Mira` and `Voss` of
    `Mira Voss`)."""
    if not name:
        return
    yield 0, len(name)
    if len(name) > MAX_PART_WORDS:
        return
    for begin, end in product(range(len(name)), range(1, len(name) + 1)):
        if (
            0 < end - begin < len(name)
            and can_stand_alone(name[begin])
            and can_stand_alone(name[end - 1])
        ):
            yield begin, end


def can_stand_alone(word: Word) -> bool:
    return (
        word.capital
        and not word.raw.isdigit()
        and (len(word.folded) > 2 or has_hangul(word.folded))
    )


def matches_words(form: NameForm, text_words: list[Word]) -> bool:
    """Whether `said` goes on as this name does, each word in some form of its own; a particle ends
    the name."""
    last = len(form.forms) - 1
    if len(text_words) <= last:
        return False
    within = all(text_words[n].folded in forms for n, forms in enumerate(form.forms[:last]))
    return within and not form.forms[last].isdisjoint(text_forms(text_words[last].folded))


def _how(form: NameForm, text_words: list[Word]) -> MatchKind:
    if form.how == "part":
        return "part"
    same = all(
        known.folded == word.folded for known, word in zip(form.words, text_words, strict=False)
    )
    return form.how if same else "ending"


def is_proper_name(form: NameForm, text_words: list[Word], has_case: bool) -> bool:
    """Whether these words are a name here, not common words: a part, or a name of one word, wants
    its capital."""
    if form.how == "part":
        return text_words[0].capital and text_words[-1].capital
    return len(text_words) > 1 or text_words[0].capital or not has_case


def best_matches(matches: list[NameMatch]) -> tuple[NameMatch, ...]:
    best = max(map(_tier, matches))
    unique = {match.key: match for match in matches if _tier(match) == best}
    return tuple(unique.values())


def _tier(match: NameMatch) -> float:
    """A name, an alias and an inflected form are equally good; part of a name is less; a slip
    least, by its size."""
    return (
        match.score if match.how == "fuzzy" else SCORES["part" if match.how == "part" else "ending"]
    )


def _whole_forms(text_words: list[Word]) -> list[str]:
    """The phrase as written, and with the particle of its last word cut."""
    if not text_words:
        return []
    head = [word.folded for word in text_words[:-1]]
    return [" ".join((*head, last)) for last in text_forms(text_words[-1].folded)]


def max_typos(name: str) -> int:
    """How many slips a name of this length bears before it could be another name."""
    return 0 if len(name) < 5 else 1 if len(name) < 9 else 2


def _mention(text: str, text_words: list[Word], matches: tuple[NameMatch, ...]) -> Mention:
    start, end = text_words[0].start, text_words[-1].end
    return Mention(text[start:end], start, end, matches)
