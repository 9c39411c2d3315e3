"""Create or update entries as programs and importers send them: found by slug or id, changed by the
fields sent.
"""

from collections.abc import Sequence

from django.db import transaction

from knowledge.entry_store import Outcome, save_lore, save_rule
from knowledge.models import Document, Lore, Rule
from knowledge.name_matching import name_index
from knowledge.schemas import LoreIn, RuleIn
from retrieval.errors import Conflict, Invalid, NotFound
from retrieval.indexing import Chunk
from retrieval.text import guess_language, slugify
from worlds.audiences import Visibility
from worlds.lookup import as_uuid, find_campaign
from worlds.models import Campaign, Reveal, World

RELATED = {"campaign", "overrides", "slug", "known_to"}
"""Fields of `LoreIn` that are not copied as they are."""


# --- lore


@transaction.atomic
def upsert_lore(
    world: World,
    entry: LoreIn,
    *,
    author: str = "",
    reason: str = "",
    chunks: Sequence[Chunk] | None = None,
) -> tuple[Lore, Outcome]:
    """Create the entry, or change the one with its slug (in its campaign, if it names one) by the
    fields that are set. `author` is for a new entry that names none."""
    campaign = find_campaign(world, entry.campaign) if entry.campaign else None
    slug = entry.slug or slugify(entry.title) or "entry"
    lore = Lore.objects.select_for_update().filter(world=world, campaign=campaign)
    old = lore.filter(slug=slug).first()
    row = old or Lore(world=world, campaign=campaign, slug=slug, author=author)
    fields_sent = entry.model_fields_set
    names = fields_sent if old else set(LoreIn.model_fields)
    for name in names - RELATED:
        if name != "author" or entry.author:
            setattr(row, name, getattr(entry, name))
    row.language = row.language or guess_language(f"{row.title} {row.body}")
    row.overrides = _find_overridden(world, entry, row, old)
    # Audiences of the reveal log are added to those of the entry: an upsert undoes no reveal.
    if row.visibility == Visibility.REVEALED and {"known_to", "visibility"} & fields_sent:
        known_to = entry.known_to if "known_to" in fields_sent else row.known_to
        reveals = Reveal.objects.filter(subject_kind="lore", subject_id=row.pk, undone_at=None)
        row.known_to = sorted({*known_to, *reveals.values_list("audience", flat=True)})
    return row, save_lore(row, reason=reason, chunks=chunks)


def _find_overridden(world: World, entry: LoreIn, row: Lore, old: Lore | None) -> Lore | None:
    """The canon entry that the row overrides: the one named, else that of the same slug."""
    if row.campaign is None:
        if entry.overrides:
            raise Invalid("Only an entry of a campaign can override canon: name the campaign.")
        return None
    if entry.overrides:
        return find_lore_entry(world, entry.overrides)
    if old and "overrides" not in entry.model_fields_set:
        return old.overrides
    return Lore.objects.filter(world=world, campaign=None, slug=row.slug).first()


def find_lore_entry(world: World, reference: str, *, campaign: Campaign | None = None) -> Lore:
    """Return the entry with this slug, id or name: of the campaign if it has one, else of canon.
    Raises `NotFound` or `Ambiguous`."""
    lore = Lore.objects.filter(world=world)
    own = lore.filter(campaign=campaign)
    row: Lore | None = (
        own.filter(slug=reference.lower()).first() or lore.filter(pk=as_uuid(reference)).first()
    )
    if row is None and campaign:
        row = own.filter(title__iexact=reference).first()
    if row:
        return row
    canon = lore.filter(campaign=None)
    key = name_index(canon, reference).resolve(reference, what="lore entry")
    entry: Lore = canon.get(pk=str(key))
    return entry


# --- rules


@transaction.atomic
def upsert_rule(
    world: World, entry: RuleIn, *, reason: str = "", chunks: Sequence[Chunk] | None = None
) -> tuple[Rule, Outcome]:
    """Create or change a rule of the world's own. Raises `Conflict` for the id of a shared rule."""
    key = entry.rule_id
    # The worlds of a system search its shared rules and their own together: an id names one rule.
    if Rule.objects.filter(world=None, key=key, document__system=world.system_id).exists():
        raise Conflict(f"{key} is a shared rule of the game system: give yours an id of its own.")
    row = Rule.objects.select_for_update().filter(world=world, key=key).first()
    if row is None:
        row = Rule(world=world, key=key, document=ensure_house_document(world, key.split("/")[0]))
    for name in set(RuleIn.model_fields) - {"rule_id"}:
        setattr(row, name, getattr(entry, name))
    row.language = row.language or guess_language(f"{row.title} {row.body}")
    return row, save_rule(row, reason=reason, chunks=chunks)


def ensure_house_document(world: World, slug: str) -> Document:
    """The document that holds the world's own rules whose ids begin with `slug`."""
    if world.system is None:
        raise Invalid("This world has no game system: choose one in the admin before adding rules.")
    values = {"title": f"{world.name}: {slug}", "system": world.system}
    return Document.objects.get_or_create(world=world, slug=slug, defaults=values)[0]


def find_own_rule(world: World, key: str) -> Rule:
    rule: Rule | None = Rule.objects.select_related("document").filter(world=world, key=key).first()
    if rule is None:
        raise NotFound(f"This world has no rule {key!r} of its own.")
    return rule
