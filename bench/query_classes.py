"""Classes of questions, each measured through `rules_lookup` and `lore_search`: `python -m
bench.query_classes [--only CLASS] [--sample N]`.

Names with one slip of the finger, everyday speech, numbers, values of stat blocks, years, and
questions with two parts.
Slips are made mechanically in all names of the rules (`bench.slips`); the other questions are those
of `bench/questions`. `hit@3` is the share of questions with an answer among the first three hits;
of a question about a number, the text of that hit must hold it. Of a question with two parts all
answers are wanted among the first five (`all@5`).
"""

import argparse
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.scratch import connect
from bench.slips import with_slip

FOLDER = Path(__file__).parent / "questions"
LANGUAGES = ("en", "ru", "ko")
SHORTEST = {"en": 3, "ru": 3, "ko": 2}
"""Letters of a name in which a slip leaves anything to recognize."""
ALPHABETS = {"en": "[a-z]", "ru": "[а-яё]", "ko": "[가-힣]"}
WINDOW = 200
"""Characters of a hit that a list of results shows."""
YEARS_WORLD = "bench-years"
HALVES = ("develop", "report")
DEMO_WORLD = "ferrymark"
LORE_FRAMES = {
    "en": ("Who decides about {} now?", "Where can I find {}?", "tell me what you know about {}"),
    "ru": ("Что такое {} и кому это важно?", "Где искать {}?", "расскажи, что слышно: {}"),
    "ko": ("{}에 대해 아는 걸 말해줘", "{}의 역사가 궁금해", "사람들이 {} 얘기를 왜 해?"),
}


@dataclass(frozen=True)
class Outcome:
    group: str
    text: str
    expected: tuple[str, ...]
    hits: tuple[str, ...]
    scores: dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=list(CLASSES))
    parser.add_argument(
        "--sample", type=int, default=0, help="At most so many names of a language."
    )
    parser.add_argument("--half", choices=HALVES, default="report", help="Of the names with slips.")
    parser.add_argument("--misses", action="store_true", help="Print the questions without a hit.")
    parser.add_argument("--json", type=Path, help="Write every question and its hits to this file.")
    options = parser.parse_args()
    connect()
    prepare_worlds()
    outcomes = [each for name in options.only or CLASSES for each in CLASSES[name](options)]
    print_report(outcomes, with_misses=options.misses)
    if options.json:
        rows = [vars(outcome) for outcome in outcomes]
        options.json.write_text(json.dumps(rows, ensure_ascii=False, indent=1))


def prepare_worlds() -> None:
    """Load the rules, and the texts of the questions about years as lore; embed both."""
    from django.core.management import call_command

    from knowledge.models import Rule
    from knowledge.schemas import LoreIn
    from knowledge.upsert import upsert_lore
    from retrieval.indexing import count_words, embed_pending
    from retrieval.models import get_passage_model
    from worlds.models import GameSystem, World

    if not Rule.objects.filter(world=None).exists():
        call_command("demo")
    system = GameSystem.objects.get(slug="dnd-5e")
    for language in LANGUAGES:
        slug = f"{YEARS_WORLD}-{language}"
        world, _new = World.objects.get_or_create(
            slug=slug, defaults={"name": slug, "system": system, "language": language}
        )
        for row in read_rows("years.corpus"):
            if row["language"] == language:
                entry = LoreIn(
                    slug=row["id"],
                    title=row["title"],
                    body=row["text"],
                    language=language,
                    visibility="public",
                    status="published",
                )
                upsert_lore(world, entry)
    for domain in ("srd", "lore"):
        model = get_passage_model(domain)
        embed_pending(model, on_batch=partial(print, f"{domain}: embedded", flush=True))
        count_words(model)


# --- slips


def measure_slips(options: argparse.Namespace) -> Iterator[Outcome]:
    for language in LANGUAGES:
        names = [name for name in names_of_rules(language) if half_of(name) == options.half]
        step = -(-len(names) // options.sample) if options.sample else 1
        for name in names[::step]:
            wrong, keys = with_slip(name, language), keys_by_name()[name.casefold()]
            yield judge(f"slip, alone / {language}", wrong, keys)
            yield judge(f"slip, inside / {language}", inside(wrong, language), keys)
            yield judge(f"spelled, inside / {language}", inside(name, language), keys)


def measure_lore_slips(_options: argparse.Namespace) -> Iterator[Outcome]:
    """Names of the demo world's entries, titles and aliases, each in one of the frames."""
    slugs = slugs_by_name()
    for language in LANGUAGES:
        names = [name for name in slugs if is_written_in(name, language)]
        for number, name in enumerate(names):
            frame = LORE_FRAMES[language][number % len(LORE_FRAMES[language])]
            for group, asked in (("slip", with_slip(name, language)), ("spelled", name)):
                text = frame.format(asked)
                hits = ask_lore(text, world=DEMO_WORLD, k=5)
                yield outcome_of_hits(f"lore, {group} inside / {language}", text, slugs[name], hits)


def slugs_by_name() -> dict[str, frozenset[str]]:
    from knowledge.models import Lore

    slugs: dict[str, set[str]] = defaultdict(set)
    rows = Lore.objects.filter(world__slug=DEMO_WORLD).values_list("slug", "title", "aliases")
    for slug, title, aliases in rows.order_by("slug"):
        for name in (title, *aliases):
            slugs[name].add(slug)
    return {name: frozenset(each) for name, each in slugs.items()}


def is_written_in(name: str, language: str) -> bool:
    """Whether a name has letters enough of a language; a common noun (`the bell`) is no name."""
    letters = len(re.findall(ALPHABETS[language], name, re.IGNORECASE))
    return letters >= SHORTEST[language] and not name[0].islower()


def judge(group: str, text: str, keys: frozenset[str]) -> Outcome:
    return outcome_of_hits(group, text, keys, ask_rules(text, k=5))


def outcome_of_hits(group: str, text: str, keys: frozenset[str], answer: Iterable[Any]) -> Outcome:
    hits = tuple(hit.id for hit in answer)
    scores = {
        "hit@1": float(bool(keys & set(hits[:1]))),
        "hit@3": float(bool(keys & set(hits[:3]))),
        "hit@5": float(bool(keys & set(hits))),
    }
    return Outcome(group, text, tuple(sorted(keys)), hits, scores)


def names_of_rules(language: str) -> list[str]:
    """Return the names of the glossary that a rule has, as title or alias."""
    from knowledge.glossary.terms import read_terms

    names: dict[str, None] = {}
    for term in read_terms():
        for name in (term.term,) if language == "en" else term.names.get(language, ()):
            letters = len(re.findall(ALPHABETS[language], name, re.IGNORECASE))
            if letters >= SHORTEST[language] and name.casefold() in keys_by_name():
                names[name] = None
    return list(names)


@cache
def keys_by_name() -> dict[str, frozenset[str]]:
    """Return the ids of the shared rules by each of their names."""
    from knowledge.models import Rule

    keys: dict[str, set[str]] = defaultdict(set)
    rules = Rule.objects.filter(world=None, key__startswith="srd-5.1/")
    for key, title, aliases in rules.values_list("key", "title", "aliases"):
        for name in (title, *aliases):
            keys[name.casefold()].add(key)
    return {name: frozenset(each) for name, each in keys.items()}


def half_of(name: str) -> str:
    return HALVES[hashlib.sha256(name.encode()).digest()[0] % 2]


def inside(name: str, language: str) -> str:
    if language == "en":
        return f"how does {name.lower()} work"
    if language == "ru":
        return f"как работает {name}"
    has_final = "가" <= name[-1] <= "힣" and (ord(name[-1]) - ord("가")) % 28
    return f"{name}{'은' if has_final else '는'} 어떻게 작동해?"


# --- written questions


def measure_everyday(_options: argparse.Namespace) -> Iterator[Outcome]:
    for row in read_rows("everyday.queries"):
        hits = ask_rules(row["text"], k=5)
        scores = {
            f"hit@{k}": float(any(has_name(hit, row["expected"]) for hit in hits[:k]))
            for k in (1, 3, 5)
        }
        yield outcome_of(f"everyday speech / {row['language']}", row, hits, scores)


def measure_numbers(_options: argparse.Namespace) -> Iterator[Outcome]:
    for row in read_rows("numbers.queries"):
        hits = ask_rules(row["text"], k=5)
        has_answer = [
            is_about(hit, row["expected"]) and holds(hit.text, row["answer"]) for hit in hits
        ]
        scores = {f"hit@{k}": float(any(has_answer[:k])) for k in (1, 3, 5)}
        yield outcome_of("numbers", row, hits, scores)


def measure_stats(_options: argparse.Namespace) -> Iterator[Outcome]:
    """Questions about one value of a stat block, a spell or a thing (`goblin AC`): whether the rule
    is the first hit, whether its text holds the value, and whether near its beginning."""
    for row in read_rows("stats.queries"):
        hits = ask_rules(row["text"], k=5)
        is_first = bool(hits) and has_name(hits[0], row["expected"])
        text = hits[0].text if is_first else ""
        scores = {
            "hit@1": float(is_first),
            "value": float(holds(text, row["answer"])),
            f"value in {WINDOW} characters": float(holds(text[:WINDOW], row["answer"])),
        }
        yield outcome_of(f"stats / {row['language']}", row, hits, scores)


def measure_years(_options: argparse.Namespace) -> Iterator[Outcome]:
    for row in read_rows("years.queries"):
        hits = ask_lore(row["text"], world=f"{YEARS_WORLD}-{row['language']}", k=5)
        relevant = set(row["relevant_ids"])
        scores = {f"hit@{k}": float(any(hit.id in relevant for hit in hits[:k])) for k in (1, 3, 5)}
        expected = {**row, "expected": row["relevant_ids"]}
        yield outcome_of("years and amounts", expected, hits, scores)


def measure_two_part(_options: argparse.Namespace) -> Iterator[Outcome]:
    for row in read_rows("two_part.queries"):
        hits = ask_rules(row["text"], k=10)
        scores = {
            f"all@{k}": fmean(
                float(any(has_name(hit, [name]) for hit in hits[:k])) for name in row["expected"]
            )
            for k in (3, 5, 10)
        }
        yield outcome_of(f"two parts / {row['language']}", row, hits, scores)


CLASSES: dict[str, Callable[[argparse.Namespace], Iterable[Outcome]]] = {
    "slips": measure_slips,
    "lore_slips": measure_lore_slips,
    "everyday": measure_everyday,
    "numbers": measure_numbers,
    "stats": measure_stats,
    "years": measure_years,
    "two_part": measure_two_part,
}


def outcome_of(
    group: str, row: dict[str, Any], hits: Iterable[Any], scores: dict[str, float]
) -> Outcome:
    return Outcome(
        group, row["text"], tuple(row["expected"]), tuple(hit.id for hit in hits), scores
    )


def has_name(hit: Any, names: Iterable[str]) -> bool:
    """Whether a rule is called by one of `names`; a level of a class is not the class."""
    return any(hit.id in keys_of(name.casefold()) for name in names)


@cache
def keys_of(name: str) -> frozenset[str]:
    """Return the ids of the rules called `name`, else of those whose name begins or ends with it
    (`Plate`: `Plate Armor`; `Encumbrance`: `Variant: Encumbrance`)."""
    whole = re.compile(rf"^{re.escape(name)}\b|\b{re.escape(name)}$")
    longer = (keys for known, keys in keys_by_name().items() if whole.search(known))
    return keys_by_name().get(name) or frozenset[str]().union(*longer)


def is_about(hit: Any, names: Iterable[str]) -> bool:
    """Whether one of `names` is in a rule's title (`Plate` in `Plate Armor`), or in a heading."""
    titles = " / ".join((hit.title, *hit.headings)).casefold()
    return has_name(hit, names) or any(
        re.search(rf"\b{re.escape(name.casefold())}\b", titles) for name in names
    )


def holds(text: str, answer: str) -> bool:
    """Whether `text` holds the number, however thousands are separated, as a word of its own."""
    plain, wanted = (re.sub(r"(?<=\d),(?=\d{3})", "", each) for each in (text, answer))
    return re.search(rf"(?<![\w.]){re.escape(wanted)}(?!\w)", plain, re.IGNORECASE) is not None


def ask_rules(text: str, *, k: int) -> Any:
    from knowledge.schemas import RulesQuestion
    from knowledge.search import find_rules

    return find_rules(RulesQuestion(term=text, k=k, max_chars=50_000), caller_in(DEMO_WORLD)).hits


def ask_lore(text: str, *, world: str, k: int) -> Any:
    from knowledge.schemas import LoreQuestion
    from knowledge.search import find_lore

    return find_lore(LoreQuestion(query=text, k=k, max_chars=50_000), caller_in(world)).hits


@cache
def caller_in(slug: str) -> Any:
    from worlds.callers import Caller
    from worlds.models import World

    return Caller.gm(World.objects.get(slug=slug))


def read_rows(name: str) -> list[dict[str, Any]]:
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def print_report(outcomes: list[Outcome], *, with_misses: bool) -> None:
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.group].append(outcome)
    for group, rows in groups.items():
        means = {name: fmean(row.scores[name] for row in rows) for name in rows[0].scores}
        print(f"{group:28}{len(rows):6}  " + "  ".join(f"{n} {v:.3f}" for n, v in means.items()))
    if with_misses:
        for outcome in outcomes:
            if not list(outcome.scores.values())[1] >= 1:
                print(f"MISS {outcome.group}: {outcome.text} | {outcome.expected} | {outcome.hits}")


if __name__ == "__main__":
    main()
