"""The morning: a world, its people and keys, its lore, rules, graph and pictures."""

from typing import Any

from django.contrib.auth import get_user_model

from knowledge.bulk_changes import BulkChangeRequest, apply_change
from knowledge.models import Lore
from memory_site.archive import runs as archives
from memory_site.imports import runs, undo
from tests.art.image_samples import image_bytes
from tests.memory_site.api.day.run import Call, Meanwhile, call
from worlds import audit
from worlds.archive_run import ArchiveRun
from worlds.models import Membership, World

Step = Call | Meanwhile

PIER = {
    "title": "The Pier",
    "kind": "place",
    "status": "published",
    "visibility": "public",
    "body": "Wet planks, gulls, one lamp.\n\n:::secret party:gulls\nThe third plank lifts.\n:::",
    "aliases": ["Salt Pier"],
    "tags": ["harbour"],
    "folder": "Harbour",
}
CRANE = {
    "npc_id": "ada-crane",
    "name": "Ada Crane",
    "role": "Harbour pilot",
    "summary": "A tall woman with a rope over her shoulder.",
    "faction": "Pilots' Guild",
    "home": "The Pier",
    "voice": "Dry, few words.",
    "goals": ["Buy her brother's boat back."],
    "secrets": [{"text": "She sold the charts.", "known_to": ["npc:bo-reed"]}],
    "play_now": ["She counts coins while you talk."],
    "visibility": "public",
}
REED = {"npc_id": "bo-reed", "name": "Bo Reed", "role": "Smuggler"}
ROPE = {
    "rule_id": "house/rope",
    "title": "Wet rope",
    "body": "A wet rope bears half its load.",
    "aliases": ["slippery rope"],
}


def somebody_joins(_saved: dict[str, Any]) -> None:
    """A person follows an invitation, and another is a game master already."""
    world = World.objects.get(slug="salt-coast")
    users = get_user_model().objects
    for name, role in (("anna", "gm"), ("ben", "player"), ("carl", "player")):
        Membership.objects.create(world=world, user=users.create_user(name), role=role)


def a_person_changes_many_entries(_saved: dict[str, Any]) -> None:
    change = BulkChangeRequest("status Draft", status="draft")
    world = World.objects.get(slug="salt-coast")
    ids = list(Lore.objects.filter(world=world, slug="eel-market").values_list("pk", flat=True))
    apply_change(world, ids, change, user=get_user_model().objects.get(username="anna"))


WORLD: list[Step] = [
    call("me"),
    call("system_create", {"name": "Salt & Sand", "edition": "2"}),
    call("system_list"),
    call("world_list"),
    call("world_create", {"name": "Salt Coast", "world_id": "salt-coast", "language": "en"}),
    call("world_get", ref="salt-coast"),
    call(
        "world_change",
        {"description": "A coast of pilots.", "system_id": "salt-sand"},
        ref="salt-coast",
    ),
    call("world_create", {"name": "Short Lived"}),
    call("world_delete", ref="short-lived", query={"confirm": "short-lived"}),
    call("own_world_get"),
    call("own_world_change", {"name": "Salt Coast"}),
    call("campaign_create", {"name": "First Tide", "campaign_id": "first-tide"}),
    call("campaign_list"),
    call("campaign_get", ref="first-tide"),
    call("campaign_change", {"name": "The First Tide"}, ref="first-tide"),
    call("campaign_create", {"name": "Never Played"}),
    call("campaign_delete", ref="never-played"),
    call("calendar_put", {"preset": "twelve-times-thirty"}),
    call("calendar_get"),
    call("calendar_versions"),
    call("calendar_date", query={"at": "411.5"}),
    call("calendar_parse", query={"text": "3 Frostmoon 2"}),
    call("party_create", {"name": "Gulls", "members": ["Ana", "Bo"], "campaign_id": "first-tide"}),
    call("party_list", query={"campaign_id": "first-tide"}),
    call("party_get", ref="gulls"),
    call("party_change", {"members": ["Ana", "Bo", "Cy"]}, ref="gulls"),
    call("character_create", {"name": "Dee", "character_id": "dee", "party_id": "gulls"}),
    call("character_list", query={"party_id": "gulls"}),
    call("character_get", ref="dee"),
    call("character_change", {"party_id": None}, ref="dee"),
    call("character_delete", ref="dee"),
    call("party_create", {"name": "Herons", "campaign_id": "first-tide"}),
    call("party_delete", ref="herons"),
]

PEOPLE: list[Step] = [
    call(
        "invitation_create",
        {"role": "player", "party_id": "gulls", "days": 7, "max_uses": 4, "note": "Tuesday group"},
        save="invitation",
    ),
    call("invitation_list"),
    call("invitation_get", invitation_id="$invitation.id"),
    call("invitation_revoke", invitation_id="$invitation.id"),
    Meanwhile(somebody_joins),
    call("member_list", save="members"),
    call("member_get", member_id="$members.members.1.id"),
    call(
        "member_change",
        {"role": "player", "character_id": "ana"},
        member_id="$members.members.1.id",
    ),
    call("member_remove", member_id="$members.members.2.id"),
    call(
        "key_create",
        {"name": "table page", "audience": "party:gulls", "origins": ["https://table.example.org"]},
        save="key",
    ),
    call("key_list", query={"valid": "true"}),
    call("key_get", key_id="$key.id"),
    call("key_revoke", key_id="$key.id"),
]

LISTS_OF_MEMBERS: list[Step] = [
    call(
        "saved_filter_create",
        {"user": "anna", "name": "Harbour", "filter": {"kind": "place", "tag": "harbour"}},
        save="filter",
    ),
    call("saved_filter_list", query={"user": "anna"}),
    call("saved_filter_get", filter_id="$filter.id"),
    call("saved_filter_change", {"name": "At the harbour"}, filter_id="$filter.id"),
    call("saved_filter_delete", filter_id="$filter.id"),
    call(
        "draft_create",
        {"user": "anna", "entry": "the-pier", "fields": {"body": "Dry planks."}},
        save="draft",
    ),
    call("draft_list", query={"user": "anna"}),
    call("draft_get", draft_id="$draft.id"),
    call("draft_change", {"fields": {"body": "Dry planks, gulls."}}, draft_id="$draft.id"),
    call("draft_delete", draft_id="$draft.id"),
]

LORE: list[Step] = [
    call("kind_create", {"name": "Ship", "icon": "⚓", "template": "## Crew\n\n## Cargo"}),
    call("kind_list"),
    call("kind_get", ref="ship"),
    call("kind_change", {"template": "## Crew\n\n## Cargo\n\n## Debts"}, ref="ship"),
    call("lore_upsert", PIER),
    call(
        "lore_upsert_bulk",
        {
            "entries": [
                {"title": "Eel Market", "kind": "place", "body": "Loud.", "status": "published"},
                {"title": "Pilots' Guild", "kind": "faction", "body": "They know the sands."},
                {"title": "Tern", "kind": "custom", "custom_kind": "ship", "body": "A cutter."},
            ]
        },
    ),
    call("kind_delete", ref="ship", query={"entries_become": "item"}),
    call("lore_list", query={"kind": "place", "limit": "2"}),
    call("lore_get", ref="the-pier", save="pier"),
    call("lore_upsert", {**PIER, "body": "Wet planks, gulls, two lamps."}),
    call("lore_version_list", ref="the-pier", save="versions"),
    call("lore_version_restore", ref="the-pier", version_id="$versions.versions.1.version_id"),
    call("comment_create", {"text": "Which plank?"}, ref="the-pier", save="comment"),
    call("comment_list", ref="the-pier"),
    call("comment_get", ref="the-pier", comment_id="$comment.id"),
    call("comment_change", {"resolved": True}, ref="the-pier", comment_id="$comment.id"),
    call("lore_delete", ref="tern"),
    call("lore_restore", ref="tern"),
    call("bulk_delete", {"kind": "lore", "ids": ["tern"]}),
    call("bulk_restore", {"kind": "lore", "ids": ["tern"]}),
    Meanwhile(a_person_changes_many_entries),
    call("lore_change_list", save="changes"),
    call("lore_change_get", change_id="$changes.changes.0.id"),
    call("lore_change_undo", change_id="$changes.changes.0.id"),
    call("recent_change_list", query={"limit": "5"}),
    *LISTS_OF_MEMBERS,
    call(
        "lore_propose",
        {
            "entry": {"title": "The Tin Heron", "kind": "place", "body": "An inn by the pier."},
            "reason": "Ana asked for an inn twice.",
        },
        save="proposal",
    ),
    call("lore_propose", {"entry": {"title": "A second moon"}}, save="second"),
    call("proposal_list"),
    call("proposal_get", proposal_id="$proposal.id"),
    call("proposal_accept", {"note": "Good."}, proposal_id="$proposal.id"),
    call("proposal_reject", {"note": "There is one moon."}, proposal_id="$second.id"),
    call("proposal_reopen", proposal_id="$second.id"),
    call(
        "lore_upsert",
        {
            "slug": "tally-house",
            "title": "The Tally House",
            "kind": "place",
            "body": "The clerk Odo Marr owns the Tally House. It was built in 88.",
            "status": "published",
        },
    ),
    call("fact_proposal_read", {"source_ref": "tally-house"}),
    call("fact_proposal_list", query={"kind": "entity"}, save="names"),
    call("fact_proposal_accept", {}, proposal_id="$names.fact_proposals.0.id"),
    call("fact_proposal_list", query={"kind": "fact"}, save="facts"),
    call(
        "fact_proposal_decide",
        {"decision": "accept", "ids": ["$facts.fact_proposals.0.id"]},
    ),
]

RULES: list[Step] = [
    call("rule_upsert", ROPE),
    call(
        "rule_upsert_bulk",
        {"entries": [{"rule_id": "house/fog", "title": "Fog", "body": "Nobody sees ten paces."}]},
    ),
    call("rule_list"),
    call("rule_get", ref="house/rope"),
    call("rules_lookup", {"term": "wet rope"}),
    call("rule_book_list"),
    call("rule_book_get", ref="house"),
    call("rule_book_change", {"title": "Rules of the Salt Coast", "licence": "CC0"}, ref="house"),
    call("rule_delete", ref="house/fog"),
    call(
        "rule_upsert",
        {"rule_id": "draft/swim", "title": "Swimming", "body": "Cold water numbs."},
    ),
    call("rule_book_delete", ref="draft", query={"with_rules": "true"}),
    call("lore_search", {"query": "where do gulls sit at night?", "k": 3}),
]

IMPORTS: list[Step] = [
    call("import_create", files={"files": ("Drowned Bell.md", b"It rings.")}, save="run"),
    Meanwhile(lambda saved: runs.read_run(saved["run"]["id"])),
    call(
        "import_check",
        {"options": {"status": "published", "visibility": "public"}},
        run_id="$run.id",
    ),
    Meanwhile(lambda saved: runs.check_run(saved["run"]["id"])),
    call("import_get", run_id="$run.id"),
    call("import_write", run_id="$run.id"),
    Meanwhile(lambda saved: runs.import_run(saved["run"]["id"])),
    call("import_row_list", run_id="$run.id", query={"outcome": "created"}),
    call("import_undo", {"also": []}, run_id="$run.id"),
    Meanwhile(lambda saved: undo.undo_run(saved["run"]["id"])),
    call("import_list", query={"state": "undone"}),
    call("import_create", files={"files": ("Mistake.md", b"Wrong folder.")}, save="wrong"),
    Meanwhile(lambda saved: runs.read_run(saved["wrong"]["id"])),
    call("import_delete", run_id="$wrong.id"),
]

PICTURES: list[Step] = [
    call(
        "picture_upload",
        {"alt": "The pier at dusk", "visibility": "public"},
        files={"file": ("pier.png", image_bytes())},
        save="picture",
    ),
    call("picture_list", query={"q": "pier"}),
    call("picture_get", picture_id="$picture.id"),
    call("picture_file", picture_id="$picture.id", query={"size": "thumbnail"}),
    call("picture_change", {"caption": "By Ana."}, picture_id="$picture.id"),
    call("picture_place", {"place": "lore:$pier.id"}, picture_id="$picture.id", save="use"),
    call("picture_use_list", picture_id="$picture.id"),
    call("picture_use_get", picture_id="$picture.id", use_id="$use.id"),
    call("picture_use_change", {"portrait": True}, picture_id="$picture.id", use_id="$use.id"),
    call("gallery_get", place="lore:$pier.id"),
    call("gallery_arrange", {"uses": ["$use.id"]}, place="lore:$pier.id"),
    call("picture_use_remove", picture_id="$picture.id", use_id="$use.id"),
    call("picture_delete", picture_id="$picture.id"),
    call("picture_restore", picture_id="$picture.id"),
]


def the_worker_archives(saved: dict[str, Any]) -> None:
    archives.archive(saved["archive"]["id"])
    # Whoever downloads it uploads it again, on this site or another.
    run = ArchiveRun.objects.get(pk=saved["archive"]["id"])
    with run.file.open("rb") as file:
        saved["content"] = file.read()


ARCHIVES: list[Step] = [
    call("archive_create", save="archive"),
    Meanwhile(the_worker_archives),
    call("archive_get", archive_id="$archive.id"),
    call("archive_list"),
    call("archive_file", archive_id="$archive.id"),
    call(
        "restoration_create",
        {"world_id": "salt-coast"},
        files={"file": ("salt-coast.zip", "$content")},
        save="restoration",
    ),
    Meanwhile(lambda saved: archives.restore(saved["restoration"]["id"])),
    call("restoration_retry", {"world_id": "salt-coast-2"}, restoration_id="$restoration.id"),
    Meanwhile(lambda saved: archives.restore(saved["restoration"]["id"])),
    call("restoration_get", restoration_id="$restoration.id"),
    call("restoration_list"),
    call("restoration_delete", restoration_id="$restoration.id"),
    call("archive_delete", archive_id="$archive.id"),
    call("vault_export", query={"audience": "party:gulls"}),
    Meanwhile(lambda _saved: audit.wait_until_written()),
    call("audit_list", query={"operation": "archive_create"}, save="calls"),
    call("audit_get", call_id="$calls.calls.0.id"),
]

MORNING = [*WORLD, *PEOPLE, *LORE, *RULES, *IMPORTS, *PICTURES, *ARCHIVES]
