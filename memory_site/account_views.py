"""One's own account, a forgotten password, and the page of an invitation link."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordResetDoneView, PasswordResetView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache

from memory_site.sign_in import PASSWORD_BACKEND, provider_name
from retrieval.errors import NotFound
from worlds.invitations import accept_invitation, open_invitation
from worlds.models import Membership


class AccountForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    first_name = forms.CharField(
        label=_("Your name"), max_length=150, required=False, help_text=_("As others see it.")
    )

    class Meta:
        model = User
        fields = ["first_name", "email"]
        help_texts = {"email": _("For a link when you forget your password.")}


class SignUpForm(UserCreationForm):  # type: ignore[type-arg]
    email = forms.EmailField(
        label=_("E-mail address"),
        required=False,
        help_text=_("Optional: for a link when you forget your password."),
    )

    class Meta(UserCreationForm.Meta):
        model = User
        fields = ("username", "email")


@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Change one's name and e-mail address; list one's roles."""
    assert isinstance(request.user, User)
    form = AccountForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, gettext("Saved."))
        return redirect("account")
    own = Membership.objects.filter(user=request.user).select_related("world", "party")
    context = {
        "form": form,
        "memberships": own.order_by("world__name"),
        "provider": provider_name(),
    }
    return render(request, "registration/account.html", context)


def delivery_of_reset_links() -> dict[str, bool]:
    """Return how a link for a new password reaches its user, besides by an operator."""
    sends_mail = bool(settings.EMAIL_HOST)
    return {"sends_mail": sends_mail, "writes_link": not sends_mail and not settings.HTTPS}


class PasswordReset(PasswordResetView):
    def get_context_data(self, **more: Any) -> dict[str, Any]:
        return super().get_context_data(**delivery_of_reset_links(), **more)


class PasswordResetDone(PasswordResetDoneView):
    def get_context_data(self, **more: Any) -> dict[str, Any]:
        return super().get_context_data(**delivery_of_reset_links(), **more)


@never_cache
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Join a world: as who one is, or by signing up here."""
    try:
        invited_to = open_invitation(token)
    except NotFound:
        return render(request, "registration/invitation_over.html", status=404)
    signs_up = not request.user.is_authenticated
    form = SignUpForm(request.POST or None) if signs_up else None
    context: dict[str, Any] = {"invitation": invited_to, "form": form}
    if request.method != "POST" or (form is not None and not form.is_valid()):
        return render(request, "registration/invitation.html", context)
    membership = _join(request, token, form)
    messages.success(request, gettext("Welcome to %(world)s.") % {"world": invited_to.world})
    return redirect("world-home", membership.world.slug if membership.world else "")


@transaction.atomic
def _join(request: HttpRequest, token: str, form: SignUpForm | None) -> Membership:
    """Make the member, and first the user if they sign up: both or neither."""
    if form is None:
        assert isinstance(request.user, User)
        return accept_invitation(token, request.user)
    user = form.save()
    membership = accept_invitation(token, user)
    login(request, user, backend=PASSWORD_BACKEND)
    return membership
