"""The "Test the search" page: the hits of each leg, the fused list, and the scores of each hit."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from knowledge.presenters import HitOut, SearchAnswer
from knowledge.schemas import LoreQuestion, RulesQuestion
from knowledge.search import find_lore, find_rules
from retrieval.errors import Problem
from retrieval.search import Mode
from worlds.admin_scoping import administered_worlds
from worlds.audiences import GM, PUBLIC
from worlds.callers import Caller
from worlds.markdown import plain_text
from worlds.models import Character, Party, World

HITS = 8


class TryForm(forms.Form):
    q = forms.CharField(label=_("Question"), max_length=500)
    domain = forms.ChoiceField(
        label=_("Search in"), choices=[("rules", _("Rules")), ("lore", _("Lore"))]
    )
    world = forms.ModelChoiceField(
        World.objects.none(), label=_("World"), empty_label=None, to_field_name="slug"
    )
    audience = forms.ChoiceField(label=_("Search as"), required=False)
    expand = forms.BooleanField(label=_("Include neighbouring entries (lore)"), required=False)

    def __init__(self, data: Any, *, worlds: Any) -> None:
        super().__init__(data)
        self.fields["world"].queryset = worlds  # type: ignore[attr-defined]
        parties = Party.objects.filter(world__in=worlds).select_related("world")
        audiences = [
            (f"{party.world.slug}/party:{party.slug}", f"{party.name} ({party.world})")
            for party in parties.order_by("world__name", "name")
        ]
        characters = Character.objects.filter(world__in=worlds).select_related("world")
        audiences += [
            (f"{each.world.slug}/character:{each.slug}", f"{each.name} ({each.world})")
            for each in characters.order_by("world__name", "name")
        ]
        choices = [("gm", _("Game master")), ("public", _("Everyone")), *audiences]
        self.fields["audience"].choices = choices  # type: ignore[attr-defined]

    def caller(self) -> Caller:
        world: World = self.cleaned_data["world"]
        choice = self.cleaned_data.get("audience") or "gm"
        world_slug, _slash, audience = choice.partition("/")
        if not audience:
            return Caller(world, GM if choice == "gm" else PUBLIC)
        if world_slug != world.slug:
            raise forms.ValidationError(gettext("This party belongs to another world."))
        return Caller.gm(world).as_audience(audience)


@dataclass(frozen=True)
class Column:
    """One leg, or both together."""

    title: str
    about: str
    hits: list[HitOut]
    key: str = ""


def try_search(request: HttpRequest) -> HttpResponse:
    if not request.user.has_perm("knowledge.view_lore"):
        raise PermissionDenied
    worlds = administered_worlds(request.user).order_by("created_at", "pk")
    first = worlds.first()
    initial = {"domain": "rules", "audience": "gm", "world": first.slug if first else ""}
    form = TryForm({**initial, **request.GET.dict()}, worlds=worlds)
    context: dict[str, Any] = {"title": gettext("Test the search"), "form": form}
    context = {**admin.site.each_context(request), **context}
    if request.GET.get("q") and form.is_valid():
        try:
            caller = form.caller()
            answers = {mode: _ask(form, caller, mode) for mode in Mode}
            hybrid = answers[Mode.HYBRID]
            legs = {name for answer in answers.values() for name in answer.degraded}
            context |= {
                "legs": _columns(answers, with_graph=form.cleaned_data["expand"]),
                "fused": hybrid,
                # Bars are drawn relative to the best score; 1 when nothing was found or all is 0.
                "best": max((hit.score for hit in hybrid.hits), default=1.0) or 1.0,
                "audience": caller.audience,
                "degraded": sorted(legs),
            }
        except forms.ValidationError as problem:
            context["problem"] = problem.messages[0]
        except Problem as problem:
            context["problem"] = str(problem)
    return TemplateResponse(request, "admin/knowledge/try_search.html", context)


def _columns(answers: dict[Mode, SearchAnswer], *, with_graph: bool) -> list[Column]:
    by_words = gettext("BM25: rare words of the question have the most weight.")
    legs = [
        ("keyword", Mode.KEYWORD, gettext("Keyword search"), by_words),
        ("vector", Mode.VECTOR, gettext("Vector search"), gettext("Vector similarity.")),
    ]
    if with_graph:
        by_graph = gettext("Lore one step away in the graph from the entities in the question.")
        legs.append(("graph", Mode.HYBRID, gettext("Graph search"), by_graph))
    columns = []
    for key, mode, title, about in legs:
        # Hits without a rank were found by their name alone.
        hits = [hit for hit in answers[mode].hits if key in hit.legs and hit.legs[key].rank]
        columns.append(
            Column(title, about, sorted(hits, key=lambda hit: hit.legs[key].rank or 0), key)
        )
    return columns


def _ask(form: TryForm, caller: Caller, mode: Mode) -> SearchAnswer:
    data = form.cleaned_data
    # The columns of single legs show their own order.
    rerank = "fast" if mode == Mode.HYBRID else "off"
    shared: dict[str, Any] = {"k": HITS, "explain": caller.audience.is_gm, "rerank": rerank}
    if data["domain"] == "rules":
        answer = find_rules(RulesQuestion(term=data["q"], **shared), caller, mode=mode)
    else:
        expand = data["expand"] and mode == Mode.HYBRID
        question = LoreQuestion(query=data["q"], expand=expand, **shared)
        answer = find_lore(question, caller, mode=mode)
    for hit in answer.hits:
        hit.text = plain_text(hit.text)
    return answer
