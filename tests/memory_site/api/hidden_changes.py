"""A world with open and hidden things of every kind, and changes of hidden ones, which nobody but
the game master may notice."""

from collections.abc import Callable
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from episodes.models import Episode
from knowledge.models import Lore, LorePassage
from npcs.models import Secret
from tests.art.image_samples import image_bytes
from tests.conftest import ApiClient
from worlds.models import World

PARTY = "party:lanternbearers"
INN = {"title": "Inn", "slug": "inn", "kind": "place", "status": "published", "tags": ["harbour"]}
OPEN = "The inn at the pier.\n\nIt smells of eel."
SECRET = "\n\n:::secret\nA trapdoor leads to the vault.\n:::"
ADA = {"npc_id": "ada", "name": "Ada Crane", "summary": "A tall woman.", "visibility": "public"}
RESCUE: dict[str, Any] = {
    "summary_id": "rescue",
    "party_id": "lanternbearers",
    "what": "They pulled Ada out of the water at the inn.",
    "when": {"in_world_at": 10.0},
}
SCENE = {
    "scene_id": "pier-night", "party_id": "lanternbearers", "title": "Night at the pier",
    "place": "Old lighthouse", "visibility": "public",
}  # fmt: skip
CARD = {
    "image_id": "pier-card", "scene_id": "pier-night", "style": "ink", "visibility": "public",
    "cdn_url": "https://cdn.example.org/pier.webp", "prompt_text": "A pier.",
}  # fmt: skip


def world_with_secrets(world: World) -> ApiClient:
    """Write open and hidden things of every kind into a world that has the parties of the cast;
    return a game master's key. `picture` and `hidden_picture` are ids."""
    client = ApiClient(world, scopes=["admin"], calls_per_minute=1_000_000)
    send = {
        "world/lore": {**INN, "visibility": "public", "body": OPEN + SECRET},
        "world/npcs": {**ADA, "voice": "Low.", "goals": ["Leave."], "secrets": ["She is a spy."]},
        "world/rules": {
            "rule_id": "house/rope", "title": "Wet rope", "body": "It bears half its load."
        },
    }  # fmt: skip
    for path, body in send.items():
        assert client.put(path, body)[0] in (200, 201), path
    # So that there is an order.
    client.put("world/npcs", {"npc_id": "bo", "name": "Bo Reed", "visibility": "public"})
    client.put("world/lore", {**INN, "title": "Tern", "slug": "tern", "visibility": "public"})
    hidden = {
        "world/lore": {"title": "Plot", "body": "The spy sells the pier.", "visibility": "gm"},
        "world/npcs": {"npc_id": "spy", "name": "Spy"},
        "world/rules": {
            "rule_id": "house/plot", "title": "Plot rope", "body": "It breaks.", "visibility": "gm"
        },
    }  # fmt: skip
    for path, body in hidden.items():
        assert client.put(path, body)[0] in (200, 201), path
    assert client.put("world/scenes", SCENE)[0] in (200, 201)
    assert client.put("world/scenes", {**SCENE, "scene_id": "pier-day"})[0] in (200, 201)
    fact = {"src": "Ada Crane", "relation": "LOCATED_IN", "dst": "Inn", "since": 5.0}
    write_fact(client, fact, visibility="public")
    assert client.post("world/episodes", {**RESCUE, "scene_id": "pier-night"})[0] < 300
    assert client.put("world/art", CARD)[0] < 300
    client.post("world/art/pier-card/moderation", {"moderation": "approved"})
    client.picture = upload(client, "pier", "gm", place=f"npc:{npc_id(client, 'ada')}")
    client.hidden_picture = upload(client, "plot", "gm")
    return client


def write_fact(client: ApiClient, fact: dict[str, Any], **more: Any) -> Any:
    return client.post("world/graph/facts", {"facts": [{"edge": {**fact, **more}}]})


def npc_id(client: ApiClient, slug: str) -> str:
    return str(client.get(f"world/npcs/{slug}")[1]["id"])


def upload(client: ApiClient, name: str, visibility: str, **more: str) -> str:
    # The same file again would be the same picture.
    content = image_bytes("PNG", colour=(ord(name[1]), 30, 60))
    file = SimpleUploadedFile(f"{name}.png", content, "image/png")
    answer = client.client.post(
        "/api/v1/world/pictures", {"file": file, "visibility": visibility, **more}
    )
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


def put_npc(**change: Any) -> Callable[[ApiClient], Any]:
    return lambda gm: gm.put("world/npcs", {**ADA, **change})


def put_inn(**change: Any) -> Callable[[ApiClient], Any]:
    return lambda gm: gm.put(
        "world/lore", {**INN, "visibility": "public", "body": OPEN + SECRET, **change}
    )


def reveal(kind: str, path: str, audience: str) -> Callable[[ApiClient], Any]:
    def send(gm: ApiClient) -> Any:
        row = gm.get(f"world/{path}")[1]["id"]
        entry = {"kind": kind, "id": row, "audience": audience}
        return gm.post("world/reveals", entry)

    return send


def reveal_draft(gm: ApiClient) -> Any:
    gm.put("world/lore", {"title": "Twist", "body": "The end.", "status": "draft"})
    row = Lore.objects.get(slug="twist").pk
    entry = {"kind": "lore", "id": str(row), "audience": PARTY}
    return gm.post("world/reveals", entry)


def reveal_secret_of_hidden_npc(gm: ApiClient) -> Any:
    gm.put("world/npcs", {"npc_id": "spy", "name": "Spy", "secrets": ["He sells the charts."]})
    row = Secret.objects.get(npc__slug="spy").pk
    return gm.post("world/reveals", {"kind": "secret", "id": str(row), "audience": PARTY})


def reveal_block_of_hidden_entry(gm: ApiClient) -> Any:
    body = "The spy sells the pier." + SECRET
    gm.put("world/lore", {"title": "Plot", "body": body, "visibility": "gm"})
    row = LorePassage.objects.get(lore__slug="plot", secret=True).pk
    return gm.post("world/reveals", {"kind": "lorepassage", "id": str(row), "audience": PARTY})


def reveal_retracted_episode(gm: ApiClient) -> Any:
    """One of another party, of which this one has never heard."""
    theft = {**RESCUE, "summary_id": "fraud", "party_id": "gilded-oath"}
    gm.post("world/episodes", theft)
    row = Episode.objects.get(external_id="fraud").pk
    gm.post("world/episodes/fraud/retract", {"reason": "Told twice."})
    return gm.post("world/reveals", {"kind": "episode", "id": str(row), "audience": PARTY})


def reveal_entry_of_another_campaign(gm: ApiClient) -> Any:
    gm.post("world/campaigns", {"name": "Ebb Tide"})
    entry = {"title": "Ebb", "body": "The inn falls dry.", "status": "published"}
    gm.put("world/lore", {**entry, "campaign": "ebb-tide"})
    row = Lore.objects.get(slug="ebb").pk
    return gm.post("world/reveals", {"kind": "lore", "id": str(row), "audience": PARTY})


def trash_and_restore(kind: str, ref: str) -> Callable[[ApiClient], Any]:
    def send(gm: ApiClient) -> Any:
        assert gm.send("DELETE", f"world/{kind}/{ref}")[0] == 204
        return gm.post(f"world/{kind}/{ref}/restore")

    return send


def bulk_delete(kind: str, ref: str) -> Callable[[ApiClient], Any]:
    return lambda gm: gm.post("world/bulk/delete", {"kind": kind, "ids": [ref]})


def move_in_secret(gm: ApiClient) -> Any:
    """She left the inn, of which nobody knows: for all that players know she is there."""
    fact = {"src": "Ada Crane", "relation": "LOCATED_IN", "dst": "Tern", "since": 20.0}
    return write_fact(gm, fact, succeeds=True, visibility="gm")


def draft_place(gm: ApiClient) -> Any:
    """The place of both scenes, with the picture of the first."""
    place = {"title": "Old lighthouse", "body": "It is lit.", "kind": "place", "status": "draft"}
    gm.put("world/lore", {**place, "visibility": "public"})
    for scene in ("pier-night", "pier-day"):
        gm.put("world/scenes", {**SCENE, "scene_id": scene})
    return gm.get("world/scenes/pier-day")


def add_hidden_participant(gm: ApiClient) -> Any:
    gm.put("world/npcs", {"npc_id": "spy", "name": "Spy"})
    return gm.post("world/episodes", {**EPISODE, "version": 3, "who": {"npcs": ["spy"]}})


def change_prompt(gm: ApiClient) -> Any:
    status, answer = gm.put("world/art", {**CARD, "prompt_text": "A spy on a pier."})
    assert status == 200, answer
    # A changed card waits for approval: players do not see it before.
    return gm.post("world/art/pier-card/moderation", {"moderation": "approved"})


EPISODE = {**RESCUE, "scene_id": "pier-night", "version": 2}
CHANGES: dict[str, Callable[[ApiClient], Any]] = {
    "voice and goals of an NPC": put_npc(voice="Hoarse.", goals=["Betray them."]),
    "a secret of an NPC": put_npc(secrets=["She is no spy.", "She sold the charts."]),
    "how an NPC begins": put_npc(base=0, play_now=["She lies."], half_life=30),
    "a milestone of an NPC": put_npc(milestones=[{"text": "She was born at sea."}]),
    "a hidden relative of an NPC": put_npc(family=[{"relation": "mother", "npc": "spy"}]),
    "the family of a hidden NPC": lambda gm: gm.put(
        "world/npcs",
        {"npc_id": "spy", "name": "Spy", "family": [{"relation": "son", "npc": ADA["npc_id"]}]},
    ),
    "a secret block": put_inn(body=OPEN + "\n\n:::secret\nA ladder to the roof.\n:::"),
    "a secret block before the text": put_inn(body=SECRET.strip() + "\n\n" + OPEN),
    "one more secret block": put_inn(body=OPEN + SECRET + "\n\n:::secret\nGold.\n:::"),
    "the folder of an entry": put_inn(folder="North"),
    "no secret block any more": put_inn(body=OPEN),
    "a hidden entry": lambda gm: gm.put("world/lore", {"title": "Plot", "body": "Another plot."}),
    "a new hidden entry": lambda gm: gm.put("world/lore", {"title": "Trap", "body": "The pier."}),
    "a draft for everybody": lambda gm: gm.put(
        "world/lore",
        {"title": "Pier of dawn", "body": "Inn.", "status": "draft", "visibility": "public"},
    ),
    "a draft that was revealed": reveal_draft,
    "a secret of a hidden NPC, revealed": reveal_secret_of_hidden_npc,
    "a secret block of a hidden entry, revealed": reveal_block_of_hidden_entry,
    "a retracted episode, revealed": reveal_retracted_episode,
    "an entry of another campaign, revealed": reveal_entry_of_another_campaign,
    "an entry revealed to others": reveal("lore", "lore/plot", "party:gilded-oath"),
    "an NPC revealed to others": reveal("npc", "npcs/spy", "party:gilded-oath"),
    "a hidden NPC": lambda gm: gm.put("world/npcs", {"npc_id": "spy", "name": "Inn Spy"}),
    "a hidden rule": lambda gm: gm.put(
        "world/rules",
        {"rule_id": "house/plot", "title": "Rope", "body": "Wet rope.", "visibility": "gm"},
    ),
    "deletion and restoration of a hidden entry": trash_and_restore("lore", "plot"),
    "deletion and restoration of a hidden NPC": trash_and_restore("npcs", "spy"),
    "notes of an episode": lambda gm: gm.post("world/episodes", {**EPISODE, "notes": "A lie."}),
    "what others did": lambda gm: gm.post(
        "world/episodes", {**RESCUE, "summary_id": "theft", "party_id": "gilded-oath"}
    ),
    "what an NPC thinks of others": lambda gm: gm.post(
        "world/npcs/ada/changes", {"party_id": "gilded-oath", "delta": 50, "reason": "Gold."}
    ),
    "a fact": lambda gm: gm.post(
        "world/graph/facts",
        {"facts": [{"edge": {"src": "Ada Crane", "relation": "ALLY_WITH", "dst": "spy"}}]},
    ),
    "a fact that ends an open one": move_in_secret,
    "a fact with days of its own": lambda gm: write_fact(
        gm, {"src": "Ada Crane", "relation": "KNOWS", "dst": "Bo Reed", "since": 1.0, "until": 99.0}
    ),
    "a draft of the place of a scene": draft_place,
    "a hidden participant": add_hidden_participant,
    "a rule for another audience": lambda gm: gm.put(
        "world/rules",
        {
            "rule_id": "house/oath",
            "title": "Rope of the oath",
            "body": "A wet rope bears an oath.",
            "visibility": "revealed",
            "known_to": ["party:gilded-oath"],
        },
    ),
    "a comment": lambda gm: gm.post("world/lore/inn/comments", {"text": "Too long."}),
    "the prompt of a card": change_prompt,
    "another gallery of a picture": lambda gm: gm.post(
        f"world/pictures/{gm.picture}/uses", {"place": f"npc:{npc_id(gm, 'spy')}"}
    ),
    "who else sees a picture": lambda gm: gm.send(
        "PATCH", f"world/pictures/{gm.picture}", {"visibility": "public"}
    ),
    "a hidden picture": lambda gm: gm.send(
        "PATCH", f"world/pictures/{gm.hidden_picture}", {"alt": "A plot."}
    ),
    "deletion of a hidden entry": bulk_delete("lore", "plot"),
    "deletion of a hidden NPC": bulk_delete("npc", "spy"),
    "deletion of a hidden rule": bulk_delete("rule", "house/plot"),
    "deletion of a hidden picture": lambda gm: gm.send(
        "DELETE", f"world/pictures/{gm.hidden_picture}"
    ),
    "a campaign and its party": lambda gm: gm.post("world/campaigns", {"name": "High Water"}),
    "a key": lambda gm: gm.post("world/keys", {"name": "other", "audience": "gm"}),
}  # fmt: skip
