"""A language model plays one scene as game master, and looks everything up before it says it.

    python examples/play_scene.py --party lanternbearers "We ask the ferryman what he charges."

The model is any OpenAI-compatible server (OPENAI_BASE_URL, OPENAI_API_KEY, MODEL); the memory is
MEMORY37_URL with MEMORY37_API_KEY. What the model may know is decided by `--party`: the server
answers for that audience and no other.
"""

import argparse
import asyncio
import json
import os
from collections.abc import Mapping
from typing import Any

from openai import AsyncOpenAI

from memory_site.client import Memory37Client, Memory37Error

RULES = """You are the game master of a tabletop scene. Before you state a rule, a place, a person
or a past event, look it up with a tool. What the tools do not show, you do not know: say so in the
story rather than invent it. Answer the players in two to five sentences."""
MOST_TURNS = 8


async def play(
    memory: Memory37Client, model: AsyncOpenAI, *, name: str, said: str, audience: str
) -> str:
    """Return what the game master answers to `said`."""
    tools = await memory.openai_tools("scene", form="chat")
    talk: list[dict[str, Any]] = [
        {"role": "system", "content": RULES},
        {"role": "user", "content": said},
    ]
    for _turn in range(MOST_TURNS):
        completion = await model.chat.completions.create(model=name, messages=talk, tools=tools)  # type: ignore[call-overload]
        reply = completion.choices[0].message
        if not reply.tool_calls:
            return str(reply.content or "")
        talk.append(reply.model_dump(exclude_none=True))
        results = await asyncio.gather(
            *(look_up(memory, call.function, audience) for call in reply.tool_calls)
        )
        for call, result in zip(reply.tool_calls, results, strict=True):
            talk.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return "The game master is lost in their books."


async def look_up(memory: Memory37Client, call: Any, audience: str) -> str:
    """Carry out one tool call. A problem goes back to the model too: it says what to do better."""
    try:
        arguments = {**_arguments(call.arguments), "as": audience}
        return json.dumps(await memory.call(call.name, arguments), ensure_ascii=False)
    except Memory37Error as problem:
        told: Mapping[str, Any] = {
            "error": problem.code,
            "detail": problem.detail,
            "candidates": problem.candidates,
        }
        return json.dumps(told, ensure_ascii=False)


def _arguments(text: str) -> dict[str, Any]:
    """Return what the model sent; for what is no JSON, an empty call, whose answer says what is
    missing.
    """
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("said", help="What the players say or do.")
    parser.add_argument(
        "--party", default="", help="Whose knowledge the scene may use; without it, the public's."
    )
    options = parser.parse_args()
    audience = f"party:{options.party}" if options.party else "public"
    model = AsyncOpenAI(timeout=60)
    async with Memory37Client.from_env() as memory:
        name = os.environ.get("MODEL", "gpt-4.1-mini")
        print(await play(memory, model, name=name, said=options.said, audience=audience))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main())
