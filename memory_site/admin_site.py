"""The admin site: one login with the pages, open to whoever has a role with rights there."""

import time
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from unfold.sites import UnfoldAdminSite

from memory_site.admin_sections import search_results
from worlds.roles import may_administer


class Site(UnfoldAdminSite):  # type: ignore[misc]  # unfold is not typed
    def has_permission(self, request: HttpRequest) -> bool:
        return may_administer(request.user)

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Send to the login of the site, which brings back. Somebody who is signed in already has
        no rights here: another password would not help."""
        if self.has_permission(request):
            return redirect("admin:index")
        if request.user.is_authenticated:
            raise PermissionDenied(
                gettext("The administration is open to designers and operators.")
            )
        return redirect_to_login(request.GET.get("next") or reverse("admin:index"))

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return redirect("password_change")

    def search(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Answer the palette: lists and rows by name. Unlike unfold's, it is bounded, and keeps no
        answer for later, so that a new row is found at once."""
        term = request.GET.get("s", "")
        if not term.strip() or "\x00" in term:
            return HttpResponse()
        begin = time.perf_counter()
        results = search_results(request, term)
        context = {
            "results": results,
            "page_obj": {"count": len(results)},
            "page_counter": 0,
            "execution_time": time.perf_counter() - begin,
            "command_show_history": True,
        }
        template = "command_results" if "extended" in request.GET else "search_results"
        return TemplateResponse(
            request, f"unfold/helpers/{template}.html", context, headers={"HX-Trigger": "search"}
        )
