"""A game engine looks up a rule, records a scene and reads it back. It needs no language model and
no Django.

    python examples/record_scene.py --party lanternbearers

Needs MEMORY37_URL and a MEMORY37_API_KEY with the scopes tools:read and world:write and the
audience cap gm.
"""

import argparse
import asyncio
from typing import Any

from memory37_client import Memory37Client, Memory37Error


async def record(memory: Memory37Client, *, party: str, summary_id: str) -> list[str]:
    """Record one scene and return the titles of the latest episodes that the party knows of."""
    audience = f"party:{party}"
    rules = await memory.rules_lookup("grappled", k=1, as_=audience)
    rule = rules.hits[0].title if rules.hits else "no rule"
    summary: dict[str, Any] = {
        "summary_id": summary_id,
        "party_id": party,
        "when": {"in_world_label": "the night after the fog"},
        "what": f"The party wrestled an eel at the landing ({rule}) and let it go.",
    }
    await memory.request("POST", "/world/episodes", summary)
    session = await memory.session_fetch(party, k=3, as_=audience)
    return [episode.title for episode in session.episodes]


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--party", required=True)
    parser.add_argument("--summary-id", default="example-1")
    options = parser.parse_args()
    async with Memory37Client.from_env() as memory:
        try:
            lines = await record(memory, party=options.party, summary_id=options.summary_id)
        except Memory37Error as problem:
            raise SystemExit(f"{problem} {', '.join(problem.candidates)}") from problem
    print("\n".join(lines))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main())
