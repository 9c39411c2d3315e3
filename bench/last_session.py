"""Questions about one session, through `session_fetch`: `python -m bench.last_session`.

In each of three invented campaigns (`bench/questions/sessions.*`) every session has a payment, a
purchase, a fight and a door, so that only the session tells which one is asked for. "before" asks
the search alone, which knows no sessions.
"""

import argparse
from collections import defaultdict
from datetime import timedelta
from statistics import fmean
from typing import TYPE_CHECKING, Any

from bench.query_classes import LANGUAGES, read_rows
from bench.scratch import connect

if TYPE_CHECKING:
    from worlds.models import Party, World

WORLD = "bench-sessions"
WEEK = timedelta(days=7)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="Print the questions missed.")
    options = parser.parse_args()
    connect()
    from episodes.queries import find_episodes, search_episodes

    parties = {language: load_campaign(language) for language in LANGUAGES}
    embed_episodes()
    for label, find in (("before", search_episodes), ("now", find_episodes)):
        found = defaultdict(list)
        for row in read_rows("sessions.queries"):
            first, *_rest = ids = ask(find, parties[row["language"]], row["text"])
            found[row["language"]].append((first in row["relevant_ids"], ids))
            if options.misses and first not in row["relevant_ids"]:
                print(f"MISS {label}: {row['text']} | {row['relevant_ids']} | {ids}")
        for language, hits in found.items():
            share = fmean(is_first for is_first, _ids in hits)
            print(f"{label:8}{language}  {len(hits)} questions  hit@1 {share:.3f}", flush=True)


def load_campaign(language: str) -> "Party":
    """Write the episodes of a language, its sessions a week apart; return the party."""
    from django.utils import timezone

    from episodes.ingest import ingest_episode
    from episodes.models import Episode, Session
    from episodes.schemas import EpisodeIn
    from worlds.models import Campaign, Party, World

    slug = f"{WORLD}-{language}"
    world, _new = World.objects.get_or_create(
        slug=slug, defaults={"name": slug, "language": language}
    )
    campaign, _new = Campaign.objects.get_or_create(world=world, slug="c", defaults={"name": "C"})
    party, _new = Party.objects.get_or_create(
        world=world, campaign=campaign, slug="company", defaults={"name": "Company"}
    )
    rows = [row for row in read_rows("sessions.corpus") if row["language"] == language]
    last = max(row["session"] for row in rows)
    for place, row in enumerate(rows):
        played_at = timezone.now() - (last + 1 - row["session"]) * WEEK
        session, _new = Session.objects.get_or_create(
            world=world,
            external_id=f"session-{row['session']}",
            defaults={"campaign": campaign, "party": party, "number": row["session"]},
        )
        episode = EpisodeIn(summary_id=row["id"], party_id=party.slug, what=row["text"])
        ingest_episode(world, episode)
        Episode.objects.filter(world=world, external_id=row["id"]).update(
            session=session, happened_at=played_at + timedelta(minutes=place)
        )
    return party


def embed_episodes() -> None:
    from episodes.models import Episode
    from retrieval.indexing import count_words, embed_pending

    embed_pending(Episode)
    count_words(Episode)


def ask(find: Any, party: "Party", question: str) -> list[str]:
    from episodes.models import Episode
    from worlds.audiences import GM

    rows = Episode.objects.of_party(party).visible_to(GM).not_retracted()
    world: World = party.world
    hits = find(rows, question, k=5, world=world, audience=GM)
    return [episode.summary_id for episode in hits.episodes]


if __name__ == "__main__":
    main()
