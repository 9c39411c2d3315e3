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
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memories import core, core_lines, core_policy
from memories.curation import health, inbox, merges, rule_review
from memories.curation.mentions import mentions
from memories.erasure import deletion
from memories.models import CoreProposal, ErasureReceipt, Namespace
from retrieval.errors import Problem
from retrieval.tasks import embed_soon

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

PAGE_SIZE = 20
VERSIONS_SHOWN = 30
MOST_MENTIONS = 200
DIFF_NAMES = ("now", "proposed")
Action = Callable[[HttpRequest, Namespace], HttpResponse | None]


@dataclass(frozen=True)
class Page:
    """`show` returns the values of the template; `act` handles a POST and may return its own
    response."""

    slug: str
    title: "str | Promise"
    show: Callable[[HttpRequest, Namespace], dict[str, Any]]
    act: Action | None = None

    @property
    def url_name(self) -> str:
        return f"memories_{self.slug}"

    def view(self, model_admin: "ModelAdmin[Namespace]") -> Callable[..., HttpResponse]:
        def page_view(request: HttpRequest, pk: UUID) -> HttpResponse:
            namespace = model_admin.get_queryset(request).filter(pk=pk).first()
            if namespace is None:
                raise Http404
            if not model_admin.has_change_permission(request, namespace):
                raise PermissionDenied
            if request.method == "POST":
                return self.handle_post(request, namespace)
            values = {
                **model_admin.admin_site.each_context(request),
                **self.show(request, namespace),
                "namespace": namespace,
                "title": f"{self.title}: {namespace}",
                "pages": PAGES,
                "page": self,
            }
            return render(request, f"admin/memories/{self.slug}.html", values)

        # Django's debug pages and the admin's URL reversing show this name.
        page_view.__name__ = self.url_name
        return page_view

    def handle_post(self, request: HttpRequest, namespace: Namespace) -> HttpResponse:
        response = None
        try:
            response = self.act(request, namespace) if self.act else None
        except Problem as problem:
            messages.error(request, problem.detail)
        return response or redirect(f"admin:{self.url_name}", pk=namespace.pk)


# --- inbox


def show_inbox(_request: HttpRequest, namespace: Namespace) -> dict[str, Any]:
    rows = inbox.inbox(namespace, limit=PAGE_SIZE)
    waiting = namespace.memories.pending().count()
    return {
        "cases": [inbox.pending(namespace, row.pk) for row in rows],
        "waiting": waiting,
        "merges": merges.list_merges(namespace, limit=PAGE_SIZE),
        "merge_count": merges.unchecked_merges(namespace).count(),
        "rules": list(rule_review.pending_rules(namespace)[:PAGE_SIZE]),
    }


def act_on_inbox(request: HttpRequest, namespace: Namespace) -> None:
    by, ids = request.user.get_username(), request.POST.getlist("chosen")
    act = request.POST.get("act", "")
    if act in ("approve_chosen", "reject_chosen"):
        result = inbox.decide_all(namespace, ids, is_approval=act == "approve_chosen", by=by)
        count = len(result.done)
        text = gettext("Decisions saved: %(n)d.") % {"n": count}
        messages.success(request, text)
        for detail in result.failed.values():
            messages.error(request, detail)
    elif act == "merge_chosen":
        inbox.merge(namespace, ids, request.POST.get("merged_text", ""), by=by)
        messages.success(request, gettext("Merged. The original memories are kept in the history."))
    else:
        verb, _colon, pk = act.partition(":")
        act_on_pending(namespace, verb, pk, request.POST.get(f"text:{pk}", ""), by=by)
        messages.success(request, gettext("Done."))
    embed_soon("memory")


def act_on_pending(namespace: Namespace, verb: str, pk: str, text: str, *, by: str) -> None:
    """Apply the button `verb` of one pending memory or merge; `text` is what its text field
    holds."""
    match verb:
        case "approve":
            inbox.approve(namespace, pk, by=by)
        case "reject":
            inbox.reject(namespace, pk, by=by)
        case "edit":
            inbox.edit(namespace, pk, text, by=by)
        case "same":
            merges.confirm_merge(namespace, pk)
        case "separate":
            merges.separate(namespace, pk, by=by)
        case "approve_rule" | "reject_rule":
            rule_review.decide_rule(namespace, pk, is_approval=verb == "approve_rule")
        case "split":
            inbox.split(namespace, pk, [line for line in text.splitlines() if line.strip()], by=by)
        case _:
            raise Http404


# --- core memory


def show_core(request: HttpRequest, namespace: Namespace) -> dict[str, Any]:
    current = core.current(namespace)
    versions = list(namespace.core_versions.order_by("-number")[:VERSIONS_SHOWN])
    number = request.GET.get("version", "")
    latest = versions[0] if versions else None
    selection = next((row for row in versions if str(row.number) == number), latest)
    proposals = namespace.core_proposals.filter(verdict=CoreProposal.Verdict.OPEN)
    return {
        "core": current,
        "lines": core_lines.lines_with_evidence(namespace, current.markdown),
        "versions": versions,
        "chosen": selection,
        "budget": core_policy.SOFT_BUDGET,
        "diff": core.diff(namespace, selection.number) if selection else [],
        "proposals": [
            (row, core.unified_diff(current.markdown, row.markdown, names=DIFF_NAMES))
            for row in proposals.order_by("-created_at", "-pk")[:PAGE_SIZE]
        ],
    }


def act_on_core(request: HttpRequest, namespace: Namespace) -> None:
    author, form = request.user.get_username(), request.POST
    verb, _colon, target = form.get("act", "").partition(":")
    match verb:
        case "write":
            # The button names the version that was edited, so that no other change is overwritten.
            core.write_by_hand(
                namespace,
                form.get("markdown", ""),
                reason=form.get("reason", ""),
                author=author,
                base_number=int(target or 0),
            )
        case "restore":
            core.restore(namespace, int(target), author=author)
        case "approve":
            core.approve(UUID(target), namespace, author=author)
        case "reject":
            core.reject(UUID(target), namespace, author=author)
        case "holds":
            core_lines.confirm_line(namespace, target)
        case _:
            raise Http404
    messages.success(request, gettext("Done. All versions are kept."))


# --- health and deletion for good


def show_health(_request: HttpRequest, namespace: Namespace) -> dict[str, Any]:
    result = health.record_health(namespace)
    rows = [
        {
            "name": name,
            "label": HEALTH_LABELS.get(name, name),
            "count": count,
            "change": result.change(name),
            "query": HEALTH_FILTERS.get(name, ""),
            "line": sparkline_points([day.counts.get(name, 0) for day in result.trend]),
        }
        for name, count in result.counts.items()
    ]
    return {"rows": rows, "days": len(result.trend)}


def sparkline_points(values: list[int]) -> str:
    """Return the points of an SVG polyline 100 wide and 20 high; SVG counts y downwards."""
    top, step = max([*values, 1]), 100 / max(len(values) - 1, 1)
    points = (f"{x * step:.1f},{19 - 18 * value / top:.1f}" for x, value in enumerate(values))
    return " ".join(points)


def show_erasure(request: HttpRequest, namespace: Namespace) -> dict[str, Any]:
    counts = {
        gettext("memories"): namespace.memories.count(),
        gettext("observations"): namespace.observations.count(),
        gettext("messages"): namespace.messages.count(),
        gettext("core versions"): namespace.core_versions.count(),
    }
    subject = request.GET.get("subject", "").strip()
    found = mentions(namespace, subject)[:MOST_MENTIONS] if subject else []
    return {"counts": counts, "subject": subject, "mentions": found}


def act_on_erasure(request: HttpRequest, namespace: Namespace) -> HttpResponse | None:
    form = request.POST
    if form.get("confirm", "").strip() != namespace.name:
        text = gettext("Nothing was deleted: type the name of the namespace to confirm.")
        messages.error(request, text)
        return None
    scope = form.get("scope", "")
    if scope not in ErasureReceipt.Scope.values:
        raise Http404
    target, by = form.get("target", "").strip(), request.user.get_username()
    receipt = deletion.erase(
        namespace,
        scope,
        target,
        by=by,
        reason=form.get("reason", ""),
        also=form.getlist("also"),
    )
    messages.success(request, gettext("Permanently deleted. The deletion receipt is below."))
    return redirect("admin:memories_erasurereceipt_change", receipt.pk)


HEALTH_LABELS = {
    "in_use": _("In use"),
    "pending": _("Waiting for approval"),
    "history": _("History"),
    "stale": _("Stale: not updated or recalled for six months"),
    "unsourced": _("Without source"),
    "never_recalled": _("Never recalled, older than a week"),
    "without_vector": _("Not yet embedded"),
    "duplicates": _("Duplicate pairs"),
    "contradictions": _("Contradictory pairs"),
}
# Change-list filters that show about the rows of a count; "stale" has no exact filter in the admin.
HEALTH_FILTERS = {
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
    Page("health", _("Health"), show_health),
    Page("erase", _("Delete permanently"), show_erasure, act_on_erasure),
)
