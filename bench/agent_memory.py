"""Agent memory without a language model: sorting, intents, abstention.

python -m bench.agent_memory               # with the embedder of the settings; each author's questions held out in turn
python -m bench.agent_memory --fit         # fit abstention to all questions, print the lines for thresholds.yaml
python -m bench.agent_memory --examples    # write memories/buckets/intent_examples.jsonl from the labelled intents
python -m bench.agent_memory --intents FILE --memories FILE --questions FILE     # a set of another author, as shipped

What is fitted (the examples of intents, the weights of abstention) is fitted to everything here, so the numbers to
believe are those of an author held out: what is fitted to the others, asked what that one wrote. To the questions of
the author `c` nothing is ever fitted: theirs are the figures to report.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.abstaining import LANGUAGES, ask_all, ask_files, fit, held_out, report, trade_off
from bench.labelled import DATA, rows
from bench.scratch import connect
from memories.buckets.abstention import thresholds
from memories.buckets.cues import LabelScores, load_cues
from memories.buckets.intent_model import EXAMPLES_FILE, IntentExamples
from memories.buckets.intents import QueryClassifier
from retrieval.embedders import get_embedder

AUTHORS = {
    "first": ("intents", "intents_fresh", "intents_unseen"),
    "a": ("intents_a",),
    "b": ("intents_b",),
}


def macro_f1(pairs: list[tuple[str, str]]) -> float:
    right = Counter(wanted for wanted, got in pairs if wanted == got)
    wanted, got = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    return sum(2 * right[label] / (wanted[label] + got[label]) for label in wanted) / len(wanted)


def sorting() -> None:
    """Print how well events are sorted into buckets; the fresh ones were written after the cues."""
    cues = load_cues("buckets")
    for half, file in (("tuning", "events"), ("reporting", "events"), ("fresh", "events_fresh")):
        pairs = [
            (row["bucket"].lower(), cues.classify(row["text"]).label)
            for row in rows(DATA / f"{file}.jsonl", half=half)
        ]
        print(f"buckets    {half:<12} macro F1 {macro_f1(pairs):.3f}  ({len(pairs)})")


def examples_of(authors: list[str]) -> list[dict[str, Any]]:
    """The labelled intents of these authors, none twice."""
    everything = [
        row
        for author in authors
        for file in AUTHORS[author]
        for row in rows(DATA / f"{file}.jsonl")
    ]
    return list({row["text"].casefold().strip(" .?!"): row for row in everything}.values())


def taught(examples: list[dict[str, Any]]) -> QueryClassifier:
    texts, labels = [row["text"] for row in examples], [row["intent"].lower() for row in examples]
    return QueryClassifier(examples=IntentExamples(tuple(texts), tuple(labels)))


def intents() -> None:
    """Print for each author how well those questions are understood that only the other authors' have taught."""
    for author in AUTHORS:
        others = taught(examples_of([other for other in AUTHORS if other != author]))
        judge_intents(f"{author} held out", examples_of([author]), others.classify)
        judge_intents(f"{author} cues alone", examples_of([author]), load_cues("intents").classify)


def judge_intents(
    name: str, asked: list[dict[str, Any]], judge: Callable[[str], LabelScores]
) -> None:
    pairs = {row["text"]: (row["intent"].lower(), judge(row["text"]).label) for row in asked}
    by_language = (
        f"{language} {macro_f1([pairs[row['text']] for row in asked if row['language'] == language]):.3f}"
        for language in LANGUAGES
    )
    print(
        f"intents    {name:<18} macro F1 {macro_f1(list(pairs.values())):.3f}  {'  '.join(by_language)}  ({len(pairs)})"
    )


def write_examples() -> None:
    lines = [
        json.dumps({"text": row["text"], "intent": row["intent"].lower()}, ensure_ascii=False)
        for row in examples_of(list(AUTHORS))
    ]
    EXAMPLES_FILE.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} examples in {EXAMPLES_FILE}")


def reporting() -> None:
    """Print how what is shipped fares on the set of an author to whom nothing was ever fitted."""
    asked_for, known = (
        rows(DATA / "intents_c.jsonl"),
        {row["text"] for row in examples_of(list(AUTHORS))},
    )
    judge_intents("c as shipped", asked_for, QueryClassifier().classify)
    strange = [row for row in asked_for if row["text"] not in known]
    judge_intents("c, none taught", strange, QueryClassifier().classify)
    asked = ask_files(DATA / "abstention_c.jsonl", DATA / "abstention_c_memories.jsonl")
    report("c as shipped", asked, thresholds()[get_embedder("memory").name])


def of_files(options: argparse.Namespace) -> None:
    """Print how what is shipped fares on a set of another author."""
    if options.intents:
        judge_intents("as shipped", rows(options.intents), QueryClassifier().classify)
    if options.questions:
        report(
            "as shipped",
            ask_files(options.questions, options.memories),
            thresholds()[get_embedder("memory").name],
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
        return of_files(options)
    known = ask_all()
    if options.fit:
        print(
            f"any: {vars(fit(known, bare=True))}\n{get_embedder('memory').name}: {vars(fit(known))}"
        )
        return None
    sorting()
    intents()
    held_out(known)
    held_out(known, bare=True)
    trade_off(known)
    return reporting()


if __name__ == "__main__":
    main()
