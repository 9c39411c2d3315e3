"""What the tools cost a language model: `python -m bench.tokens`.

Prints two Markdown tables, in tokens of `o200k_base` (the vocabulary is in the bpe-openai wheel):
the lists of tools by profile, and the answer of each tool to the example of its description (or
what `ASKED` says), on the demo world as a game master. "full" is what `POST /tools/{name}` gives,
"small" what the tool loop and MCP's structured content give (`memory_site.compact`), "text" is
MCP's text content. The share is that of prose: texts with a space in them, without attributions.
The scratch database is kept.
"""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any
from uuid import uuid4

os.environ.setdefault("EMBEDDER", "hashing")

import bpe_openai

from bench.scratch import connect


@cache
def _encoding() -> Any:
    return bpe_openai.get_encoding("o200k_base")


ASKED = {"session_fetch": {"party_id": "lanternbearers", "k": 3}}
"""Instead of the example: it asks by words that the hashing embedder does not relate."""


def count_tokens(text: str) -> int:
    return len(_encoding().encode(text))


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def prose(node: Any) -> Iterator[str]:
    """Yield the texts of an answer that are written for people, without attributions."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name != "attribution":
                yield from prose(value)
    elif isinstance(node, list):
        for item in node:
            yield from prose(item)
    elif isinstance(node, str) and " " in node:
        yield node


def prose_share(answer: Any) -> float:
    """Return how much of the JSON of `answer` is prose, 0 to 1."""
    return sum(len(to_json(text)) - 2 for text in prose(answer)) / len(to_json(answer))


def list_rows() -> Iterator[list[str]]:
    """Yield a row for each profile, then one for all tools."""
    from memory_site.mcp import to_mcp_tool
    from memory_site.openai_schemas import Form, function_schema
    from memory_site.toolbox import TOOLS, Profile

    for profile in (*Profile, None):
        tools = [tool for tool in TOOLS if profile is None or profile in tool.profiles]
        contracts = [
            to_mcp_tool(tool).model_dump(mode="json", by_alias=True, exclude_none=True)
            for tool in tools
        ]
        inputs = [{**each, "outputSchema": None} for each in contracts]
        lists = [[function_schema(tool, form) for tool in tools] for form in Form]
        counts = [count_tokens(to_json(each)) for each in (*lists, inputs, contracts)]
        yield [f"`{profile}`" if profile else "all", str(len(tools)), *map(_grouped, counts)]


def answer_rows() -> Iterator[list[str]]:
    """Yield a row for each tool, then their sum."""
    from memory_site import toolbox
    from memory_site.mcp_text import to_text
    from worlds.audiences import GM
    from worlds.callers import Caller
    from worlds.keys import Scope
    from worlds.models import World

    world = World.objects.order_by("created_at").get(slug="ferrymark")
    # A new agent: what it was told before would change what its memory answers.
    caller = Caller(world, GM, scopes=frozenset(Scope), namespace=f"bench-{uuid4().hex[:8]}")
    totals, stored = [0, 0, 0], ""
    for tool in toolbox.TOOLS:
        arguments = ASKED.get(tool.name) or json.loads(tool.description.split("Example:", 1)[1])
        if tool.name == "memory_revise":
            arguments |= {"memory_id": stored}  # the example names no memory of this world
        result = toolbox.call_tool(tool.name, arguments, caller, via="bench")
        full, small = result.as_json(), result.as_compact_json()
        if tool.name == "archival_memory_insert":
            stored = full["ids"][0]
        counts = [count_tokens(text) for text in (to_json(full), to_json(small), to_text(small))]
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        shares = [f"{prose_share(each):.0%}".replace("%", " %") for each in (full, small)]
        yield [f"`{tool.name}`", *map(_grouped, counts), *shares]
    yield ["sum", *map(_grouped, totals), "", ""]


def _grouped(count: int) -> str:
    return f"{count:,}"


def table(head: Sequence[str], rows: Iterator[list[str]]) -> str:
    lines = [list(head), ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    connect("memory37_bench_tokens")
    from django.core.management import call_command

    call_command("demo", verbosity=0)
    lists = ("profile", "tools", "Responses", "Chat Completions", "MCP input", "MCP whole")
    print(table(lists, list_rows()))
    answers = ("answer", "full", "small", "text", "prose in full", "prose in small")
    print(f"\n{table(answers, answer_rows())}")


if __name__ == "__main__":
    main()
