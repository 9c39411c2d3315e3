"""Create or update entries, found by slug or id, by the fields sent."""

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from knowledge.entry_store import Outcome, save_all, save_entry
from knowledge.graph.upsert import lock_graph
from knowledge.house_rules import find_rule_to_override, move_campaign_overrides, require_acyclic
from knowledge.lore_kinds import LoreKind
from knowledge.models import Document, Lore, Rule
from knowledge.name_matching import name_index
from knowledge.querysets import shared_or_of
from knowledge.schemas import LoreIn, RuleIn
from retrieval.errors import Conflict, Invalid, NotFound
from retrieval.indexing import Chunk
from retrieval.text import language_of_open_text, slug_of_title
from worlds.audiences import Visibility
from worlds.lookup import as_uuid, find_campaign
from worlds.models import Campaign, Reveal, World
from worlds.versions import require_version

RELATED = {"campaign", "overrides", "slug", "known_to", "custom_kind", "version"}
"""Fields of `LoreIn` and `LoreWrite` that are not copied as they are."""


# --- lore


@transaction.atomic
def upsert_lore(
    world: World,
    entry: LoreIn,
    *,
    author: str = "",
    reason: str = "",
    chunks: Sequence[Chunk] | None = None,
    expected_version: int | None = None,
) -> tuple[Lore, Outcome]:
    """Create the entry, or change the one with its slug (in its campaign, if it names one) by the
    fields that are set. `author` is for a new entry that names none. Raises `StaleVersion` when
    another version than the expected one is stored."""
    campaign = find_campaign(world, entry.campaign) if entry.campaign else None
    slug = slug_of(entry)
    lock_graph(world)
    lore = Lore.objects.select_for_update().filter(world=world, campaign=campaign)
    old = lore.filter(slug=slug).first()
    require_version(old, expected_version)
    row = old or Lore(world=world, campaign=campaign, slug=slug, author=author)
    _copy_fields(row, entry, old)
    return row, save_entry(row, reason=reason, chunks=chunks)


def slug_of(entry: LoreIn) -> str:
    """The slug that the entry names, else one made from its title."""
    return entry.slug or slug_of_title(entry.title, otherwise="entry")


@transaction.atomic
def upsert_lore_batch(
    world: World,
    entries: Sequence[LoreIn],
    *,
    author: str = "",
    reason: str = "",
    with_graph: bool = True,
) -> list[tuple[Lore, Outcome]]:
    """Do the same for many entries, all or none, with few queries. Each has a slug of its own.
    Without `with_graph` the caller writes their entities and facts."""
    lock_graph(world)
    slugs = {entry.campaign for entry in entries if entry.campaign}
    campaigns = {slug: find_campaign(world, slug) for slug in slugs}
    stored = Lore.objects.select_for_update(of=("self",)).select_related("custom_kind")
    stored = stored.filter(world=world, slug__in=[entry.slug for entry in entries])
    rows_by_key = {(row.campaign_id, row.slug): row for row in stored}
    rows: list[Lore] = []
    for entry in entries:
        campaign = campaigns[entry.campaign] if entry.campaign else None
        old = rows_by_key.get((campaign.pk if campaign else None, entry.slug or ""))
        row = old or Lore(campaign=campaign, slug=entry.slug or "", author=author)
        row.world = world  # the object at hand: a stored row would load its own
        _copy_fields(row, entry, old)
        rows.append(row)
    outcomes = save_all(rows, reason=reason, with_graph=with_graph)
    return list(zip(rows, outcomes, strict=True))


def _copy_fields(row: Lore, entry: LoreIn, old: Lore | None) -> None:
    """Copy the fields that were sent, of a new row all. Does not save."""
    fields_sent = entry.model_fields_set
    names = fields_sent if old else set(LoreIn.model_fields)
    for name in names - RELATED:
        if name != "author" or entry.author:
            setattr(row, name, getattr(entry, name))
    row.language = row.language or language_of_open_text(row.title, row.body)
    row.overrides = _find_overridden(row.world, entry, row, old)
    _set_custom_kind(row, entry)
    # Audiences of the reveal log are added to those of the entry: an upsert undoes no reveal.
    if row.visibility == Visibility.REVEALED and {"known_to", "visibility"} & fields_sent:
        known_to = entry.known_to if "known_to" in fields_sent else row.known_to
        reveals = Reveal.objects.filter(subject_kind="lore", subject_id=row.pk, undone_at=None)
        row.known_to = sorted({*known_to, *reveals.values_list("audience", flat=True)})


def _set_custom_kind(row: Lore, entry: LoreIn) -> None:
    """Set the kind of the world's own that the entry names. A built-in kind takes it away."""
    if entry.custom_kind:
        row.kind, row.custom_kind = Lore.Kind.CUSTOM, find_kind(row.world, entry.custom_kind)
    elif "custom_kind" in entry.model_fields_set or row.kind != Lore.Kind.CUSTOM:
        row.custom_kind = None


def find_kind(world: World, slug: str) -> LoreKind:
    """Return the world's own kind of this slug; raise `NotFound` with all kinds of the world."""
    kinds = {kind.slug: kind for kind in LoreKind.objects.filter(world=world)}
    if slug not in kinds:
        raise NotFound(
            _("This world has no kind of lore %(slug)r.") % {"slug": slug},
            candidates=[*sorted(kinds), *Lore.Kind.values],
        )
    return kinds[slug]


def make_kind(world: World, slug: str) -> LoreKind:
    """Return the world's own kind of this slug; make it, named after the slug, if there is none."""
    name = slug.replace("-", " ").capitalize()
    return LoreKind.objects.get_or_create(world=world, slug=slug, defaults={"name": name})[0]


def _find_overridden(world: World, entry: LoreIn, row: Lore, old: Lore | None) -> Lore | None:
    """The canon entry that the row overrides: the one named, else that of the same slug."""
    if row.campaign is None:
        if entry.overrides:
            raise Invalid(_("Only an entry of a campaign can override canon: name the campaign."))
        return None
    if entry.overrides:
        return find_lore_entry(world, entry.overrides)
    if old and "overrides" not in entry.model_fields_set:
        return old.overrides
    return Lore.objects.filter(world=world, campaign=None, slug=row.slug).first()


def find_lore_entry(world: World, reference: str, *, campaign: Campaign | None = None) -> Lore:
    """Return the entry with this slug, id or name: of the campaign if it has one, else of canon.
    With a campaign, those of others are not found. Raises `NotFound` or `Ambiguous`."""
    lore = Lore.objects.filter(shared_or_of(campaign), world=world)
    own = lore.filter(campaign=campaign)
    row: Lore | None = (
        own.filter(slug=reference.lower()).first() or lore.filter(pk=as_uuid(reference)).first()
    )
    if row is None and campaign:
        row = own.filter(title__iexact=reference).first()
    if row:
        return row
    canon = lore.filter(campaign=None)
    key = name_index(canon, reference).resolve_spelled(reference, what="lore entry")
    entry: Lore = canon.get(pk=str(key))
    return entry


# --- rules


@transaction.atomic
def upsert_rule(
    world: World,
    entry: RuleIn,
    *,
    reason: str = "",
    chunks: Sequence[Chunk] | None = None,
    expected_version: int | None = None,
) -> tuple[Rule, Outcome]:
    """Create a rule of the world's own, or change it by the fields that are set. Raises `Conflict`
    for the id of a shared rule, `StaleVersion` when another version than the expected one is
    stored."""
    key = entry.rule_id
    # The worlds of a system search its shared rules and their own together: an id names one rule.
    if Rule.objects.filter(world=None, key=key, document__system=world.system_id).exists():
        raise Conflict(
            _("%(key)s is a shared rule of the game system: give yours an id of its own.")
            % {"key": key}
        )
    row = Rule.objects.select_for_update().filter(world=world, key=key).first()
    require_version(row, expected_version)
    sent = entry.model_fields_set if row else set(RuleIn.model_fields)
    if row is None:
        # One document holds the world's own rules whose ids begin with the same slug.
        slug = key.split("/")[0]
        values = {"title": f"{world.name}: {slug}"}
        document, _new = Document.objects.get_or_create(world=world, slug=slug, defaults=values)
        row = Rule(world=world, key=key, document=document)
    for name in sent & set(RuleIn.model_fields) - {"rule_id", "campaign", "overrides"}:
        setattr(row, name, getattr(entry, name))
    if "campaign" in sent:
        row.campaign = find_campaign(world, entry.campaign) if entry.campaign else None
    if "overrides" in sent:
        row.overrides = (
            find_rule_to_override(world, entry.overrides, campaign=row.campaign)
            if entry.overrides
            else None
        )
    require_acyclic(row)
    row.language = row.language or language_of_open_text(row.title, row.body)
    outcome = save_entry(row, reason=reason, chunks=chunks)
    save_all(move_campaign_overrides(row), reason=f"{row.key} replaces the rule for the world")
    return row, outcome


def find_own_rule(world: World, key: str, *, campaign: Campaign | None = None) -> Rule:
    """Return the world's own rule. With `campaign`, to which the caller's key is bound, those of
    other campaigns are not found."""
    rows = Rule.objects.select_related("document").filter(shared_or_of(campaign), world=world)
    rule: Rule | None = rows.filter(key=key).first()
    if rule is None:
        raise NotFound(_("This world has no rule %(key)r of its own.") % {"key": key})
    return rule
