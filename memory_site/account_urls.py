"""Addresses of login, passwords and one's own account."""

from django.contrib.auth import views as auth
from django.urls import path

from memory_site import account_views

urlpatterns = [
    path("login/", auth.LoginView.as_view(), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("account/", account_views.account, name="account"),
    path("account/password/", auth.PasswordChangeView.as_view(), name="password_change"),
    path(
        "account/password/done/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"
    ),
    path("password/", account_views.PasswordReset.as_view(), name="password_reset"),
    path("password/sent/", auth.PasswordResetDoneView.as_view(), name="password_reset_done"),
    path(
        "password/<uidb64>/<token>/",
        auth.PasswordResetConfirmView.as_view(),
        name="password_reset_confirm",
    ),
    path(
        "password/done/", auth.PasswordResetCompleteView.as_view(), name="password_reset_complete"
    ),
]
