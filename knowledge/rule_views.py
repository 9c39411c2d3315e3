"""Pages of rules: one rule as it holds in the viewer's campaign, and the world's house rules."""

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from knowledge.markup_check import require_sound_markup
from knowledge.models import Document, Rule
from knowledge.schemas import RuleIn, RulesQuestion
from knowledge.search import find_rules
from knowledge.srd.missing_kinds import missing_kinds, name_kinds
from knowledge.upsert import upsert_rule
from retrieval.errors import Problem
from retrieval.tasks import embed_soon
from retrieval.text import slugify, storage_flaw
from worlds.audiences import Visibility
from worlds.base_schemas import MAX_CHARS
from worlds.callers import Caller
from worlds.models import Campaign, World
from worlds.offered_systems import offered_systems
from worlds.pages import Viewer, gm_page, page, render_page

RULES_PER_PAGE = 60


@page
def rule_page(request: HttpRequest, viewer: Viewer, key: str) -> HttpResponse:
    """The rule that answers for `key`, and the rule that it replaces."""
    if storage_flaw(key):
        raise Http404
    caller = Caller(viewer.world, viewer.audience, viewer.campaign)
    try:
        hits = find_rules(RulesQuestion(rule_id=key, max_chars=MAX_CHARS), caller).hits
        if len(hits) == 1 and hits[0].overrides:
            # Asked for by its own id: the original is shown as well.
            question = RulesQuestion(rule_id=hits[0].overrides, max_chars=MAX_CHARS)
            hits = find_rules(question, caller).hits
    except (Problem, ValidationError) as problem:
        raise Http404 from problem
    original = hits[1] if len(hits) > 1 else None
    own = Rule.objects.filter(world=viewer.world, key=hits[0].id).select_related("campaign").first()
    return render_page(
        request, viewer, "gm/rule.html", rule=hits[0], original=original, house_rule=own
    )


@gm_page
def house_rules(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """List the world's own rules, with what each replaces and in which campaign it holds."""
    rules = Rule.objects.filter(world=viewer.world).select_related("campaign", "overrides")
    # What was imported as a book is no house rule.
    rules = rules.filter(document__source="")
    pages = Paginator(rules.defer("body").order_by("title"), RULES_PER_PAGE)
    return render_page(
        request,
        viewer,
        "gm/house_rules.html",
        page_obj=pages.get_page(request.GET.get("page")),
        books=[
            (book, name_kinds(missing_kinds(book, viewer.world))) for book in books_of(viewer.world)
        ],
        systems=offered_systems(viewer.world),
    )


def books_of(world: World) -> QuerySet[Document]:
    """The books by which the world plays, with the number of their rules."""
    is_readable = Q(world=world) | Q(world=None)
    books = Document.objects.filter(is_readable, system=world.system_id).exclude(system=None)
    return books.annotate(count=Count("rules")).order_by("title")


@require_POST
@gm_page
def choose_system(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Let the world play another game system: from now on its rules answer, and no others."""
    slug = request.POST.get("system", "")
    system = get_object_or_404(offered_systems(viewer.world), slug=slug) if slug else None
    viewer.world.system = system
    viewer.world.save(update_fields=["system", "updated_at"])
    messages.success(request, gettext("The game system was changed."))
    return redirect("house-rules", viewer.world.slug)


class HouseRuleForm(forms.Form):
    title = forms.CharField(label=_("Title"), max_length=200)
    body = forms.CharField(
        label=_("Text"), widget=forms.Textarea(attrs={"rows": 14, "data-editor": ""})
    )
    campaign = forms.ModelChoiceField(
        label=_("Holds in"),
        queryset=Campaign.objects.none(),
        to_field_name="slug",
        required=False,
        empty_label=_("Every campaign of the world"),
    )

    def __init__(self, world: World, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        campaigns: forms.ModelChoiceField[Campaign] = self.fields["campaign"]  # type: ignore[assignment]
        campaigns.queryset = Campaign.objects.filter(world=world).order_by("name")


@gm_page
def write_house_rule(request: HttpRequest, viewer: Viewer, key: str = "") -> HttpResponse:
    """Write a rule of the world's own; with `key` one that replaces the rule of that id."""
    original = None
    if storage_flaw(key):
        raise Http404
    if key:
        rules = Rule.objects.in_world(viewer.world).filter(key=key)
        original = rules.order_by("world").first()
        if original is None:
            raise Http404
    initial = {"campaign": viewer.campaign and viewer.campaign.slug}
    if original:
        initial |= {"title": original.title, "body": original.body}
    form = HouseRuleForm(viewer.world, request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            rule = save_house_rule(viewer, original, **form.cleaned_data)
        except Problem as problem:
            form.add_error(None, problem.detail)
        else:
            return redirect("rule", world=viewer.world.slug, key=rule.key)
    return render_page(request, viewer, "gm/house_rule_form.html", form=form, original=original)


@transaction.atomic
def save_house_rule(
    viewer: Viewer, original: Rule | None, *, title: str, body: str, campaign: Campaign | None
) -> Rule:
    """Create the rule under a free id. Raises `Invalid` or `Conflict`."""
    require_sound_markup(viewer.world, body)
    entry = RuleIn(
        rule_id=free_rule_id(viewer.world, title, campaign),
        title=title,
        body=body,
        kind=original.kind if original else "custom",
        campaign=campaign.slug if campaign else None,
        overrides=original.key if original else None,
        # The text begins as a copy: a rule that players may not know stays hidden from them.
        visibility=Visibility(original.visibility) if original else Visibility.PUBLIC,
        known_to=original.known_to if original else [],
    )
    rule, _outcome = upsert_rule(viewer.world, entry, reason=f"written by {viewer.name}")
    embed_soon("srd")
    return rule


def free_rule_id(world: World, title: str, campaign: Campaign | None) -> str:
    folder = f"house/{campaign.slug}" if campaign else "house"
    key = wanted = f"{folder}/{slugify(title) or 'rule'}"
    keys = set(
        Rule.objects.filter(world=world, key__startswith=wanted).values_list("key", flat=True)
    )
    number = 1
    while key in keys:
        number += 1
        key = f"{wanted}-{number}"
    return key
