"""Addresses of login, passwords and one's own account."""

from allauth.account.views import account_inactive, reauthenticate
from django.contrib.auth import views as auth
from django.urls import include, path

from memory_site import account_views
from memory_site.sign_in import SignIn

# django-allauth leads to some of these by names of its own.
urlpatterns = [
    path("login/", SignIn.as_view(), name="login"),
    path("login/", SignIn.as_view(), name="account_login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("logout/", auth.LogoutView.as_view(), name="account_logout"),
    path("account/inactive/", account_inactive, name="account_inactive"),
    path("account/confirm/", reauthenticate, name="account_reauthenticate"),
    path("account/second-factor/", include("allauth.mfa.urls")),
    path("account/provider/", include("allauth.socialaccount.urls")),
    path("account/provider/", include("allauth.socialaccount.providers.openid_connect.urls")),
    path("account/", account_views.account, name="account"),
    path("account/password/", auth.PasswordChangeView.as_view(), name="password_change"),
    path(
        "account/password/done/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"
    ),
    path("password/", account_views.PasswordReset.as_view(), name="password_reset"),
    path("password/sent/", account_views.PasswordResetDone.as_view(), name="password_reset_done"),
    path(
        "password/<uidb64>/<token>/",
        auth.PasswordResetConfirmView.as_view(),
        name="password_reset_confirm",
    ),
    path(
        "password/done/", auth.PasswordResetCompleteView.as_view(), name="password_reset_complete"
    ),
]
