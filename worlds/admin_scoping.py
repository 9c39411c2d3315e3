"""Row scoping for the admin: site users see the worlds that they are designers or game masters of,
superusers all."""

from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.http import HttpRequest

from worlds.models import GM_ROLES, World

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

    Base = ModelAdmin[Any]
else:
    Base = object


def administered_worlds(user: AbstractBaseUser | AnonymousUser) -> models.QuerySet[World]:
    """Return the worlds whose rows `user` may see and edit in the admin."""
    if getattr(user, "is_superuser", False):
        return World.objects.all()
    return World.objects.filter(memberships__user__pk=user.pk or 0, memberships__role__in=GM_ROLES)


class WorldScoped(Base):
    """Mixin for a `ModelAdmin`: lists, forms, choices and autocomplete stay within the user's
    worlds.

    `world_path` is the lookup from the model to its world; rows without a world (shared by all) are
    shown to everyone and edited by superusers.
    """

    world_path = "world"

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        rows = super().get_queryset(request)
        if getattr(request.user, "is_superuser", False):
            return rows
        visible = models.Q(**{f"{self.world_path}__in": administered_worlds(request.user)})
        if self.world_path != "pk":
            visible |= models.Q(**{f"{self.world_path}__isnull": True})
        return rows.filter(visible)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer no world, campaign, party or other row of a world that is not the user's."""
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if field is not None and not getattr(request.user, "is_superuser", False):
            field.queryset = in_administered_worlds(field.queryset, request.user)
        return field

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and self.is_own(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and self.is_own(request, obj)

    def is_own(self, request: HttpRequest, obj: Any) -> bool:
        if obj is None or getattr(request.user, "is_superuser", False):
            return True
        within = {f"{self.world_path}__in": administered_worlds(request.user)}
        return bool(type(obj)._default_manager.filter(pk=obj.pk, **within).exists())


def in_administered_worlds(
    rows: models.QuerySet[Any] | None, user: Any
) -> models.QuerySet[Any] | None:
    if rows is None:
        return None
    if rows.model is World:
        return rows.filter(pk__in=administered_worlds(user))
    names = {field.name for field in rows.model._meta.fields}
    return rows.filter(world__in=administered_worlds(user)) if "world" in names else rows
