"""The demo world with something on every page: what people write, upload, import and leave behind,
with the longest words and names that they may have."""

import zipfile
from io import BytesIO
from typing import Any

from django.contrib.auth.tokens import default_token_generator
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from art.pictures import place_picture, store_picture
from episodes.models import Session
from episodes.notes import add_note
from knowledge.editing_models import EntryComment, SavedFilter
from knowledge.entry_drafts import save_draft
from knowledge.entry_store import save_entry
from knowledge.models import Lore
from knowledge.own_kinds import create_kind
from knowledge.proposals import propose
from knowledge.schemas import LoreIn, ProposalIn, RuleIn
from knowledge.trash import trash_lore
from knowledge.upsert import upsert_rule
from memory_site.imports.runs import check_run, import_run, read_run, start_step
from memory_site.imports.uploads import create_run
from memory_site.session_reports.store import add_report, read_report
from npcs.models import NPC
from tests.art.image_samples import image_bytes
from worlds.archive_run import ArchiveRun
from worlds.audiences import Audience
from worlds.invitations import create_invitation
from worlds.keys import create_key
from worlds.models import Campaign, ImportRun, Party, World
from worlds.reveals import reveal

State = ImportRun.State
LONG_WORD = "Donaudampfschifffahrtsgesellschaftskapitänswitwenrentenauszahlungsstelle"
LONG_ADDRESS = f"https://example.org/{'the-archive-of-the-ferrymens-guild/' * 4}index.html"
LONG_TEXT = f"""# {LONG_WORD}

**Wet** and {LONG_WORD}, see <{LONG_ADDRESS}> and {LONG_ADDRESS}, [[Mira Voss]], [[{LONG_WORD}]].

| {LONG_WORD} | Crossings | Toll | Boats | Ferrymen | Deaths | Fog |
|---|---|---|---|---|---|---|
| 1 Thaw 60 | {LONG_WORD} | 3 | 4 | 5 | 6 | 7 |

```
{LONG_WORD * 3}
```

:::secret party:lanternbearers
The **{LONG_WORD}** is mined, says [[Hask Ondrel]].
:::
"""
VAULT: dict[str, str] = {
    f"Places/{LONG_WORD}.md": f"Wet. See [[Mira Voss]] and [[{LONG_WORD} of old]].",
    "People/Old Ferrier.md": "---\ntype: character\nmood: grim\n---\nA clerk.",
    "Bad.md": "---\ntitle: x\ntags: [a\n---\nText.",
}


def write_everything(world: World, user: Any) -> str:
    """Give every page of `world` something to show; `user` is its designer. Return the token of an
    open invitation."""
    write_entries(world, user)
    show_pictures(world)
    import_files(world, user)
    archive_files(world, user)
    write_reports(world)
    entry = LoreIn(title="Toll House", slug="toll-house", body=f"Dry. {LONG_WORD}")
    propose(world, ProposalIn(entry=entry, reason=LONG_ADDRESS), by="scribe")
    party = Party.objects.get(world=world, slug="lanternbearers")
    create_key(world, name=LONG_WORD, scopes=["tools:read", "world:write"], audience="gm")
    fields = {
        "role": "player",
        "granted_by": "designer",
        "invited_by": user,
        "party": party,
        "note": LONG_WORD,
    }
    return create_invitation(world, **fields)[1]


def write_entries(world: World, user: Any) -> None:
    entry = Lore(
        world=world,
        slug="long-names",
        title=f"{LONG_WORD} of the Guild",
        aliases=[LONG_WORD, "Гильдия паромщиков", "뱃사공 조합"],
        body=LONG_TEXT,
        kind="place",
        folder=f"North/{LONG_WORD}",
        tags=["ruin", LONG_WORD[:60]],
        status="published",
        visibility="public",
        author="anna",
    )
    save_entry(entry, reason="demo")
    entry.body += "\n\nThe roof leaks."
    save_entry(entry, reason=f"After the storm. {LONG_ADDRESS}")
    secret = entry.passages.filter(secret=True).earliest("position")
    reveal(secret, Audience("party", "gilded-oath"), by="anna")
    for resolved in ("", "anna"):
        EntryComment.objects.create(
            lore=entry,
            author="anna",
            text=f"Is this true? {LONG_ADDRESS}",
            resolved_by=resolved,
            resolved_at=entry.updated_at if resolved else None,
        )
    gone = Lore(world=world, slug="gone", title=LONG_WORD, body="Gone.", kind="item")
    save_entry(gone)
    trash_lore([gone], by="anna")
    draft = Lore(world=world, slug="draft", title="A draft", body="Half.", author="anna")
    draft.campaign = Campaign.objects.get(world=world)
    save_entry(draft)
    save_draft(user, world, fields={"title": LONG_WORD, "body": "Never saved."})
    SavedFilter.objects.create(user=user, world=world, name=LONG_WORD, query="kind=place")
    vessel = create_kind(world, name=LONG_WORD, icon="*", template="## Hull\n")
    ship = Lore(world=world, slug="ship", title="A ship", kind="custom", custom_kind=vessel)
    save_entry(ship)
    fog = RuleIn(rule_id="house/fog", title="Fog", body=LONG_TEXT, kind="custom")
    upsert_rule(world, fog, reason="demo")


def write_reports(world: World) -> None:
    """A report that waits for its review, one that is being read, and a note."""
    session = Session.objects.get(world=world, external_id="session-1")
    party = Party.objects.get(world=world, slug="lanternbearers")
    session.party = party
    text = (
        f"We met Mira at the Lower Landing. {LONG_WORD}! She thanked us. Brackwen and Voss came, "
        "and Jory told us that Matvei burned the letters. We promised Sool a ledger. "
        f"Hask was furious. {LONG_ADDRESS}"
    )
    read_report(add_report(session, party, text, author="anna")[0])
    add_report(session, party, f"Another one. {LONG_WORD}", author="anna")
    add_note(world, f"Ask for the ledger. {LONG_ADDRESS}", author="anna", session=session)


def show_pictures(world: World) -> None:
    mira = NPC.objects.get(world=world, slug="mira-voss")
    for number, name in enumerate((f"{LONG_WORD}.png", "deleted.png", "unused.png")):
        picture = store_picture(
            world,
            image_bytes("PNG", (640, 480), (9, 60, 60 * number)),
            name=name,
            caption=LONG_WORD,
        )
        if number == 0:
            place_picture(picture, mira)
            place_picture(picture, Lore.objects.get(world=world, slug="long-names"))


def import_files(world: World, user: Any) -> None:
    """A run in each of its states."""
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        for name, text in VAULT.items():
            packed.writestr(name, text)
    for last in (State.READY, State.CHECKED, State.DONE):
        file = SimpleUploadedFile(f"{LONG_WORD} {last}.zip", content.getvalue())
        run = create_run(world, [file], user=user)
        read_run(run.pk)
        if last != State.READY:
            start_step(run, State.CHECKING, allowed=(State.READY, State.READING))
            check_run(run.pk)
        if last == State.DONE:
            start_step(run, State.IMPORTING, allowed=(State.CHECKED, State.CHECKING))
            import_run(run.pk)
    failure = {"report": {"failure": f"{LONG_WORD} cannot be read."}}
    states: dict[str, Any] = {State.FAILED: failure, State.IMPORTING: {"progress": 40}}
    for state, values in states.items():
        ImportRun.objects.create(world=world, user=user, file_name=LONG_WORD, state=state, **values)


def archive_files(world: World, user: Any) -> None:
    for kind in ArchiveRun.Kind:
        for state in (ArchiveRun.State.WORKING, ArchiveRun.State.FAILED, ArchiveRun.State.DONE):
            ArchiveRun.objects.create(
                kind=kind,
                world=world if kind == "archive" or state == "done" else None,
                user=user,
                state=state,
                file_name=f"{LONG_WORD}.zip",
                progress=40,
                failure=f"{LONG_WORD} is broken." if state == "failed" else "",
            )


def link_to_set_a_password(user: Any) -> tuple[str, str]:
    """The two parts of the address in the mail."""
    user_id = urlsafe_base64_encode(force_bytes(user.pk))
    return user_id, default_token_generator.make_token(user)
