"""What the first page of the admin shows: a designer or game master what waits in their worlds, an
operator how the installation is."""

from collections import Counter, defaultdict
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, QuerySet, Sum
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from knowledge.editing_models import LoreProposal
from knowledge.graph.contradiction_models import Contradiction
from memory_site.health import examine_parts
from npcs.models import DispositionChange, OpinionChange
from retrieval.models import LanguageModelCall
from worlds.admin_scoping import administered_worlds
from worlds.models import ApiKey, Invitation, World
from worlds.roles import is_operator

MOST_WORLDS = 12
PART_NAMES = {
    "database": _("Database"),
    "migrations": _("Migrations"),
    "embedder": _("Embedder"),
    "vectors": _("Vectors"),
    "broker": _("Task queue"),
    "worker": _("Worker"),
    "beat": _("Scheduler"),
    "graph": _("Graph mirror"),
    "replica": _("Replica"),
}


def theme(request: HttpRequest) -> str:
    """The site's own choice of theme (`worlds.views.choose_look`) rules the admin too."""
    look = request.COOKIES.get("look", "")
    return look if look in ("light", "dark") else "auto"


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    context["own_worlds"] = _own_worlds(request)
    if is_operator(request.user):
        context["health"] = [
            (PART_NAMES.get(part.name, part.name), problem is None)
            for part, problem in examine_parts()
        ]
        context["figures"] = _figures()
    return context


def _own_worlds(request: HttpRequest) -> list[tuple[World, list[str]]]:
    worlds = list(administered_worlds(request.user).order_by("name")[:MOST_WORLDS])
    waiting: dict[Any, list[str]] = defaultdict(list)
    changes = Counter(dict(_by_world(DispositionChange.objects.pending(), "npc__world", worlds)))
    changes.update(dict(_by_world(OpinionChange.objects.pending(), "world", worlds)))
    for world, number in changes.items():
        text = ngettext("%d disposition change", "%d disposition changes", number)
        waiting[world].append(text % number)
    for world, number in _by_world(LoreProposal.objects.filter(state="open"), "world", worlds):
        waiting[world].append(ngettext("%d proposal", "%d proposals", number) % number)
    open_clashes = Contradiction.objects.filter(state="open")
    for world, number in _by_world(open_clashes, "world", worlds):
        waiting[world].append(ngettext("%d contradiction", "%d contradictions", number) % number)
    return [(world, waiting[world.pk]) for world in worlds]


def _by_world(rows: QuerySet[Any], path: str, worlds: list[World]) -> list[tuple[Any, int]]:
    """Count `rows` by world, in one query."""
    within = rows.filter(**{f"{path}__in": worlds})
    return list(within.order_by().values_list(path).annotate(number=Count("pk")))


def _figures() -> list[tuple[str, int]]:
    now = timezone.now()
    calls = LanguageModelCall.objects.filter(created_at__gt=now - timedelta(days=1))
    used = calls.aggregate(tokens=Sum("tokens_in") + Sum("tokens_out"))
    keys = ApiKey.objects.filter(revoked_at=None).exclude(expires_at__lt=now)
    invitations = Invitation.objects.filter(revoked_at=None, expires_at__gt=now)
    return [
        (gettext("Users"), User.objects.filter(is_active=True).count()),
        (gettext("Worlds"), World.objects.count()),
        (gettext("Valid API keys"), keys.count()),
        (gettext("Open invitations"), invitations.count()),
        (gettext("Failed calls of the language model in a day"), calls.filter(ok=False).count()),
        (gettext("Tokens of the language model in a day"), used["tokens"] or 0),
    ]
