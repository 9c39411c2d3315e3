"""The "Try search" page: a question, what each leg finds, how they are fused, and why each hit is
there.
"""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from knowledge.answers import HitOut, SearchAnswer
from knowledge.schemas import LoreQuestion, RulesQuestion
from knowledge.search import find_lore, find_rules
from retrieval.errors import Problem
from retrieval.search import Mode
from worlds.admin_scoping import administered_worlds
from worlds.audiences import GM, PUBLIC, Audience
from worlds.callers import Caller
from worlds.markdown import plain_text
from worlds.models import Party, World

SHOWN = 8


class TryForm(forms.Form):
    q = forms.CharField(label=_("Question"), max_length=500)
    domain = forms.ChoiceField(
        label=_("Search in"), choices=[("rules", _("Rules")), ("lore", _("Lore"))]
    )
    world = forms.ModelChoiceField(
        World.objects.none(), label=_("World"), empty_label=None, to_field_name="slug"
    )
    audience = forms.ChoiceField(label=_("As"), required=False)
    expand = forms.BooleanField(label=_("With neighbours (lore)"), required=False)

    def __init__(self, data: Any, *, worlds: Any) -> None:
        super().__init__(data)
        self.fields["world"].queryset = worlds  # type: ignore[attr-defined]
        parties = (
            Party.objects.filter(world__in=worlds)
            .select_related("world")
            .order_by("world__name", "name")
        )
        named = [
            (f"{party.world.slug}/party:{party.slug}", f"{party.name} ({party.world})")
            for party in parties
        ]
        who = [("gm", _("Game master")), ("public", _("Everyone")), *named]
        self.fields["audience"].choices = who  # type: ignore[attr-defined]

    def caller(self) -> Caller:
        world: World = self.cleaned_data["world"]
        chosen = self.cleaned_data.get("audience") or "gm"
        place, _slash, party = chosen.partition("/")
        if not party:
            return Caller(world, GM if chosen == "gm" else PUBLIC)
        if place != world.slug:
            raise forms.ValidationError(gettext("This party plays in another world."))
        slug = Audience.parse(party).slug
        return Caller(
            world,
            Audience("party", slug),
            campaign=Party.objects.get(world=world, slug=slug).campaign,
        )


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
    worlds = administered_worlds(request.user).order_by("created_at")
    first = worlds.first()
    initial = {"domain": "rules", "audience": "gm", "world": first.slug if first else ""}
    form = TryForm({**initial, **request.GET.dict()}, worlds=worlds)
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": gettext("Try search"),
        "form": form,
    }
    if request.GET.get("q") and form.is_valid():
        context |= _searched(form)
    return TemplateResponse(request, "admin/knowledge/try_search.html", context)


def _searched(form: TryForm) -> dict[str, Any]:
    try:
        caller = form.caller()
        answers = {mode: _asked(form, caller, mode) for mode in Mode}
    except (Problem, forms.ValidationError) as problem:
        return {
            "problem": problem.messages[0]
            if isinstance(problem, forms.ValidationError)
            else str(problem)
        }
    fused = answers[Mode.HYBRID]
    return {
        "legs": _legs(answers, expanded=form.cleaned_data["expand"]),
        "fused": fused,
        "best": max((hit.score for hit in fused.hits), default=1.0) or 1.0,
        "audience": caller.audience,
        "degraded": sorted({name for answer in answers.values() for name in answer.degraded}),
    }


def _legs(answers: dict[Mode, SearchAnswer], *, expanded: bool) -> list[Column]:
    legs = [
        (
            "keyword",
            Mode.KEYWORD,
            gettext("By words"),
            gettext("BM25: rare words of the question count most."),
        ),
        ("vector", Mode.VECTOR, gettext("By meaning"), gettext("Nearness of vectors.")),
    ]
    if expanded:
        about = gettext("Lore one step along the graph from what the question names.")
        legs.append(("graph", Mode.HYBRID, gettext("By the graph"), about))
    return [
        Column(title, about, _found_by(key, answers[mode]), key) for key, mode, title, about in legs
    ]


def _asked(form: TryForm, caller: Caller, mode: Mode) -> SearchAnswer:
    told, explain = form.cleaned_data, caller.audience.is_gm
    if told["domain"] == "rules":
        answer = find_rules(
            RulesQuestion(term=told["q"], k=SHOWN, explain=explain), caller, mode=mode
        )
    else:
        expand = told["expand"] and mode == Mode.HYBRID
        question = LoreQuestion(query=told["q"], k=SHOWN, explain=explain, expand=expand)
        answer = find_lore(question, caller, mode=mode)
    for hit in answer.hits:
        hit.text = plain_text(hit.text)
    return answer


def _found_by(leg: str, answer: SearchAnswer) -> list[HitOut]:
    """What the leg itself found, in its own order: a name alone may have brought the others."""
    ranked = [(hit.legs[leg].rank, hit) for hit in answer.hits if leg in hit.legs]
    return [hit for rank, hit in sorted(ranked, key=lambda pair: pair[0] or 0) if rank is not None]
