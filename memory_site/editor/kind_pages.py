"""Pages of the kinds of entries that a world adds to the built-in ones."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from knowledge.kind_templates import HEADINGS
from knowledge.lore_kinds import LoreKind
from knowledge.markup_check import check_markup
from knowledge.models import Lore
from knowledge.own_kinds import change_kind, create_kind, delete_kind, kind_state
from memory_site.editor.forms import OWN_KIND, kind_choices
from retrieval.errors import Problem
from retrieval.tasks import embed_soon
from retrieval.text import storage_flaw
from worlds.exact_forms import LineField, ParagraphsField
from worlds.models import World
from worlds.pages import Viewer, gm_page, render_page

LONGEST_TEMPLATE = 20_000


class KindForm(forms.Form):
    name = LineField(label=_("Name"), max_length=200)
    icon = LineField(
        label=_("Icon"),
        required=False,
        max_length=16,
        help_text=_("One character or emoji, shown before the name."),
    )
    template = ParagraphsField(
        label=_("Template"),
        required=False,
        strip=False,
        max_length=LONGEST_TEMPLATE,
        widget=forms.Textarea({"rows": 14, "data-editor": True, "data-drafts": "off"}),
        help_text=_(
            "What a new entry of this kind begins with: a heading for each thing that you want to "
            "know of it. Entries that exist stay as they are."
        ),
    )
    edited = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, world: World, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.world = world

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        for name, value in data.items():
            if flaw := storage_flaw(str(value or "")):
                self.add_error(name, flaw)
        for problem in check_markup(self.world, data.get("template") or ""):
            self.add_error("template", str(problem))
        return data


class DeleteKindForm(forms.Form):
    kind = forms.ChoiceField(label=_("Kind of its entries from now on"))

    def __init__(self, *args: Any, kind: LoreKind, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        own = OWN_KIND + kind.slug
        choices = [each for each in kind_choices(kind.world) if each[0] != own]
        field: Any = self.fields["kind"]
        field.choices, field.initial = choices, Lore.Kind.CUSTOM


def kinds_of(world: World) -> QuerySet[LoreKind]:
    """The kinds with `entry_count`, and `trash_count` of those that are in the trash."""

    def count(rows: Q) -> Coalesce:
        own = Lore.with_trash.filter(rows, custom_kind=OuterRef("pk")).order_by()
        counted = own.values("custom_kind").annotate(count=Count("pk")).values("count")
        return Coalesce(Subquery(counted, output_field=IntegerField()), 0)

    counts = {
        "entry_count": count(Q(deleted_at=None)),
        "trash_count": count(Q(deleted_at__isnull=False)),
    }
    return LoreKind.objects.filter(world=world).annotate(**counts).order_by("name")


@gm_page
def kind_list(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    used = dict(
        Lore.objects.filter(world=viewer.world, custom_kind=None)
        .order_by()
        .values_list("kind")
        .annotate(count=Count("pk"))
    )
    builtin = [(each, each.label, used.get(each, 0), HEADINGS.get(each, ())) for each in Lore.Kind]
    return render_page(
        request,
        viewer,
        "editor/kind_list.html",
        kinds=kinds_of(viewer.world),
        builtin=builtin,
    )


@gm_page
def new_kind(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    form = KindForm(request.POST or None, world=viewer.world)
    if request.method == "POST" and form.is_valid():
        values = {name: form.cleaned_data[name] for name in ("name", "icon", "template")}
        try:
            kind = create_kind(viewer.world, **values)
        except Problem as problem:
            form.add_error("name", problem.detail)
        else:
            text = _t("The kind “%(name)s” was added.") % {"name": kind.name}
            messages.success(request, text, extra_tags="good")
            return redirect("kinds", viewer.world.slug)
    return show_form(request, viewer, form)


@gm_page
def edit_kind(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    kind = get_object_or_404(kinds_of(viewer.world), slug=slug)
    values = {"name": kind.name, "icon": kind.icon, "template": kind.template}
    initial = {**values, "edited": kind_state(kind)}
    form = KindForm(request.POST or None, initial=initial, world=viewer.world)
    if request.method == "POST" and form.is_valid():
        try:
            change_kind(kind, **form.cleaned_data)
        except Problem as problem:
            form.add_error(None, problem.detail)
        else:
            messages.success(request, _t("Saved."), extra_tags="good")
            return redirect("kinds", viewer.world.slug)
    return show_form(request, viewer, form, kind=kind)


def show_form(
    request: HttpRequest, viewer: Viewer, form: KindForm, *, kind: LoreKind | None = None
) -> HttpResponse:
    response = render_page(request, viewer, "editor/kind_form.html", form=form, kind=kind)
    response.status_code = 422 if form.errors else 200
    return response


@gm_page
def remove_kind(request: HttpRequest, viewer: Viewer, slug: str) -> HttpResponse:
    """Ask of which kind its entries are to be, then delete it."""
    kind = get_object_or_404(kinds_of(viewer.world).select_related("world"), slug=slug)
    form = DeleteKindForm(request.POST or None, kind=kind)
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data["kind"]
        own = LoreKind.objects.filter(world=viewer.world, slug=chosen.removeprefix(OWN_KIND))
        to_own = own.first() if chosen.startswith(OWN_KIND) else None
        to_kind = Lore.Kind.CUSTOM if to_own else chosen
        count = delete_kind(kind, to_kind=to_kind, to_own=to_own, by=viewer.name)
        embed_soon("lore")
        text = ngettext(
            "The kind “%(name)s” was deleted; %(count)d entry has another kind.",
            "The kind “%(name)s” was deleted; %(count)d entries have another kind.",
            count,
        )
        messages.success(request, text % {"name": kind.name, "count": count}, extra_tags="good")
        return redirect("kinds", viewer.world.slug)
    response = render_page(request, viewer, "editor/kind_delete.html", form=form, kind=kind)
    response.status_code = 422 if form.errors else 200
    return response
