"""Names of one world: `python -m bench.stored_names [--names 100000]`.

The world has entries of made-up names in English, Russian and Korean, none twice. Prints how many
of 40 exact names spread over the alphabet a question finds in each language, how many of 40
inflected and of 40 misspelt ones, and the time of the look-up: of a name alone, and in a question.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from bench.results import bench_folder, save_json
from bench.scratch import connect

LANGUAGES = ("en", "ru", "ko")
ASKED = 40
QUESTIONS = {
    "en": "What happened to {} last winter?",
    "ru": "Что {} скрывает?",
    "ko": "{} 이야기를 들려줘",
}
INFLECTED = {"en": "{}'s", "ru": "{}", "ko": "{}에게"}
SYLLABLES = {
    "en": (
        "ba be bo da de do ga go ka ke ko la le lo ma me mo na ne no ra re ro sa se so",
        "n l r k m d",
    ),
    "ru": (
        "ба бе бо да де до га го ка ке ко ла ле ло ма ме мо на не но ра ре ро са се со",
        "н л р к м д",
    ),
    "ko": (
        "가 나 다 라 마 바 사 아 자 차 카 타 파 하 고 노 도 로 모 보 소 오 조 초 코 토",
        "강 남 당 란 만 반",
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=int, default=100_000)
    names_wanted = parser.parse_args().names
    connect("memory37_names")
    from knowledge.models import Lore

    world = fill_world(names_wanted)
    figures: dict[str, Any] = {"names": names_wanted}
    for language in LANGUAGES:
        titles = sorted(
            Lore.objects.filter(world=world, language=language).values_list("title", flat=True)
        )
        asked = titles[:: len(titles) // ASKED][:ASKED]
        figures[language] = measure(world, language, asked)
        print(language, figures[language], flush=True)
    save_json(bench_folder() / "stored_names.json", figures)


def words_of(language: str) -> Iterator[str]:
    """Yield words of three syllables in a fixed random order."""
    first, last = (part.split() for part in SYLLABLES[language])
    words = ["".join(each) for each in product(first, first, last)]
    random.Random(7).shuffle(words)
    yield from (word.capitalize() for word in words)


def names_of(language: str, count: int) -> list[str]:
    """Return `count` names of two words; each word is in as many names as there are others."""
    words = list(words_of(language))
    some = words[: int(count**0.5) + 1]
    pairs = product(some, words[len(some) : 2 * len(some)])
    return [" ".join(pair) for pair in pairs][:count]


def fill_world(count: int) -> Any:
    from knowledge.models import Lore
    from retrieval.text import name_keys
    from worlds.models import World

    execute("TRUNCATE worlds_world CASCADE")
    world = World.objects.create(slug="names", name="Names")
    for language in LANGUAGES:
        names = names_of(language, count // len(LANGUAGES))
        rows = (
            Lore(
                world=world,
                slug=f"{language}-{number}",
                title=name,
                language=language,
                status="published",
                name_keys=name_keys(name),
            )
            for number, name in enumerate(names)
        )
        Lore.objects.bulk_create(rows, batch_size=500)
    execute("VACUUM ANALYZE knowledge_lore")
    return world


def measure(world: Any, language: str, names: list[str]) -> dict[str, Any]:
    from knowledge.models import Lore
    from knowledge.name_matching import name_index
    from retrieval.search import CompiledRows

    rows = CompiledRows(Lore.objects.in_world(world))
    questions = [QUESTIONS[language].format(name) for name in names]

    def found(asked: list[str]) -> int:
        return sum(
            name
            in {
                match.name
                for each in name_index(rows, text).mentions(text)
                for match in each.matches
            }
            for name, text in zip(names, asked, strict=True)
        )

    slips = [f"{name[:-2]}{name[-1]}{name[-2]}" for name in names]
    inflected = [QUESTIONS[language].format(inflect(language, name)) for name in names]
    misspelt = [QUESTIONS[language].format(name) for name in slips]
    return {
        "exact": found(questions),
        "inflected": found(inflected),
        "misspelt": found(misspelt),
        "ms of a name": median_ms(lambda name: name_index(rows, name).find(name), names),
        "ms in a question": median_ms(
            lambda text: name_index(rows, text).mentions(text), questions
        ),
        "ms of a misspelt one in a question": median_ms(
            lambda text: name_index(rows, text).mentions(text), misspelt
        ),
    }


def inflect(language: str, name: str) -> str:
    return name + {"en": "'s", "ru": "ом", "ko": "에게"}[language]


def median_ms(call: Callable[[str], Any], texts: list[str]) -> float:
    seconds = []
    for text in texts * 3:
        start = time.perf_counter()
        call(text)
        seconds.append(time.perf_counter() - start)
    return round(1_000 * statistics.median(seconds), 1)


def execute(statement: str) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement)


if __name__ == "__main__":
    main()
