"""Agent memory without a language model: buckets, intents, abstention.

    python -m bench.agent_memory               # each author's questions held out in turn
    python -m bench.agent_memory --fit         # fit abstention to all authors
    python -m bench.agent_memory --examples    # write intent_examples.jsonl of memories/buckets
    python -m bench.agent_memory --intents FILE --memories FILE --questions FILE

The last form measures what is shipped on the set of another author.

The shipped examples of intents and weights of abstention are fitted to all sets here, so the valid
figures are those of a held-out author: fitted to the other authors, tested on that one. Nothing is
fitted to the questions of the author `c`: report those figures.
"""

import argparse
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
django.setup()  # the imports below load models

from bench.abstention import (  # noqa: E402
    BY_WORDS,
    LANGUAGES,
    LabelledResult,
    ask_all,
    ask_files,
    fit,
    model_of,
    print_held_out,
    print_report,
    print_trade_off,
    supports_together,
)
from bench.labelled_sets import DATA, load_rows  # noqa: E402
from bench.scratch import connect  # noqa: E402
from memories.buckets.abstention import thresholds  # noqa: E402
from memories.buckets.answer_signs import MODEL_FILE, answer_model  # noqa: E402
from memories.buckets.intent_model import EXAMPLES_FILE, IntentExamples  # noqa: E402
from memories.buckets.intents import QueryClassifier  # noqa: E402
from memories.classification.cues import LabelScores, load_cues  # noqa: E402
from retrieval.embedders import get_embedder  # noqa: E402

AUTHORS = {
    "first": ("intents", "intents_fresh", "intents_unseen"),
    "a": ("intents_a",),
    "b": ("intents_b",),
}


def macro_f1(pairs: list[tuple[str, str]]) -> float:
    right = Counter(wanted for wanted, got in pairs if wanted == got)
    wanted, got = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    return sum(2 * right[label] / (wanted[label] + got[label]) for label in wanted) / len(wanted)


def print_bucket_scores() -> None:
    """Print the quality of bucket classification; the fresh events were written after the cues."""
    cues = load_cues("buckets")
    for half, file in (("tuning", "events"), ("reporting", "events"), ("fresh", "events_fresh")):
        pairs = [
            (row["bucket"].lower(), cues.classify(row["text"]).label)
            for row in load_rows(DATA / f"{file}.jsonl", half=half)
        ]
        print(f"buckets    {half:<12} macro F1 {macro_f1(pairs):.3f}  ({len(pairs)})")


def examples_of(authors: list[str]) -> list[dict[str, Any]]:
    """Return the labelled intents of these authors without duplicates."""
    everything = [
        row
        for author in authors
        for file in AUTHORS[author]
        for row in load_rows(DATA / f"{file}.jsonl")
    ]
    return list({row["text"].casefold().strip(" .?!"): row for row in everything}.values())


def classifier_from(examples: list[dict[str, Any]]) -> QueryClassifier:
    texts, labels = [row["text"] for row in examples], [row["intent"].lower() for row in examples]
    return QueryClassifier(examples=IntentExamples(tuple(texts), tuple(labels)))


def print_intent_scores() -> None:
    """Print the quality of intent classification for each author, by examples of the other
    authors.
    """
    for author in AUTHORS:
        others = classifier_from(examples_of([other for other in AUTHORS if other != author]))
        print_intent_score(f"{author} held out", examples_of([author]), others.classify)
        print_intent_score(
            f"{author} cues alone", examples_of([author]), load_cues("intents").classify
        )


def print_intent_score(
    name: str, rows: list[dict[str, Any]], judge: Callable[[str], LabelScores]
) -> None:
    pairs = {row["text"]: (row["intent"].lower(), judge(row["text"]).label) for row in rows}
    by_language = ""
    for language in LANGUAGES:
        some = [pairs[row["text"]] for row in rows if row["language"] == language]
        by_language += f"{language} {macro_f1(some):.3f}  "
    total = macro_f1(list(pairs.values()))
    print(f"intents    {name:<18} macro F1 {total:.3f}  {by_language}({len(pairs)})")


def write_examples() -> None:
    lines = [
        json.dumps({"text": row["text"], "intent": row["intent"].lower()}, ensure_ascii=False)
        for row in examples_of(list(AUTHORS))
    ]
    EXAMPLES_FILE.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} examples in {EXAMPLES_FILE}")


def print_reported_scores() -> None:
    """Print the quality of the shipped data on the set of an author to whom nothing was fitted."""
    intents, example_texts = (
        load_rows(DATA / "intents_c.jsonl"),
        {row["text"] for row in examples_of(list(AUTHORS))},
    )
    print_intent_score("c as shipped", intents, QueryClassifier().classify)
    strange = [row for row in intents if row["text"] not in example_texts]
    print_intent_score("c, none taught", strange, QueryClassifier().classify)
    results = ask_files(DATA / "abstention_c.jsonl", DATA / "abstention_c_memories.jsonl")
    print_as_shipped("c as shipped", results)


def print_scores_of_files(options: argparse.Namespace) -> None:
    """Print the quality of the shipped data on a set of another author."""
    if options.intents:
        print_intent_score("as shipped", load_rows(options.intents), QueryClassifier().classify)
    if options.questions:
        print_as_shipped("as shipped", ask_files(options.questions, options.memories))


def print_as_shipped(name: str, results: list[LabelledResult]) -> None:
    least = thresholds()[get_embedder("memory").name].least
    print_report(
        name, results, supports_together(answer_model().trees, answer_model().together), least=least
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--examples", action="store_true")
    for name in ("intents", "memories", "questions"):
        parser.add_argument(f"--{name}", type=Path)
    options = parser.parse_args()
    if bool(options.questions) != bool(options.memories):
        parser.error("--questions and --memories go together")
    connect("memory37_agent_bench")
    if options.examples:
        return write_examples()
    if options.intents or options.questions:
        return print_scores_of_files(options)
    results = ask_all()
    by_words = [one for one in results if one.author in BY_WORDS]
    if options.fit:
        print(f"any: {vars(fit(by_words, bare=True))}")
        print(f"{get_embedder('memory').name}: {vars(fit(results))}")
        MODEL_FILE.write_text(json.dumps(model_of(results)) + "\n", encoding="utf-8")
        return None
    print_bucket_scores()
    print_intent_scores()
    print_held_out(results)
    print_held_out(by_words, bare=True)
    print_trade_off(results)
    return print_reported_scores()


if __name__ == "__main__":
    main()
