"""Our own questions about the rules and the demo world: by search alone, and by the tools, which
add names and the glossary."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management import call_command

from bench.datasets import Question, evenly_spaced
from bench.metrics import measures_of
from bench.peers import Tenant
from bench.rankers import ways
from knowledge.models import LorePassage, RulePassage
from knowledge.schemas import LoreQuestion, RulesQuestion
from knowledge.search import find_lore, find_rules
from retrieval.indexing import count_words, embed_pending
from retrieval.models import get_passage_model
from retrieval.search import Mode, get_preset
from worlds.audiences import GM
from worlds.callers import Caller
from worlds.models import World

FOLDER = Path(__file__).parent / "questions"
FILES = ("lore", "srd_en", "srd_ko", "srd_ru")
PASSAGES = 20
"""An entry has several passages: this limit gives at least ten entries."""
TOOLS = {"the tool, by words": Mode.KEYWORD, "the tool, by meaning": Mode.VECTOR, "the tool": None}

Scores = dict[str, list[tuple[Question, dict[str, float]]]]


def measure_own_questions(sample: int = 0) -> Iterator[tuple[str, Scores]]:
    """Load and embed the rules and the demo world, then yield the measures of each file of
    questions, of at most `sample` of each, evenly spaced (0: all)."""
    load_rules_and_demo()
    for name in FILES:
        scores: Scores = defaultdict(list)
        for question in evenly_spaced(load_questions(name), sample):
            for ranker, way in rankers_of(question.meta["world"], question.meta["domain"]).items():
                scores[ranker].append((question, measures_of(way(question), question.relevant)))
        yield name, scores


def load_questions(name: str) -> list[Question]:
    lines = (FOLDER / f"{name}.queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [question_from(json.loads(line)) for line in lines]


def load_rules_and_demo() -> None:
    call_command("demo")
    for domain in ("srd", "lore"):
        embed_pending(
            get_passage_model(domain),
            on_batch=partial(print, f"{domain}: embedded", flush=True),
        )
        count_words(get_passage_model(domain))


def question_from(row: dict[str, Any]) -> Question:
    meta = {**row["meta"], "lang": row["meta"]["language"]}
    return Question(row["id"], row["text"], frozenset(row["relevant_ids"]), meta)


@cache
def rankers_of(slug: str, domain: str) -> dict[str, Callable[[Question], list[str]]]:
    world = World.objects.get(slug=slug)
    keys, tenant = rule_tenant(world) if domain == "srd" else lore_tenant(world)
    by_search = {
        name: rank_entries(way, keys) for name, way in ways(tenant, limit=PASSAGES).items()
    }
    return {
        **by_search,
        **{name: tool_ranker(Caller.gm(world), domain, mode) for name, mode in TOOLS.items()},
    }


def rule_tenant(world: World) -> tuple[dict[UUID, str], Tenant]:
    rows = RulePassage.objects.in_world(world).visible_to(GM)
    scopes = [scope for scope in (world.system_id, world.pk) if scope]
    return dict(rows.values_list("pk", "rule__key")), Tenant(
        rows, scopes, get_preset("srd"), hidden=True
    )


def lore_tenant(world: World) -> tuple[dict[UUID, str], Tenant]:
    rows = LorePassage.objects.in_world(world).visible_to(GM).filter(published=True)
    return dict(rows.values_list("pk", "lore__slug")), Tenant(
        rows, [world.pk], get_preset("lore"), hidden=True
    )


def rank_entries(
    way: Callable[[Question], list[UUID]], keys: dict[UUID, str]
) -> Callable[[Question], list[str]]:
    """Rank entries by their best passage."""
    return lambda question: list(dict.fromkeys(keys[id_] for id_ in way(question)))


def tool_ranker(caller: Caller, domain: str, mode: Mode | None) -> Callable[[Question], list[str]]:
    def ask(question: Question) -> list[str]:
        if domain == "srd":
            answer = find_rules(RulesQuestion(term=question.text, k=10), caller, mode=mode)
        else:
            answer = find_lore(LoreQuestion(query=question.text, k=10), caller, mode=mode)
        return [hit.id for hit in answer.hits]

    return ask
