"""A world after years of play: NPCs, parties, and episodes by the ten thousand, written by SQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

EPISODES_OF_SESSION = 20
ENTRIES_OF_NPC = 2
PEOPLE_OF_EPISODE = 3

EPISODES = """
INSERT INTO episodes_episode (
  id, world_id, campaign_id, party_id, session_id, external_id, text, what, payload, metadata,
  context, language, version, happened_at, in_world_at, in_world_label, players, npcs, place, flags,
  relations_delta, notes, visibility, known_to, retracted_why, embedding_model, content_hash,
  created_at, updated_at, embed_error)
SELECT gen_random_uuid(), %(world)s, %(campaign)s, s.party_id, s.id, 'ep-' || n, body, body, '{}',
  '{}', 'day ' || n, 'en', 1, now() - (%(n)s - n) * interval '1 minute', 700000 + n / 100.0, '',
  ARRAY['Tobin', 'Ilse'],
  ARRAY(SELECT 'npc-' || (n * 7 + n / 1000 + each * 131) %% %(npcs)s
    FROM generate_series(1, %(people)s) AS each),
  'entry-' || (n * 6) %% %(entries)s, ARRAY['fog'], '[]', 'A note.', 'revealed', '[]', '', '', '',
  CASE WHEN n > %(n)s - %(parties)s * %(per_session)s THEN now() ELSE
    now() - (%(n)s - n) * interval '1 minute' END, now(), ''
FROM generate_series(1, %(n)s) AS n
JOIN episodes_session s ON s.world_id = %(world)s
  AND s.external_id = 's-' || n %% %(parties)s || '-' || n / %(parties)s / %(per_session)s,
  LATERAL (SELECT 'In scene ' || n || ' they met number ' || n %% %(npcs)s
    || ' and argued about the toll. '
    || repeat('The water rose and nobody slept much that night. ', 8) AS body) AS texts
"""
APPEARANCES = """
INSERT INTO npcs_appearance (npc_id, episode_id)
SELECT npcs.id, e.id FROM episodes_episode e
JOIN npcs_npc npcs ON npcs.slug = ANY (e.npcs) AND npcs.world_id = e.world_id
WHERE e.world_id = %(world)s
"""
MENTIONS = """
INSERT INTO episodes_mention (episode_id, lore_id, role, secret)
SELECT e.id, lore.id, 'place', false FROM episodes_episode e
JOIN knowledge_lore lore ON lore.slug = e.place AND lore.world_id = e.world_id
WHERE e.world_id = %(world)s
"""
LINKS = """
INSERT INTO knowledge_link (world_id, source_kind, source_id, field, position, raw, folder,
  name, words, name_keys, kind, secret, audiences, part, targets, state)
SELECT e.world_id, 'episode', e.id, 'what', 1, 'Person', '', 'Person', 'Person', '{}', 'name',
  false, '[]', NULL, ARRAY[npcs.id], 'resolved'
FROM episodes_episode e
JOIN npcs_npc npcs ON npcs.slug = e.npcs[1] AND npcs.world_id = e.world_id
WHERE e.world_id = %(world)s
"""
CHANGES = """
INSERT INTO npcs_dispositionchange (
  npc_id, party_id, kind, axis, delta, reason, held, episode_id, episode_version, made_by, rule,
  happened_at, created_at, in_world_at, in_world_label)
SELECT npcs.id, e.party_id, 'episode', 'trust',
  CASE WHEN e.external_id LIKE '%%77' THEN 20 WHEN random() < 0.5 THEN -3 ELSE 4 END,
  'Because of ' || e.external_id, e.external_id LIKE '%%1777', e.id, 1, '', '',
  e.happened_at, e.happened_at, e.in_world_at, ''
FROM episodes_episode e
JOIN npcs_npc npcs ON npcs.slug = e.npcs[1] AND npcs.world_id = e.world_id
WHERE e.world_id = %(world)s
ORDER BY e.happened_at
"""
LOOSE_ENDS = """
INSERT INTO episodes_looseend (id, world_id, party_id, episode_id, text, created_at, updated_at,
  closed_by, closed_at)
SELECT gen_random_uuid(), e.world_id, e.party_id, e.id,
  'They promised ' || npcs.name || ' a letter', now(), now(), '',
  CASE WHEN e.happened_at < now() - interval '200 minutes' THEN now() END
FROM episodes_episode e
JOIN npcs_npc npcs ON npcs.slug = e.npcs[1] AND npcs.world_id = e.world_id
WHERE e.world_id = %(world)s AND e.external_id LIKE '%%7'
"""
AFTER_EPISODES = (APPEARANCES, MENTIONS, LINKS, CHANGES, LOOSE_ENDS)


@dataclass(frozen=True)
class Size:
    npcs: int
    episodes: int
    parties: int

    @property
    def entries(self) -> int:
        return self.npcs * ENTRIES_OF_NPC


def write_campaign(slug: str, size: Size) -> Any:
    """Write a world of this size, and return it."""
    from bench.pages import write_lore
    from worlds.calendars.presets import gregorian
    from worlds.models import Campaign, GameSystem, World
    from worlds.world_calendar import save_calendar

    system, _new = GameSystem.objects.get_or_create(slug="dnd-5e", name="Fifth edition")
    world = World.objects.create(slug=slug, name=slug.title(), system=system)
    campaign = Campaign.objects.create(world=world, slug="long", name="Long")
    save_calendar(world, gregorian("en"), by="bench")
    write_lore(world, size.entries)
    parties = write_parties(campaign, size.parties)
    npcs = write_npcs(world, size.npcs)
    write_episodes(campaign, parties, size)
    write_relations(world, npcs)
    write_reveals(world, parties, npcs)
    write_scenes(campaign, parties, npcs)
    return world


def write_parties(campaign: Any, count: int) -> list[Any]:
    from worlds.models import Character, Party

    world = campaign.world
    numbered = [(f"party-{n}", f"Party {n}") for n in range(count)]
    parties = [
        Party(world=world, campaign=campaign, slug=slug, name=name) for slug, name in numbered
    ]
    Party.objects.bulk_create(parties)
    Character.objects.bulk_create(
        Character(world=world, party=party, slug=f"{party.slug}-{n}", name=f"Hero {n}", position=n)
        for party in parties
        for n in range(4)
    )
    return parties


def write_npcs(world: Any, count: int) -> list[Any]:
    """NPCs with a biography, a home, a faction and two secrets each; every third is hidden."""
    from knowledge.models import Lore
    from npcs.models import NPC, Secret

    entries: dict[str, list[Any]] = {}
    for entry in Lore.objects.in_world(world).order_by("slug").only("pk", "kind", "title"):
        entries.setdefault(entry.kind, []).append(entry)
    places, factions, texts = (entries[kind] for kind in ("place", "faction", "biography"))
    npcs = [
        NPC(
            world=world,
            slug=f"npc-{n}",
            name=person_name(n),
            visibility="gm" if n % 3 == 2 else "public",
            role="Ferryman",
            summary="Rows at night.",
            voice="Speaks in short sentences.",
            goals=["Keep the crossing."],
            faction=factions[n % 40 % len(factions)].title,
            faction_lore=factions[n % 40 % len(factions)],
            home=places[n % 100 % len(places)].title,
            home_lore=places[n % 100 % len(places)],
            biography=texts[n] if n < len(texts) else None,
        )
        for n in range(count)
    ]
    NPC.objects.bulk_create(npcs)
    Secret.objects.bulk_create(
        Secret(world=world, npc=npc, position=n, text=f"{npc.name} took the toll {n} times.")
        for npc in npcs
        for n in (1, 2)
    )
    return npcs


def person_name(number: int) -> str:
    """A given name that few have, and a family name of one's own."""
    from bench.generated_world import SYLLABLES

    given = SYLLABLES[number % 97] + SYLLABLES[number * 5 % 89] + "n"
    family = SYLLABLES[number % 101] + SYLLABLES[number // 7 % 107] + SYLLABLES[number % 11]
    return f"{given} {family}".title()


def write_episodes(campaign: Any, parties: Sequence[Any], size: Size) -> None:
    from django.db import connection

    from episodes.models import Session
    from npcs.dispositions import recompute_dispositions
    from npcs.models import NPC

    world = campaign.world
    per_party = size.episodes // len(parties) // EPISODES_OF_SESSION + 1
    Session.objects.bulk_create(
        Session(
            world=world,
            campaign=campaign,
            party=party,
            external_id=f"s-{place}-{n}",
            number=n + 1,
            title=f"Evening {n + 1} of {party.name}",
            visibility="revealed",
            in_world_at=700_000 + n * len(parties) * EPISODES_OF_SESSION / 100,
        )
        for place, party in enumerate(parties)
        for n in range(per_party + 1)
    )
    values = {
        "world": world.pk,
        "campaign": campaign.pk,
        "n": size.episodes,
        "npcs": size.npcs,
        "entries": size.entries,
        "parties": size.parties,
        "people": PEOPLE_OF_EPISODE,
        "per_session": EPISODES_OF_SESSION,
    }
    with connection.cursor() as cursor:
        for statement in (EPISODES, *AFTER_EPISODES):
            cursor.execute(statement, values)
        # Without statistics of the new rows, the ledger of one party takes minutes to read.
        cursor.execute("ANALYZE")
    npcs = list(NPC.objects.filter(world=world).values_list("pk", flat=True))
    for party in parties:
        recompute_dispositions(party, npcs)


def write_relations(world: Any, npcs: Sequence[Any]) -> None:
    """Five facts about each NPC, and contradictions between some of them."""
    from knowledge.graph.models import GraphEdge, GraphNode

    GraphNode.objects.bulk_create(
        [GraphNode(world=world, kind="Character", slug=npc.slug, name=npc.name) for npc in npcs],
        ignore_conflicts=True,
    )
    rows = GraphNode.objects.filter(world=world, slug__in=[npc.slug for npc in npcs])
    nodes = list(rows.order_by("slug"))
    count = len(nodes)
    GraphEdge.objects.bulk_create(
        GraphEdge(
            world=world,
            src=node,
            dst=nodes[(place + step) % count],
            relation_id=relation,
            src_kind=node.kind,
            dst_kind=node.kind,
            visibility="public",
            since=700_000 + place,
            source_kind="episode",
            source_ref=f"ep-{place + 1}",
            flag="Its source was changed." if place % 50 == 0 and step == 1 else "",
        )
        for place, node in enumerate(nodes)
        for step, relation in ((1, "KNOWS"), (2, "KNOWS"), (3, "ALLY_WITH"), (4, "ENEMY_OF"))
    )
    open_contradictions(world)


def open_contradictions(world: Any) -> None:
    from knowledge.graph.contradiction_models import ConflictRule, Contradiction
    from knowledge.graph.models import GraphEdge

    rule = ConflictRule.objects.first()
    edges = GraphEdge.objects.filter(world=world).order_by("pk")
    allies, enemies = (list(edges.filter(relation=name)[:40]) for name in ("ALLY_WITH", "ENEMY_OF"))
    Contradiction.objects.bulk_create(
        Contradiction(world=world, rule=rule, first=first, second=second)
        for first, second in zip(allies, enemies, strict=True)
    )


def write_reveals(world: Any, parties: Sequence[Any], npcs: Sequence[Any]) -> None:
    """Each party learned of hidden NPCs, one after the other."""
    from npcs.models import NPC
    from worlds.models import Reveal

    hidden = [npc for npc in npcs if npc.visibility == "gm"]
    for place, npc in enumerate(hidden[: len(hidden) // 2]):
        learned = [f"party:{parties[(place + n) % len(parties)].slug}" for n in range(4)]
        npc.visibility, npc.known_to = "revealed", sorted(set(learned))
    NPC.objects.bulk_update(hidden, ["visibility", "known_to"])
    Reveal.objects.bulk_create(
        Reveal(
            world=world,
            subject_kind="npc",
            subject_id=npc.pk,
            audience=audience,
            in_world_at=700_000 + place,
            by="bench",
        )
        for place, npc in enumerate(hidden)
        for audience in npc.known_to
    )


def write_scenes(campaign: Any, parties: Sequence[Any], npcs: Sequence[Any]) -> None:
    """An open scene of each party, with a cast of six and a running thread; and notes."""
    from episodes.models import Scene, Session, Step, Thread
    from episodes.report_models import SessionNote

    world = campaign.world
    latest = Session.objects.filter(world=world).order_by("party", "-number").distinct("party")
    sessions = {session.party_id: session for session in latest}
    for place, party in enumerate(parties):
        session = sessions[party.pk]
        own: dict[str, Any] = {"world": world, "campaign": campaign, "party": party}
        cast = [npcs[(place * 11 + n) % len(npcs)] for n in range(6)]
        scene = Scene.objects.create(
            **own,
            session=session,
            external_id=f"scene-{place}",
            title="At the landing",
            place=cast[0].home,
            place_lore=cast[0].home_lore,
            cast=[npc.slug for npc in cast],
            in_world_at=701_000,
        )
        thread = Thread.objects.create(**own, scene=scene, external_id=f"thread-{place}")
        words = f"{cast[0].name} asked who had told {npcs[place * 7 % len(npcs)].name}."
        Step.objects.bulk_create(Step(thread=thread, number=n, text=words) for n in range(30))
        SessionNote.objects.bulk_create(
            SessionNote(**own, session=session, text=f"Note {n}") for n in range(20)
        )
