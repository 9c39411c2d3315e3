"""The pages of one namespace in the admin: inbox, core memory, health, deletion for good."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from memories import core, core_policy
from memories.curation import health, inbox
from memories.erasure import deletion
from memories.models import CoreProposal, Namespace
from retrieval.errors import Problem
from retrieval.tasks import embed_soon

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

PAGE_SIZE = 20
NAMES = ("now", "proposed")
Answer = HttpResponse | None


@dataclass(frozen=True)
class Page:
    """`show` gives the template its values; `act` carries out a POST and may answer itself."""

    slug: str
    title: "str | Promise"
    show: Callable[[HttpRequest, Namespace], dict[str, Any]]
    act: Callable[[HttpRequest, Namespace], Answer]

    @property
    def url_name(self) -> str:
        return f"memories_{self.slug}"

    def view(self, model_admin: "ModelAdmin[Namespace]") -> Callable[..., HttpResponse]:
        def shown(request: HttpRequest, pk: UUID) -> HttpResponse:
            namespace = _namespace(model_admin, request, pk)
            if request.method == "POST":
                return self._acted(request, namespace)
            values = {
                **model_admin.admin_site.each_context(request),
                **self.show(request, namespace),
            }
            values |= {
                "namespace": namespace,
                "title": f"{self.title}: {namespace}",
                "pages": PAGES,
                "page": self,
            }
            return render(request, f"admin/memories/{self.slug}.html", values)

        shown.__name__ = self.url_name
        return shown

    def _acted(self, request: HttpRequest, namespace: Namespace) -> HttpResponse:
        try:
            answer = self.act(request, namespace)
        except Problem as problem:
            messages.error(request, problem.detail)
            answer = None
        return answer or redirect(f"admin:{self.url_name}", pk=namespace.pk)


def _namespace(model_admin: "ModelAdmin[Namespace]", request: HttpRequest, pk: UUID) -> Namespace:
    namespace = model_admin.get_queryset(request).filter(pk=pk).first()
    if namespace is None:
        raise Http404
    if not model_admin.has_change_permission(request, namespace):
        raise PermissionDenied
    return namespace


# --- inbox


def show_inbox(_request: HttpRequest, namespace: Namespace) -> dict[str, Any]:
    rows = inbox.inbox(namespace, limit=PAGE_SIZE)
    waiting = namespace.memories.pending().count()
    return {"cases": [inbox.pending(namespace, row.pk) for row in rows], "waiting": waiting}


def act_on_inbox(request: HttpRequest, namespace: Namespace) -> Answer:
    by, act = request.user.get_username(), request.POST.get("act", "")
    ids = request.POST.getlist("chosen")
    match act:
        case "approve_chosen" | "reject_chosen":
            decided = inbox.decide_all(namespace, ids, approved=act == "approve_chosen", by=by)
            _tell(request, decided)
        case "merge_chosen":
            inbox.merge(namespace, ids, request.POST.get("merged_text", ""), by=by)
            messages.success(request, gettext("Merged; the parts are kept as history."))
        case _:
            _act_on_one(request, namespace, act, by)
    embed_soon("memory")
    return None


def _act_on_one(request: HttpRequest, namespace: Namespace, act: str, by: str) -> None:
    verb, _colon, pk = act.partition(":")
    text = request.POST.get(f"text:{pk}", "")
    match verb:
        case "approve":
            inbox.approve(namespace, pk, by=by)
        case "reject":
            inbox.reject(namespace, pk, by=by)
        case "edit":
            inbox.edit(namespace, pk, text, by=by)
        case "split":
            inbox.split(namespace, pk, [line for line in text.splitlines() if line.strip()], by=by)
        case _:
            raise Http404
    messages.success(request, gettext("Done."))


def _tell(request: HttpRequest, decided: inbox.Decided) -> None:
    done = len(decided.done)
    messages.success(request, ngettext("%(n)d decided.", "%(n)d decided.", done) % {"n": done})
    for detail in decided.failed.values():
        messages.error(request, detail)


# --- core memory


def show_core(request: HttpRequest, namespace: Namespace) -> dict[str, Any]:
    now = core.current(namespace)
    versions = list(namespace.core_versions.order_by("-number")[:30])
    wanted = request.GET.get("version", "")
    chosen = next(
        (row for row in versions if str(row.number) == wanted), versions[0] if versions else None
    )
    proposals = namespace.core_proposals.filter(verdict=CoreProposal.Verdict.OPEN).order_by(
        "-created_at"
    )
    return {
        "core": now,
        "versions": versions,
        "chosen": chosen,
        "budget": core_policy.SOFT_BUDGET,
        "diff": core.diff(namespace, chosen.number) if chosen else [],
        "proposals": [
            (row, core.unified(now.markdown, row.markdown, names=NAMES))
            for row in proposals[:PAGE_SIZE]
        ],
    }


def act_on_core(request: HttpRequest, namespace: Namespace) -> Answer:
    author, (verb, _colon, which) = (
        request.user.get_username(),
        request.POST.get("act", "").partition(":"),
    )
    match verb:
        case "write":
            core.write(
                namespace,
                request.POST.get("markdown", ""),
                reason=request.POST.get("reason", ""),
                author=author,
                base_number=int(which or 0),
            )
        case "restore":
            core.restore(namespace, int(which), author=author)
        case "approve":
            core.approve(UUID(which), namespace, author=author)
        case "reject":
            core.reject(UUID(which), namespace, author=author)
        case _:
            raise Http404
    messages.success(request, gettext("Done. Every version is kept."))
    return None


# --- health and deletion for good


def show_health(_request: HttpRequest, namespace: Namespace) -> dict[str, Any]:
    found = health.examine(namespace)
    rows = [
        {
            "name": name,
            "label": HEALTH_WORDS.get(name, name),
            "count": count,
            "change": found.change(name),
            "query": HEALTH_LINKS.get(name, ""),
            "line": _line([day.counts.get(name, 0) for day in found.trend]),
        }
        for name, count in found.counts.items()
    ]
    return {"rows": rows, "days": len(found.trend)}


def _line(values: list[int]) -> str:
    """Points of an SVG polyline 100 wide and 20 high."""
    top, step = max([*values, 1]), 100 / max(len(values) - 1, 1)
    return " ".join(
        f"{place * step:.1f},{19 - 18 * value / top:.1f}" for place, value in enumerate(values)
    )


def show_erasing(_request: HttpRequest, namespace: Namespace) -> dict[str, Any]:
    counts = {
        gettext("memories"): namespace.memories.count(),
        gettext("observations"): namespace.observations.count(),
        gettext("messages"): namespace.messages.count(),
        gettext("core versions"): namespace.core_versions.count(),
    }
    return {"counts": counts}


def act_on_erasing(request: HttpRequest, namespace: Namespace) -> Answer:
    scope, target = request.POST.get("scope", ""), request.POST.get("target", "").strip()
    if request.POST.get("confirm", "").strip() != namespace.name:
        messages.error(
            request, gettext("Nothing was deleted: type the name of the namespace to confirm.")
        )
        return None
    given: dict[str, str] = {
        "by": request.user.get_username(),
        "reason": request.POST.get("reason", ""),
    }
    if scope == "namespace":
        receipt = deletion.erase_namespace(namespace, **given)
    else:
        acts = {
            "memory": deletion.erase_memory,
            "source": deletion.erase_source,
            "subject": deletion.erase_subject,
        }
        receipt = acts[scope](namespace, target, **given) if scope in acts else _unknown()
    messages.success(request, gettext("Deleted for good. This is the receipt."))
    return redirect("admin:memories_erasurereceipt_change", receipt.pk)


def _unknown() -> Any:
    raise Http404


def _nothing(_request: HttpRequest, _namespace: Namespace) -> Answer:
    return None


HEALTH_WORDS = {
    "in_use": _("In use"),
    "pending": _("Waiting for approval"),
    "history": _("History"),
    "stale": _("Stale: neither written nor recalled for half a year"),
    "unsourced": _("Without source"),
    "never_recalled": _("Never recalled, older than a week"),
    "without_vector": _("Not yet embedded"),
    "duplicates": _("Pairs that say the same"),
    "contradictions": _("Pairs that contradict"),
}
HEALTH_LINKS = {
    "in_use": "state__exact=active",
    "pending": "state__exact=pending",
    "history": "state__exact=superseded",
    "never_recalled": "state__exact=active&recalls=0",
    "unsourced": "state__exact=active&observations__isnull=True",
    "stale": "state__exact=active&last_recalled_at__isnull=True",
}
PAGES = (
    Page("inbox", _("Inbox"), show_inbox, act_on_inbox),
    Page("core", _("Core memory"), show_core, act_on_core),
    Page("health", _("Health"), show_health, _nothing),
    Page("erase", _("Delete for good"), show_erasing, act_on_erasing),
)
