"""Admin of users, and of what django-axes records of their logins. Groups are not offered: what a
user may do follows the roles of `worlds.roles`.
"""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from axes.models import (
    AccessAttempt,
    AccessAttemptExpiration,
    AccessFailureLog,
    AccessLog,
)
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.contrib.auth.tokens import default_token_generator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import action
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from worlds.admin_forms import ExactFields, ExactForms
from worlds.exact_forms import ExactModelForm
from worlds.models import Membership

_NOT_AS_REGISTERED = (
    *(User, Group, AccessAttempt, AccessAttemptExpiration, AccessFailureLog, AccessLog),
    # The page of the user removes a second factor; providers are settings.
    *(Authenticator, EmailAddress, SocialAccount, SocialApp, SocialToken),
)
for _model in _NOT_AS_REGISTERED:
    if admin.site.is_registered(_model):
        admin.site.unregister(_model)


class RolesInline(ExactFields, TabularInline):
    model = Membership
    extra = 0
    fields = ["role", "world"]
    autocomplete_fields = ["world"]
    tab = True


class UserForm(ExactModelForm, UserChangeForm):
    """Writes only what was edited."""


@admin.register(User)
class UserAdmin(ExactForms, DjangoUserAdmin, ModelAdmin):  # type: ignore[type-arg]
    form = UserForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ["username", "first_name", "email", "roles", "is_active", "last_login"]
    list_filter = ["is_active", "is_superuser", "memberships__role"]
    inlines = [RolesInline]
    actions_detail = ["create_reset_link", "remove_second_factor"]
    personal = (_("Personal info"), {"fields": ["first_name", "last_name", "email"]})
    operator_fieldsets = [
        (None, {"fields": ["username", "password", "is_active"]}),
        personal,
        (_("Important dates"), {"fields": ["last_login", "date_joined"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("memberships__world")

    @admin.display(description=_("roles"))
    def roles(self, user: User) -> str:
        names = [_role_in_words(each) for each in user.memberships.all()]
        return ", ".join([gettext("Administrator")] * user.is_superuser + names)

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Rights beyond the roles are given by superusers alone."""
        if obj is None or request.user.is_superuser:
            return super().get_fieldsets(request, obj)
        return self.operator_fieldsets

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        return [*super().get_readonly_fields(request, obj), "last_login", "date_joined"]

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_change_permission(request, obj) and _may_rule_over(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_delete_permission(request, obj) and _may_rule_over(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        if not request.user.is_superuser:
            queryset = queryset.filter(is_superuser=False)
        super().delete_queryset(request, queryset)

    def has_create_reset_link_permission(self, request: HttpRequest, object_id: Any) -> bool:
        user = User.objects.filter(pk=object_id).first()
        return user is not None and self.has_change_permission(request, user)

    @action(
        description=_("Link to set a new password"),
        url_path="reset-link",
        permissions=["create_reset_link"],
        icon="lock_reset",
    )
    def create_reset_link(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Show a link that lets the user set a password: the way back in without e-mail."""
        user = get_object_or_404(User, pk=object_id)
        uid = urlsafe_base64_encode(force_bytes(user.pk))
        token = default_token_generator.make_token(user)
        link = request.build_absolute_uri(reverse("password_reset_confirm", args=[uid, token]))
        # Whoever has the link can sign in as the user: its making is recorded like a new password.
        self.log_change(request, user, gettext("Made a link to set a new password."))
        text = gettext(
            "Give this link to %(user)s. It works once, for three days, and sets a new password: "
            "%(link)s"
        )
        messages.warning(request, text % {"user": user, "link": link})
        return redirect("admin:auth_user_change", user.pk)

    def has_remove_second_factor_permission(self, request: HttpRequest, object_id: Any) -> bool:
        has_one = Authenticator.objects.filter(user=object_id).exists()
        return has_one and self.has_create_reset_link_permission(request, object_id)

    @action(
        description=_("Remove the second factor"),
        url_path="remove-second-factor",
        permissions=["remove_second_factor"],
        icon="phonelink_erase",
    )
    def remove_second_factor(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """For somebody who lost the phone and the recovery codes: the password is enough again."""
        user = get_object_or_404(User, pk=object_id)
        Authenticator.objects.filter(user=user).delete()
        self.log_change(request, user, gettext("Removed the second factor."))
        text = gettext("%(user)s signs in with the password alone again.")
        messages.success(request, text % {"user": user})
        return redirect("admin:auth_user_change", user.pk)


def _may_rule_over(request: HttpRequest, user: User | None) -> bool:
    return request.user.is_superuser or user is None or not user.is_superuser


def _role_in_words(membership: Membership) -> str:
    role = membership.get_role_display()
    if membership.world is None:
        return role
    return gettext("%(role)s of %(world)s") % {"role": role, "world": membership.world}


@admin.register(Group)
class GroupAdmin(ExactForms, DjangoGroupAdmin, ModelAdmin):
    """Sets of permissions beyond the roles, for superusers."""


class LoginRecordAdmin(ModelAdmin):
    """What django-axes records; looked at, and deleted to let somebody try again at once."""

    search_fields = ["username", "ip_address"]
    ordering = ["-attempt_time", "-pk"]
    date_hierarchy = "attempt_time"
    list_display = ["attempt_time", "username", "ip_address", "path_info"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(AccessAttempt)
class AccessAttemptAdmin(LoginRecordAdmin):
    list_display = [*LoginRecordAdmin.list_display, "failures_since_start"]
    readonly_fields = ["attempt_time"]
    fields = ["username", "ip_address", "attempt_time", "failures_since_start", "user_agent"]


@admin.register(AccessLog)
class AccessLogAdmin(LoginRecordAdmin):
    list_display = [*LoginRecordAdmin.list_display, "logout_time"]


@admin.register(AccessFailureLog)
class AccessFailureLogAdmin(LoginRecordAdmin):
    list_display = [*LoginRecordAdmin.list_display, "locked_out"]
