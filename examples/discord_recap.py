"""Post what happened last time to a Discord channel, as the party knows it.

    python examples/discord_recap.py --party lanternbearers --session session-3

Needs MEMORY37_URL, MEMORY37_API_KEY and DISCORD_WEBHOOK_URL (in Discord: channel settings,
Integrations, Webhooks). Without `--session` the latest episodes are posted.
"""

import argparse
import os
from collections.abc import Iterator

import httpx2

from memory37_client import SyncMemory37Client

LONGEST_MESSAGE = 2000
"""Characters; Discord refuses longer ones."""


def recap_lines(memory: SyncMemory37Client, party: str, session: str | None) -> list[str]:
    """Return the sentences of the recap that the players of `party` may read."""
    audience = f"party:{party}"
    if session:
        query = {"as": audience}
        recap = memory.request("GET", f"/world/recaps/session/{session}", query=query)
        return [sentence["text"] for sentence in recap["sentences"]]
    found = memory.session_fetch(party, k=3, as_=audience)
    return [episode.what for episode in reversed(found.episodes)]


def messages(title: str, lines: list[str]) -> Iterator[str]:
    """Yield messages that Discord takes, each of whole lines where they fit."""
    text = f"**{title}**"
    for line in lines:
        parts = [line[at : at + 1900] for at in range(0, len(line), 1900)]
        for part in parts:
            if len(text) + 1 + len(part) > LONGEST_MESSAGE:
                yield text
                text = part
            else:
                text = f"{text}\n{part}"
    yield text


def post(address: str, text: str) -> None:
    # Nobody is notified by a name in the story.
    body = {"content": text, "allowed_mentions": {"parse": []}}
    httpx2.post(address, json=body, timeout=10).raise_for_status()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--party", required=True)
    parser.add_argument("--session")
    parser.add_argument("--title", default="Last time")
    options = parser.parse_args()
    with SyncMemory37Client.from_env() as memory:
        lines = recap_lines(memory, options.party, options.session)
    for text in messages(options.title, lines):
        post(os.environ["DISCORD_WEBHOOK_URL"], text)


if __name__ == "__main__":
    main()
