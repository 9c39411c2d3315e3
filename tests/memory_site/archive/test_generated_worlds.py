"""Any world comes back the same: generated names, empty values, overlays, reveals, trash."""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import JSONField, Value
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodes.models import Scene, Scratch
from knowledge.models import Lore, LorePassage
from knowledge.passages import write_lore_passages
from memories.models import MemoryItem, Namespace
from memory_site.archive.restore import delete_world, restore_world
from memory_site.archive.write import archive_world
from npcs.models import NPC, DispositionChange
from tests import cast
from worlds.audiences import Audience
from worlds.models import Membership, World
from worlds.reveals import reveal

pytestmark = pytest.mark.django_db
NAMES = st.text(
    st.sampled_from("ab Жя 가나 é \"'\\\n\t{}[]|😀🏳️‍🌈\u200d\u2028null"), min_size=1, max_size=12
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | NAMES
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
DAYS = st.none() | st.floats(-1e9, 1e9)
ENTRY = st.fixed_dictionaries(
    {
        "title": NAMES,
        "body": NAMES,
        "aliases": st.lists(NAMES, max_size=3),
        "extra": st.dictionaries(NAMES, JSON, max_size=3),
        "in_world_at": DAYS,
        "deleted": st.booleans(),
        "overridden": st.booleans(),
        "revealed": st.booleans(),
    }
)


def generate(world: World, entries: list[dict[str, Any]], value: Any) -> None:
    campaign = cast.create_campaign(world)
    party = cast.create_party(campaign)
    npc = NPC.objects.create(world=world, slug="npc", name=entries[0]["title"], goals=["", "a,b"])
    for number, each in enumerate(entries):
        columns = {key: each[key] for key in ("title", "body", "aliases", "extra", "in_world_at")}
        row = Lore.objects.create(world=world, slug=f"e{number}", status="published", **columns)
        row.body += f"\n\n:::secret\n{each['title']} [[{entries[0]['title']}]]\n:::\n"
        row.save()
        write_lore_passages([row])
        if each["overridden"]:
            Lore.objects.create(
                world=world, slug=row.slug, title="Over", campaign=campaign, overrides=row
            )
        if each["revealed"]:
            reveal(row, Audience("party", party.slug), in_world_at=each["in_world_at"])
            for passage in LorePassage.objects.filter(lore=row, secret=True):
                reveal(passage, Audience("party", party.slug), by="мастер")
        if each["deleted"]:
            Lore.objects.filter(pk=row.pk).update(deleted_at=timezone.now(), deleted_by="가")
        change = DispositionChange.objects.create(
            npc=npc,
            party=party,
            kind="correction",
            delta=1,
            reason=each["title"],
            made_by="x",
            happened_at=timezone.now(),
        )
        DispositionChange.objects.create(
            npc=npc,
            party=party,
            kind="reversal",
            delta=0,
            reason="back",
            made_by="x",
            about=change,
            happened_at=timezone.now(),
        )
    scene = Scene.objects.create(world=world, campaign=campaign, external_id="s", title="")
    Scratch.objects.create(scene=scene, key="null", value=Value(None, JSONField()))
    Scratch.objects.create(scene=scene, key="any", value={"value": value})
    namespace = Namespace.objects.create(world=world, name="бот", path="бот")
    MemoryItem.objects.create(namespace=namespace, text=entries[0]["title"], payload={"a": value})


@settings(
    max_examples=int(os.environ.get("ARCHIVE_EXAMPLES", "8")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(entries=st.lists(ENTRY, min_size=1, max_size=4), value=JSON)
def test_a_world_comes_back_byte_for_byte(
    db: None, entries: list[dict[str, Any]], value: Any
) -> None:
    with transaction.atomic():  # an example that fails must not spoil the next
        first, again, entry_counts = round_trip(entries, value)
        transaction.set_rollback(True)
    assert first == again
    assert min(entry_counts) >= len(entries)


def round_trip(entries: list[dict[str, Any]], value: Any) -> tuple[bytes, bytes, tuple[int, int]]:
    """Return the archive, the archive of the restored world, and the entries in both copies."""
    world = cast.create_world(slug="generated", name=entries[0]["title"])
    user, _new = User.objects.get_or_create(username="дизайнер")
    Membership.objects.create(user=user, world=world, role="designer")
    generate(world, entries, value)
    with tempfile.TemporaryDirectory() as folder:
        first, again = Path(folder) / "first.zip", Path(folder) / "again.zip"
        archive_world(world, first)
        delete_world(world)
        restored = restore_world(first).world
        archive_world(restored, again)
        copy = restore_world(first, as_slug="copy").world
        counts = tuple(Lore.with_trash.filter(world=each).count() for each in (copy, restored))
        for each in (copy, restored):
            delete_world(each)
        return first.read_bytes(), again.read_bytes(), counts
