"""Who a report says was there: `python -m bench.presence [--half even|odd] [--misses]`.

Each line of `bench/data/presence_sentences.jsonl` is a report of one sentence with the people of
it who were there and those who were not: dead, away, only spoken of, or named in a sentence for
game masters alone. Prints how many of the absent are proposed as present, which gives them a
memory of what they did not witness, and how many of the present are not, which costs the game
master one tap. No database is needed. The sentences are by the author of the
rules; the odd half was held back.
"""

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path

import bench.django_apps  # noqa: F401
from knowledge.mentions.kinds import NamedThing
from memory_site.session_reports.hidden_sentences import with_hidden
from memory_site.session_reports.lexicon import ReportWords
from memory_site.session_reports.names import NamedSubject, ThingIndex
from memory_site.session_reports.people import named_things
from memory_site.session_reports.sentences import clean_report, sentences_of
from retrieval.models import uuid7
from retrieval.text import guess_language

SET = Path(__file__).parent / "data" / "presence_sentences.jsonl"
PEOPLE = {
    "Mira Voss": ("Мира Восс", "미라 보스"),
    "Jory Fenn": ("Джори Фенн", "조리 펜"),
    "Ida Kell": ("Ида Келл", "이다 켈"),
    "Hob Tallow": ("Хоб Тэллоу", "호브 탤로"),
    "Sabine Corrow": ("Сабина Корроу", "사빈 코로"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=["even", "odd"], help="Only the sentences of this half.")
    parser.add_argument("--misses", action="store_true", help="Print what is wrong.")
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for line in SET.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if options.half not in (None, row["half"]):
            continue
        there = people_there(row["text"])
        wrong, missing = set(row["absent"]) & there, set(row["present"]) - there
        for key in (row["lang"], "all"):
            counts[key].update(absent=len(row["absent"]), present=len(row["present"]))
            counts[key].update(wrong=len(wrong), missing=len(missing))
        if options.misses and wrong | missing:
            print("wrong", sorted(wrong), "missing", sorted(missing), row["text"])
    for key, count in counts.items():
        print(
            f"{key:4} absent, but ticked: {count['wrong']} of {count['absent']}; "
            f"present, but not ticked: {count['missing']} of {count['present']}"
        )


def people_there(text: str) -> set[str]:
    """Return the names of those who are proposed as present."""
    text = clean_report(text)
    words = ReportWords(guess_language(text))
    sentences = with_hidden(sentences_of(text), text, words, members=())
    mentions = ThingIndex([subject(name) for name in PEOPLE]).mentions(text, sentences)
    people = named_things(mentions, "person", words)
    return {line.candidates[0].name for line in people if line.present}


def subject(name: str) -> NamedSubject:
    slug = name.lower().replace(" ", "-")
    return NamedSubject("person", [NamedThing(uuid7(), "npc", slug, name, PEOPLE[name], uuid7())])


if __name__ == "__main__":
    main()
