"""Our own questions about the rules and the demo world, asked of the tools themselves: names and glossary take part."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management import call_command

from bench.datasets import Question
from bench.scoring import measured
from knowledge.finding import find_lore, find_rules
from knowledge.schemas import LoreQuestion, RulesQuestion
from retrieval import statistics
from retrieval.domains import model_of
from retrieval.ingest.embed import embed_pending
from worlds.callers import Caller
from worlds.models import World

FOLDER = Path(__file__).parent / "questions"


def measure_own() -> Iterator[tuple[str, dict[str, list[tuple[Question, dict[str, float]]]]]]:
    """Yield the measures of each file of questions; loads and embeds the rules and the demo world once."""
    call_command("demo")
    for domain in ("srd", "lore"):
        embed_pending(
            model_of(domain), on_batch=lambda done, name=domain: print(f"{name}: embedded {done}", flush=True)
        )
        statistics.refresh(model_of(domain))
    for path in sorted(FOLDER.glob("*.jsonl")):
        scores: dict[str, list[tuple[Question, dict[str, float]]]] = defaultdict(list)
        for line in path.read_text().splitlines():
            question = _question(json.loads(line))
            scores["the tool"].append((question, measured(_asked(question), question.relevant)))
        yield path.name.split(".")[0], scores


def _question(row: dict[str, Any]) -> Question:
    meta = {**row["meta"], "lang": row["meta"]["language"]}
    return Question(row["id"], row["text"], frozenset(row["relevant_ids"]), meta)


def _asked(question: Question) -> list[str]:
    caller = Caller.gm(World.objects.get(slug=question.meta["world"]))
    if question.meta["domain"] == "srd":
        answer = find_rules(RulesQuestion(term=question.text, k=10), caller)
    else:
        answer = find_lore(LoreQuestion(query=question.text, k=10), caller)
    return [hit.id for hit in answer.hits]
