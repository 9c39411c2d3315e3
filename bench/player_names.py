"""Names that players use, through `rules_lookup`: `python -m bench.player_names FOLDER`.

The folder holds `srd_x2en.corpus.jsonl.gz`, English rules, and sets of questions over them: names
(`srd_koname2en`, `srd_runame2en`) and paraphrases. The rules become rules of a game system of their
own with the glossary of the product and without any aliases, so names are found by the glossary and
by spelling alone. Names of this list must never enter the glossary.
"""

import argparse
import statistics
import time
from collections import defaultdict
from pathlib import Path

from bench.datasets import Document, Question, question_from, read_rows
from bench.metrics import MEASURES, mean_measures, measures_of
from bench.scratch import connect

CORPUS = "srd_x2en"
SETS = ("srd_koname2en", "srd_runame2en", "srd_ko2en", "srd_ru2en")
KINDS = {
    "spells": "spell",
    "items": "magic_item",
    "classfeatures": "feature",
    "monsterfeatures": "feature",
    "races": "feature",
    "subclasses": "class",
    "backgrounds": "background",
}
IN_SENTENCE = {"ru": "Как работает «{}»?", "ko": "{} 어떻게 써?"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", help="Only these sets.")
    parser.add_argument("--sample", type=int, default=1, help="Every n-th question.")
    parser.add_argument("--no-vectors", action="store_true", help="Do not embed the rules.")
    parser.add_argument("--sentences", action="store_true", help="Ask with the name in a sentence.")
    parser.add_argument("--kinds", action="store_true", help="Recall by kind of rule, too.")
    parser.add_argument("--misses", type=Path, help="Write the questions that found nothing here.")
    options = parser.parse_args()
    connect("memory37_player_names")
    world, keys = load_rules(options.folder, with_vectors=not options.no_vectors)
    for name in options.only or SETS:
        path = options.folder / f"{name}.queries.jsonl.gz"
        questions = [question_from(row) for row in read_rows(path)][:: options.sample]
        report(name, questions, world, keys, options)


def load_rules(folder: Path, *, with_vectors: bool):  # type: ignore[no-untyped-def]
    """Write the corpus as shared rules of a game system; return a world that plays by it, and the
    ids of documents by the keys of rules."""
    from knowledge.entry_store import save_all
    from knowledge.glossary.load import load_glossary
    from knowledge.models import Document as RuleBook
    from knowledge.models import Rule, RulePassage
    from retrieval.indexing import count_words, embed_pending, index_vectors
    from worlds.models import GameSystem, World

    system, _new = GameSystem.objects.get_or_create(slug="player-names", name="Player names")
    world, _new = World.objects.get_or_create(
        slug="player-names", defaults={"name": "Player names", "system": system}
    )
    book, _new = RuleBook.objects.get_or_create(
        slug="names", system=system, world=None, defaults={"title": "Player names"}
    )
    load_glossary(system)
    documents = [
        Document(row["id"], row["text"], row.get("meta") or {})
        for row in read_rows(folder / f"{CORPUS}.corpus.jsonl.gz")
    ]
    keys = {f"names/{number}": document.id for number, document in enumerate(documents)}
    stored = {rule.key: rule for rule in Rule.objects.filter(document=book)}
    rules = []
    for key, document in zip(keys, documents, strict=True):
        rule = stored.get(key) or Rule(key=key, document=book)
        rule.kind = KINDS.get(document.id.split("/")[0], "section")
        rule.title, rule.body, rule.aliases = document.context, document.text, []
        rules.append(rule)
    save_all(rules)
    if with_vectors:
        embed_pending(RulePassage, on_batch=lambda done: print(f"embedded {done}", flush=True))
        index_vectors(RulePassage)
    count_words(RulePassage)
    return world, keys


def report(name: str, questions: list[Question], world, keys, options) -> None:  # type: ignore[no-untyped-def]
    from knowledge.schemas import RulesQuestion
    from knowledge.search import find_rules
    from worlds.callers import Caller

    caller = Caller.gm(world)
    scores, seconds, misses = defaultdict(list), [], []
    for question in questions:
        sentence = IN_SENTENCE[question.language] if options.sentences else "{}"
        term = sentence.format(question.text)
        started = time.perf_counter()
        answer = find_rules(RulesQuestion(term=term, k=10), caller)
        seconds.append(time.perf_counter() - started)
        ranked = [keys[hit.id] for hit in answer.hits]
        measures = measures_of(ranked, question.relevant)
        scores["all"].append(measures)
        scores[str(question.meta.get("kind", ""))].append(measures)
        if not measures["recall@10"]:
            misses.append(f"{question.id}\t{question.text}\t{ranked[:5]}")
    print(f"\n{name} ({len(questions)})  median {1000 * statistics.median(seconds):.1f} ms")
    for kind, rows in scores.items():
        if kind == "all" or options.kinds:
            means = mean_measures(rows)
            values = "  ".join(f"{measure} {means[measure]:.3f}" for measure in MEASURES)
            print(f"  {kind:18}{len(rows):5}  {values}", flush=True)
    if options.misses:
        with options.misses.open("a", encoding="utf-8") as file:
            file.write("\n".join([f"# {name}", *misses, ""]))


if __name__ == "__main__":
    main()
