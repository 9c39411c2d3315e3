"""A language model plays one scene as game master and looks up each fact before it states it.

    python examples/play_scene.py --party lanternbearers "We ask the ferryman what he charges."

Needs an OpenAI-compatible server (OPENAI_BASE_URL, OPENAI_API_KEY, MODEL), MEMORY37_URL and
MEMORY37_API_KEY. `--party` sets the audience: the server answers for that party and no other.
"""

import argparse
import asyncio
import os
from typing import Any

from openai import AsyncOpenAI

from memory37_client import Memory37Client

RULES = """You are the game master of a tabletop scene. Before you state a rule, a place, a person
or a past event, look it up with a tool. What the tools do not show, you do not know: say so in the
story rather than invent it. Answer the players in two to five sentences."""
MAX_TURNS = 8


async def play(
    memory: Memory37Client, model: AsyncOpenAI, *, name: str, text: str, audience: str
) -> str:
    """Return the game master's answer to what the players say."""
    tools = await memory.openai_tools("scene", form="chat")
    dialogue: list[dict[str, Any]] = [
        {"role": "system", "content": RULES},
        {"role": "user", "content": text},
    ]
    for _turn in range(MAX_TURNS):
        completion = await model.chat.completions.create(model=name, messages=dialogue, tools=tools)  # type: ignore[call-overload]
        reply = completion.choices[0].message
        if not reply.tool_calls:
            return str(reply.content or "")
        dialogue.append(reply.model_dump(exclude_none=True))
        results = await asyncio.gather(
            *(
                memory.answer_tool_call(call.function.name, call.function.arguments, as_=audience)
                for call in reply.tool_calls
            )
        )
        for call, result in zip(reply.tool_calls, results, strict=True):
            dialogue.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return "The game master is lost in their books."


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("text", help="What the players say or do.")
    parser.add_argument(
        "--party", default="", help="Party whose knowledge is used; default: public knowledge."
    )
    options = parser.parse_args()
    audience = f"party:{options.party}" if options.party else "public"
    model = AsyncOpenAI(timeout=60)
    async with Memory37Client.from_env() as memory:
        name = os.environ.get("MODEL", "gpt-4.1-mini")
        print(await play(memory, model, name=name, text=options.text, audience=audience))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main())
