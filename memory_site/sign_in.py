"""Sign-in with a password or an identity provider, then with the second factor of whoever set one
up. The steps after the first are django-allauth's."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.app_settings import EmailVerificationMethod
from allauth.account.utils import perform_login
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from worlds.webhooks.secret import decrypt, encrypt

PASSWORD_BACKEND = "django.contrib.auth.backends.ModelBackend"


def provider_name() -> str:
    """Return the name of the identity provider for a button; empty when there is none."""
    return settings.OIDC_NAME if settings.OIDC_SERVER_URL else ""


class SignIn(LoginView):
    """The first step is Django's form, so that django-axes counts wrong passwords."""

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        return super().get_context_data(provider=provider_name(), **more)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        answer: HttpResponse = perform_login(
            self.request,
            form.get_user(),
            email_verification=EmailVerificationMethod.NONE,
            redirect_url=self.get_success_url(),
        )
        return answer


class AccountAdapter(DefaultAccountAdapter):
    """Who may be here is decided by invitations and the identity provider."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def login(self, request: HttpRequest, user: User) -> None:
        # The first backend of the settings counts attempts and finds no user.
        if not hasattr(user, "backend"):
            user.backend = PASSWORD_BACKEND
        super().login(request, user)

    def get_login_redirect_url(self, request: HttpRequest) -> str:  # noqa: ARG002
        return reverse("worlds")


class ProviderAdapter(DefaultSocialAccountAdapter):
    """Whom the identity provider lets in becomes a user without a role, if the settings say so."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:  # noqa: ARG002
        return bool(settings.OIDC_CREATE_USERS)


class SecondFactorAdapter(DefaultMFAAdapter):
    """Secrets of authenticator apps and recovery codes are stored encrypted."""

    def encrypt(self, text: str) -> str:
        return encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return decrypt(encrypted_text)

    def get_totp_issuer(self) -> str:
        return "Memory37"
