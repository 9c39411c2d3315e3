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

How = Literal["exact", "alias", "ending", "part", "fuzzy"]
SCORES: dict[How, float] = {"exact": 1.0, "alias": 0.99, "ending": 0.97, "part": 0.8, "fuzzy": 0.7}
MAX_PART_WORDS = 6
MAX_JOINED = 3
CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class KnownName:
    """A known thing: `key` is given back, `name` is shown, `aliases` are its other names in any language."""

    key: Hashable
    name: str
    aliases: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class NameMatch:
    key: Hashable
    name: str
    how: How
    score: float


@dataclass(frozen=True, slots=True)
class Mention:
    """Characters [start, end) of the (NFC) text name one of `matches`; more than one key means: ambiguous."""

    text: str
    start: int
    end: int
    matches: tuple[NameMatch, ...]

    @property
    def ambiguous(self) -> bool:
        return len({match.key for match in self.matches}) > 1


@dataclass(frozen=True, slots=True)
class _Written:
    """One way to write an entry's name."""

    entry: KnownName
    words: tuple[Word, ...]
    forms: tuple[frozenset[str], ...]
    how: How

    def match(self, how: How, score: float | None = None) -> NameMatch:
        return NameMatch(
            self.entry.key, self.entry.name, how, SCORES[how] if score is None else score
        )


@dataclass
class NameIndex:
    entries: Iterable[KnownName]
    _by_form: dict[str, list[_Written]] = field(
        default_factory=lambda: defaultdict(list), init=False, repr=False
    )
    _joined: dict[str, list[_Written]] = field(
        default_factory=lambda: defaultdict(list), init=False, repr=False
    )
    _full: list[_Written] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        self.entries = tuple(self.entries)
        for entry in self.entries:
            for written in _ways_to_write(entry):
                self._add(written)

    def _add(self, written: _Written) -> None:
        for form in written.forms[0]:
            self._by_form[form].append(written)
        if written.how != "part":
            self._full.append(written)
            self._joined["".join(word.folded for word in written.words)].append(written)

    def find(self, name: str, *, limit: int = CANDIDATES) -> list[NameMatch]:
        """Return the entries that `name` may mean, best first, one match each."""
        said = name_words(name)
        best: dict[Hashable, NameMatch] = {}
        for match in (*self._whole(said), *self._slips(said)):
            if match.key not in best or match.score > best[match.key].score:
                best[match.key] = match
        return sorted(best.values(), key=lambda match: (-match.score, match.name))[:limit]

    def resolve(self, name: str, *, what: str = "name") -> Hashable:
        """Return the one key that `name` means. Raises NotFound or Ambiguous, both with candidates; never guesses."""
        found = self.find(name, limit=2 * CANDIDATES)
        if not found:
            raise NotFound(f"No {what} {name!r} is known here.", candidates=self.suggest(name))
        tier = [match for match in found if _tier(match) == _tier(found[0])]
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
        said = " ".join(word.folded for word in name_words(name))
        near = process.extract(said, names, scorer=fuzz.WRatio, limit=CANDIDATES, score_cutoff=55)
        return [shown for _text, _score, shown in near]

    def mentions(self, text: str) -> list[Mention]:
        """Return the names in `text` from left to right; the longest and best reading of each stretch wins."""
        if not self.entries:
            return []
        said = name_words(text)
        cased = any(word.raw[0].isupper() for word in said[1:])
        spans = [*self._spans(said, cased), *self._slip_spans(said)]
        spans.sort(key=lambda span: (span[0] - span[1], -span[2][0].score, span[0]))
        taken: set[int] = set()
        chosen = []
        for begin, end, matches in spans:
            if taken.isdisjoint(range(begin, end)):
                taken.update(range(begin, end))
                chosen.append((begin, end, matches))
        return [
            _mention(compose(text), said[begin:end], matches)
            for begin, end, matches in sorted(chosen)
        ]

    def _whole(self, said: list[Word]) -> Iterator[NameMatch]:
        for end, written, how in self._readings(said, 0):
            if end == len(said):
                yield written.match(how)

    def _readings(self, said: list[Word], begin: int) -> Iterator[tuple[int, _Written, How]]:
        """Yield (end, way to write, how) of every name that begins at word `begin`."""
        if begin >= len(said):
            return
        for form in text_forms(said[begin].folded):
            for written in self._by_form.get(form, ()):
                if _follows(written, said[begin:]):
                    yield begin + len(written.words), written, _how(written, said[begin:])
        for count in range(1, min(MAX_JOINED, len(said) - begin) + 1):
            joined = "".join(word.folded for word in said[begin : begin + count])
            for written in (w for form in text_forms(joined) for w in self._joined.get(form, ())):
                if len(written.words) != count:
                    yield begin + count, written, "ending"

    def _spans(
        self, said: list[Word], cased: bool
    ) -> Iterator[tuple[int, int, tuple[NameMatch, ...]]]:
        for begin in range(len(said)):
            by_end: dict[int, list[NameMatch]] = defaultdict(list)
            for end, written, how in self._readings(said, begin):
                if _proper(written, said[begin:end], cased):
                    by_end[end].append(written.match(how))
            for end, matches in by_end.items():
                yield begin, end, _best_tier(matches)

    def _slips(self, said: list[Word], *, count: int = 0) -> Iterator[NameMatch]:
        """Yield the full names (of `count` words, if given) that differ from `said` by a slip or two."""
        text = [jamo(form) for form in _whole_forms(said)]
        for written in self._full:
            if count and len(written.words) != count:
                continue
            name = jamo(" ".join(word.folded for word in written.words))
            distance = min(OSA.distance(name, form, score_cutoff=2) for form in text) if text else 3
            if 0 < distance <= _allowed_slips(name):
                yield written.match("fuzzy", SCORES["fuzzy"] * (1 - distance / len(name)))

    def _slip_spans(self, said: list[Word]) -> Iterator[tuple[int, int, tuple[NameMatch, ...]]]:
        longest = max((len(written.words) for written in self._full), default=0)
        for begin, count in product(range(len(said)), range(1, min(longest, MAX_PART_WORDS) + 1)):
            window = said[begin : begin + count]
            if len(window) == count and window[0].capital and window[-1].capital:
                matches = sorted(self._slips(window, count=count), key=lambda match: -match.score)
                if matches:
                    yield (
                        begin,
                        begin + count,
                        tuple(m for m in matches if m.score == matches[0].score),
                    )


def _ways_to_write(entry: KnownName) -> Iterator[_Written]:
    seen: set[tuple[str, ...]] = set()
    for number, name in enumerate((entry.name, *entry.aliases)):
        said = tuple(name_words(name))
        forms = tuple(name_forms(word.folded, word.raw) for word in said)
        for begin, end in _runs(said):
            folded = tuple(word.folded for word in said[begin:end])
            whole = end - begin == len(said)
            if folded not in seen or whole:
                seen.add(folded)
                how: How = "part" if not whole else ("alias" if number else "exact")
                yield _Written(entry, said[begin:end], forms[begin:end], how)


def _runs(said: tuple[Word, ...]) -> Iterator[tuple[int, int]]:
    """Yield the whole name, then the parts of it that could stand for it (`Mira` and `Voss` of `Mira Voss`)."""
    if not said:
        return
    yield 0, len(said)
    if len(said) > MAX_PART_WORDS:
        return
    for begin, end in product(range(len(said)), range(1, len(said) + 1)):
        if 0 < end - begin < len(said) and _telling(said[begin]) and _telling(said[end - 1]):
            yield begin, end


def _telling(word: Word) -> bool:
    return (
        word.capital
        and not word.raw.isdigit()
        and (len(word.folded) > 2 or has_hangul(word.folded))
    )


def _follows(written: _Written, said: list[Word]) -> bool:
    """Whether `said` goes on as this name does, each word in some form of its own; a particle ends the name."""
    last = len(written.forms) - 1
    if len(said) <= last:
        return False
    within = all(said[n].folded in forms for n, forms in enumerate(written.forms[:last]))
    return within and not written.forms[last].isdisjoint(text_forms(said[last].folded))


def _how(written: _Written, said: list[Word]) -> How:
    if written.how == "part":
        return "part"
    same = all(
        known.folded == word.folded for known, word in zip(written.words, said, strict=False)
    )
    return written.how if same else "ending"


def _proper(written: _Written, said: list[Word], cased: bool) -> bool:
    """Whether these words are a name here, not common words: a part, or a name of one word, wants its capital."""
    if written.how == "part":
        return said[0].capital and said[-1].capital
    return len(said) > 1 or said[0].capital or not cased


def _best_tier(matches: list[NameMatch]) -> tuple[NameMatch, ...]:
    best = max(map(_tier, matches))
    unique = {match.key: match for match in matches if _tier(match) == best}
    return tuple(unique.values())


def _tier(match: NameMatch) -> float:
    """A name, an alias and an inflected form are equally good; part of a name is less; a slip least, by its size."""
    return (
        match.score if match.how == "fuzzy" else SCORES["part" if match.how == "part" else "ending"]
    )


def _whole_forms(said: list[Word]) -> list[str]:
    """The phrase as written, and with the particle of its last word cut."""
    if not said:
        return []
    head = [word.folded for word in said[:-1]]
    return [" ".join((*head, last)) for last in text_forms(said[-1].folded)]


def _allowed_slips(name: str) -> int:
    """How many slips a name of this length bears before it could be another name."""
    return 0 if len(name) < 5 else 1 if len(name) < 9 else 2


def _mention(text: str, said: list[Word], matches: tuple[NameMatch, ...]) -> Mention:
    start, end = said[0].start, said[-1].end
    return Mention(text[start:end], start, end, matches)
