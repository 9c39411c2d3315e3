"""Entries as programs and importers bring them: found by their slug or id, changed by what was sent, stored."""

from typing import Any

from django.db import transaction

from knowledge.entry_store import Outcome, save_lore, save_rule
from knowledge.models import Document, Lore, Rule
from knowledge.name_matching import name_index
from knowledge.schemas import LoreIn, LoreOut, RuleIn, RuleOut
from retrieval.errors import Conflict, Invalid, NotFound
from retrieval.text import guess_language, slugify
from worlds.audiences import Visibility
from worlds.lookup import as_uuid, find_campaign
from worlds.models import Campaign, Reveal, World

HOUSE = "house"
RELATED = ("campaign", "overrides", "slug", "known_to")


# --- lore


@transaction.atomic
def upsert_lore(
    world: World, entry: LoreIn, *, author: str = "", reason: str = ""
) -> tuple[Lore, Outcome]:
    """Create the entry, or change the one with its slug (and campaign, if it names one) by the fields that are set."""
    campaign = find_campaign(world, entry.campaign) if entry.campaign else None
    slug = entry.slug or slugify(entry.title) or "entry"
    stored = (
        Lore.objects.select_for_update().filter(world=world, campaign=campaign, slug=slug).first()
    )
    row = stored or Lore(world=world, campaign=campaign, slug=slug, author=author)
    for name in (
        entry.model_fields_set - set(RELATED) if stored else set(LoreIn.model_fields) - set(RELATED)
    ):
        if name != "author" or entry.author:
            setattr(row, name, getattr(entry, name))
    row.language = row.language or guess_language(f"{row.title} {row.body}")
    row.overrides = _overridden(world, entry, row, stored)
    _tell(row, entry)
    return row, save_lore(row, reason=reason)


def _overridden(world: World, entry: LoreIn, row: Lore, stored: Lore | None) -> Lore | None:
    """The canon entry that the row stands in for: the one named, else that of the same slug."""
    if row.campaign is None:
        if entry.overrides:
            raise Invalid("Only an entry of a campaign can override canon: name the campaign.")
        return None
    if entry.overrides:
        return find_lore_entry(world, entry.overrides)
    if stored and "overrides" not in entry.model_fields_set:
        return stored.overrides
    return Lore.objects.filter(world=world, campaign=None, slug=row.slug).first()


def _tell(row: Lore, entry: LoreIn) -> None:
    """Whom the entry is for: those it names, and those to whom the reveal log says it was revealed."""
    if row.visibility != Visibility.REVEALED or not (
        {"known_to", "visibility"} & entry.model_fields_set
    ):
        return
    named = entry.known_to if "known_to" in entry.model_fields_set else row.known_to
    standing = Reveal.objects.filter(subject_kind="lore", subject_id=row.pk, undone_at=None)
    row.known_to = sorted({*named, *standing.values_list("audience", flat=True)})


def find_lore_entry(world: World, reference: str, *, campaign: Campaign | None = None) -> Lore:
    """Return the entry with this id, slug or name: of the campaign if it has one, else of canon."""
    lore = Lore.objects.filter(world=world)
    own = lore.filter(campaign=campaign)
    found: Lore | None = (
        own.filter(slug=reference.lower()).first() or lore.filter(pk=as_uuid(reference)).first()
    )
    if found is None and campaign:
        found = own.filter(title__iexact=reference).first()
    if found:
        return found
    canon = lore.filter(campaign=None)
    key = name_index(canon, reference).resolve(reference, what="lore entry")
    entry: Lore = canon.get(pk=str(key))
    return entry


def lore_to_out(row: Lore) -> LoreOut:
    shown: dict[str, Any] = {
        name: getattr(row, name) for name in LoreOut.model_fields if hasattr(row, name)
    }
    shown["campaign"] = row.campaign.slug if row.campaign else None
    shown["overrides"] = row.overrides.slug if row.overrides else None
    return LoreOut(**shown)


# --- rules


@transaction.atomic
def upsert_rule(world: World, entry: RuleIn, *, reason: str = "") -> tuple[Rule, Outcome]:
    """Create or change a rule of the world's own; the shared rules of the game system are not changed from here."""
    if Rule.objects.filter(
        world=None, key=entry.rule_id, document__system=world.system_id
    ).exists():
        raise Conflict(
            f"{entry.rule_id} is a shared rule of the game system: give yours an id of its own."
        )
    row = Rule.objects.select_for_update().filter(world=world, key=entry.rule_id).first()
    row = row or Rule(
        world=world,
        key=entry.rule_id,
        document=ensure_house_document(world, entry.rule_id.split("/")[0]),
    )
    for name in set(RuleIn.model_fields) - {"rule_id"}:
        setattr(row, name, getattr(entry, name))
    row.language = row.language or guess_language(f"{row.title} {row.body}")
    return row, save_rule(row, reason=reason)


def ensure_house_document(world: World, slug: str = HOUSE) -> Document:
    """The document that holds the world's own rules whose ids begin with `slug`."""
    if world.system is None:
        raise Invalid("This world has no game system: choose one in the admin before adding rules.")
    title = f"{world.name}: {slug}"
    return Document.objects.get_or_create(
        world=world, slug=slug, defaults={"title": title, "system": world.system}
    )[0]


def find_own_rule(world: World, key: str) -> Rule:
    rule: Rule | None = Rule.objects.select_related("document").filter(world=world, key=key).first()
    if rule is None:
        raise NotFound(f"This world has no rule {key!r} of its own.")
    return rule


def rule_to_out(row: Rule) -> RuleOut:
    document = row.document
    shown = {name: getattr(row, name) for name in RuleOut.model_fields if hasattr(row, name)}
    return RuleOut(
        **{
            **shown,
            "rule_id": row.key,
            "document": document.title,
            "edition": document.edition,
            "licence": document.licence,
        }
    )
