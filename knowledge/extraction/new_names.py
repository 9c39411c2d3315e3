"""Names that a text introduces and the world does not have, with the kind of thing that the words
beside them tell: `the miller Oda Renn`, `город Ларн`, `… 마을`. A name of which nothing tells the
kind is none."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from knowledge.extraction.findings import TextSentence
from knowledge.extraction.lexicon import load
from knowledge.extraction.russian_names import nominative, role_forms
from knowledge.fact_check.lexicon import load_yaml, vocabulary
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import NodeKind
from retrieval.text import fold_name, name_words, text_forms

CAPITAL = {
    "en": r"[A-ZÀ-ÞĀ-Ž][\w’'-]*",
    "ru": r"[А-ЯЁ][\w-]*",
}
JOINING = {"en": r"(?:of the|of|the|de|von|van|af)", "ru": r"(?:на|над)"}


@dataclass(frozen=True)
class NewName:
    name: str
    kind: NodeKind
    sentence: TextSentence


@dataclass(frozen=True)
class NameWords:
    """Roles that tell the kind of a name, by their folded forms in a text."""

    kinds: dict[str, tuple[str, str]]
    """Form of a word: kind, and the word as the lexicon has it."""
    kin: dict[str, str]
    not_names: frozenset[str]


@cache
def name_lexicon(language: str) -> NameWords:
    data = load(language)
    forms = role_forms if language == "ru" else _plain_forms
    kinds: dict[str, tuple[str, str]] = {}
    people = [*load_yaml(language)["titles"], *data["titles"]] if language == "en" else []
    rows = {**data["kinds"]}
    places = {word for kind, words in rows.items() if kind != "Character" for word in words}
    people = [word for word in people if " " not in word and word not in places]
    rows["Character"] = [*rows["Character"], *people, *data["kin"]]
    for kind, words in rows.items():
        for word in words:
            for form in forms(word):
                kinds.setdefault(fold_name(form), (kind, word))
    for word in data.get("no_roles", []):
        kinds.pop(word, None)
    kin = {fold_name(form): word for word in data["kin"] for form in forms(word)}
    return NameWords(kinds, kin, frozenset(data["not_names"]))


def _plain_forms(word: str) -> Iterator[str]:
    yield word
    yield f"{word}s"


def new_names(
    sentences: Sequence[TextSentence], linker: EntityLinker, language: str
) -> list[NewName]:
    """Return the new names of a text, each once."""
    find = _in_hangul if language == "ko" else _with_capitals
    found: dict[str, NewName] = {}
    for sentence in sentences:
        known = [(each.start, each.end) for each in linker.mentions(sentence.text)]
        for name, kind, end in find(sentence.text, language):
            # `The company of the Gilded` is no name where the Gilded Oath is one.
            is_cut = any(start < end <= stop for start, stop in known)
            if not is_cut and not is_known(name, linker):
                found.setdefault(fold_name(name), NewName(name, NodeKind(kind), sentence))
    return _without_parts(list(found.values()))


def joined_names(told: list[NewName], others: Iterable[NewName]) -> list[NewName]:
    """Return `told` and those of `others` that share no word with them or with one another."""
    joined = list(told)
    for each in others:
        words = set(fold_name(each.name).split())
        if all(words.isdisjoint(fold_name(other.name).split()) for other in joined):
            joined.append(each)
    return joined


def is_known(name: str, linker: EntityLinker) -> bool:
    """Whether the world has the name, or one of which this is a part."""
    if linker.index.find_spelled(name):
        return True
    if any(match.how in ("part", "ending") for match in linker.index.find(name)):
        return True
    # `Renfrey of Coldmere` where there is a Renfrey.
    head, joined, _rest = name.partition(" of ")
    return bool(joined) and is_known(head, linker)


def _without_parts(names: list[NewName]) -> list[NewName]:
    """Leave out `Hale` where there is a `Dunstan Hale`."""
    words = {id(each): set(fold_name(each.name).split()) for each in names}
    return [
        each
        for each in names
        if not any(other is not each and words[id(each)] < words[id(other)] for other in names)
    ]


def _with_capitals(text: str, language: str) -> Iterator[tuple[str, str, int]]:
    """Yield the name, its kind, and the character after it."""
    lexicon = name_lexicon(language)
    word = CAPITAL[language]
    sequence = re.compile(rf"(?<![\w’'-]){word}(?: (?:{JOINING[language]} )?{word})*")
    for match in sequence.finditer(text):
        start, words = match.start(), match.group().split(" ")
        # The first word of a sentence may be any; a role in capitals is a title.
        role = ""
        while len(words) > 1 and words[0] in lexicon.not_names:
            start += len(words[0]) + 1
            role = words[0] if _role_of(words[0], lexicon) else ""
            words = words[1:]
        while len(words) > 1 and _role_of(words[0], lexicon, kind="Character"):
            start += len(words[0]) + 1
            role, words = words[0], words[1:]
        if not words or words[0] in lexicon.not_names or _is_role_alone(words, lexicon):
            continue
        if re.search(load(language)["calling"], text[: match.start()]):
            continue
        name = re.sub(r"[’']s?$", "", " ".join(words))
        if len(name) < 3 or name.isupper():
            continue
        before, after = text[:start], text[match.end() :]
        if found := _kind_by_context(name, role, before, after, lexicon, language):
            yield (*found, match.end())


def _role_of(word: str, lexicon: NameWords, *, kind: str = "") -> tuple[str, str] | None:
    role = lexicon.kinds.get(fold_name(word))
    return role if role and kind in ("", role[0]) else None


def _is_role_alone(words: Sequence[str], lexicon: NameWords) -> bool:
    return len(words) == 1 and fold_name(words[0]) in lexicon.kinds


def _kind_by_context(
    name: str, role: str, before: str, after: str, lexicon: NameWords, language: str
) -> tuple[str, str] | None:
    """Return the name (in the nominative) and the kind that the words around it tell."""
    data: Any = load(language)
    own = _kind_of_head(name, lexicon, language)
    if own:
        return name, own
    last = re.search(data["before"], before)
    word = role or (last["role"] if last else "")
    told = _role_of(word, lexicon) if word else None
    if last and not role and told and not _introduces(last[0], told[0]):
        told = None
    if told:
        return nominative(name, word, told) if language == "ru" else name, told[0]
    if re.search(data["person_before"], before):
        return nominative(name, "", ("Character", "")) if language == "ru" else name, "Character"
    if match := re.match(data["after"], after):
        told = _role_of(match["role"], lexicon)
        return (name, told[0]) if told else None
    if re.match(data["person_after"], after):
        return (name, "Character") if " " in name or before.strip() else None
    return None


def _introduces(words: str, kind: str) -> bool:
    """Whether these words before a name say what it is: `the village of`, `the miller`, but not
    `a page of the` nor `the market,`."""
    if kind == "Character":
        return not re.search(r" (?:of|the) ?[\"“]?$", words)
    return "," not in words


def _kind_of_head(name: str, lexicon: NameWords, language: str) -> str:
    """Return the kind that a word of the name tells: `Fort Amber`, `the Order of Embers`."""
    words = name.split(" ")
    if len(words) < 2:
        return ""
    data: Any = load(language)
    candidates = (words[0], words[-1]) if language == "en" else (words[0],)
    for place, word in enumerate(candidates):
        told = _role_of(word, lexicon)
        if language == "en" and place == 0:
            # `Keep Captain Corrow's lamp`: a verb, unless `of` follows.
            if word.lower() in data["verbs_too"] and words[1] != "of":
                continue
        elif language == "en" and word == "House":
            return "Location"
        if told and told[0] != "Character":
            return told[0]
    return ""


# --- Korean


def _in_hangul(text: str, language: str) -> Iterator[tuple[str, str, int]]:
    data: Any = load(language)
    common = vocabulary(language) | _hangul_words()
    for kind, patterns in data["new"].items():
        for pattern in patterns:
            for match in _hangul_pattern(pattern).finditer(text):
                name = match["name"].strip()
                ending = match.groupdict().get("josa") or ""
                name = re.sub(load("ko")["name_titles"], "", name)
                is_name = not WITH_PARTICLE.match(name) and not _is_common(name, common)
                is_clause = kind == "Location" and re.search(load("ko")["not_place_names"], name)
                if name and is_name and not is_clause and _takes(name, ending):
                    yield name, kind, match.end("name")


@cache
def _hangul_pattern(pattern: str) -> re.Pattern[str]:
    data: Any = load("ko")
    for name, macro in data["name_macros"].items():
        pattern = pattern.replace(f"{{{name}}}", macro)
    return re.compile(pattern)


@cache
def _hangul_words() -> frozenset[str]:
    data: Any = load("ko")
    lists = [*data["kinds"].values(), data["kin"], data["not_names"]]
    return frozenset(word for words in lists for word in words)


def _takes(name: str, ending: str) -> bool:
    """Whether a name may have this particle: 은 after a consonant, 는 after a vowel."""
    return not ending or name in text_forms(name + ending) or ending not in PARTICLES


WITH_PARTICLE = re.compile(r"[가-힣]{2,}(?:에|에서|을|를|은|는|의|으로) ")
"""A first word with a particle: no name goes on after it."""
PARTICLES = frozenset(["은", "는", "이", "가", "을", "를", "와", "과"])


def is_common_hangul(name: str) -> bool:
    """Whether one of the words is an ordinary one."""
    return _is_common(name, vocabulary("ko") | _hangul_words())


def _is_common(name: str, common: frozenset[str]) -> bool:
    """Whether one of the words is an ordinary one, without its particle, too."""
    words = [word.norm for word in name_words(name)]
    forms = {form for word in words for form in (word, *text_forms(word))}
    return not words or not common.isdisjoint(forms | {each.partition("들")[0] for each in forms})
