"""What the reference of the API begins with: the way from a key to the first scene."""

DESCRIPTION = """\
The memory of an AI game master: worlds, their people and lore, what happened at the table, who
thinks what of whom, and what an agent remembers.

**Begin here:** [the guide](/api/v1/guide) has every command from a key to the first scene and a
webhook. In short: the operator makes a key (`manage.py make_key --installation --name engine`).

1. `GET /api/v1/me` tells what the key may do; send it as `Authorization: Bearer m37_…`.
2. `POST /api/v1/worlds` creates a world. From then on the header `X-World` names it.
3. `POST /api/v1/world/campaigns` and `POST /api/v1/world/parties` make an audience:
   `party:<slug>`.
4. `PUT /api/v1/world/npcs` and `PUT /api/v1/world/lore` fill the world.
5. `PUT /api/v1/world/scenes` opens a scene; `POST /api/v1/tools/npc_profile` says how to play whom.
6. `POST /api/v1/world/episodes` records what came of it, with what NPCs think now.
7. `GET /api/v1/events` tells what changed; `POST /api/v1/world/keys` makes keys for players.

Each operation below has an example of its body and its answer, from one such day. `fields` of a
read names the fields to answer with.
"""
