"""Row scoping for the admin: site users see the worlds that they are designers or game masters of,
superusers all."""

from typing import Any

from django.contrib.admin import AdminSite, RelatedFieldListFilter
from django.contrib.admin.utils import get_fields_from_path
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.http import HttpRequest

from worlds.admin_forms import ExactFields, ExactForms
from worlds.models import GM_ROLES, World
from worlds.roles import is_operator


def administered_worlds(user: AbstractBaseUser | AnonymousUser) -> models.QuerySet[World]:
    """Return the worlds whose rows `user` may see and edit in the admin."""
    if getattr(user, "is_superuser", False):
        return World.objects.all()
    return World.objects.filter(memberships__user__pk=user.pk or 0, memberships__role__in=GM_ROLES)


class ScopedRelatedFilter(RelatedFieldListFilter):
    """Offers in the filter column only rows of the worlds that the user administers."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> Any:
        visible = model_admin.choices_of(field.remote_field.model, request)
        ordering = self.field_admin_ordering(field, request, model_admin)
        return field.get_choices(
            include_blank=False, ordering=ordering, limit_choices_to={"pk__in": visible}
        )


class ScopedChoices(ExactFields):
    """Mixin for an inline, and part of `WorldScoped`: fields offer, and accept, only rows of the
    user's worlds."""

    world_path = "world"
    """Lookup from the model to its world."""
    open_to_operators = False
    """Operators see the rows of every world: for models that hold nothing of a world's story."""

    def worlds_of_rows(self, request: HttpRequest) -> models.QuerySet[World]:
        """Return the worlds whose rows of this model the user may see."""
        if self.open_to_operators and is_operator(request.user):
            return World.objects.all()
        return administered_worlds(request.user)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer no world, campaign, party or other row of a world that is not the user's."""
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        return self._scope(field, db_field, request)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_manytomany(db_field, request, **kwargs)
        return self._scope(field, db_field, request)

    def _scope(self, field: Any, db_field: Any, request: HttpRequest) -> Any:
        if field is None or field.queryset is None or request.user.is_superuser:
            return field
        field.queryset = in_administered_worlds(
            field.queryset, self.worlds_of_rows(request), self.admin_site
        )
        # A row without a world would be everybody's.
        if db_field.name == self.world_path:
            field.required = True
        return field


class WorldScoped(ScopedChoices, ExactForms):
    """Mixin for a `ModelAdmin`: lists, filters, forms, choices and autocomplete stay within the
    user's worlds.

    Rows without a world (shared by all) are shown to everyone and edited by superusers.
    """

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        rows = super().get_queryset(request)
        if getattr(request.user, "is_superuser", False):
            return rows
        visible = models.Q(**{f"{self.world_path}__in": self.worlds_of_rows(request)})
        if self.world_path != "pk":
            visible |= models.Q(**{f"{self.world_path}__isnull": True})
        return rows.filter(visible)

    def get_list_select_related(self, request: HttpRequest) -> Any:
        """Load the rows that the columns name with the list. Django itself leaves those out that
        may be missing, and asks for each of them."""
        names = super().get_list_select_related(request)
        if names is True:
            return names
        fields = {field.name: field for field in self.model._meta.concrete_fields}
        columns = [fields[each] for each in self.get_list_display(request) if each in fields]
        return [*(names or ()), *(each.name for each in columns if each.is_relation)]

    def get_list_filter(self, request: HttpRequest) -> Any:
        """Narrow the choices of every filter by a related row (world, campaign, party, …)."""
        return [
            (each, ScopedRelatedFilter) if self._is_relation(each) else each
            for each in super().get_list_filter(request)
        ]

    def _is_relation(self, name: Any) -> bool:
        if not isinstance(name, str):
            return False
        field: Any = get_fields_from_path(self.model, name)[-1]
        return bool(field.is_relation and not field.auto_created)

    def choices_of(self, model: type[models.Model], request: HttpRequest) -> models.QuerySet[Any]:
        """Return the rows of a related model that the user may choose."""
        rows = model._default_manager.all()
        if getattr(request.user, "is_superuser", False):
            return rows
        return in_administered_worlds(rows, self.worlds_of_rows(request), self.admin_site)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and self.is_own(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and self.is_own(request, obj)

    def is_own(self, request: HttpRequest, obj: Any) -> bool:
        if obj is None or getattr(request.user, "is_superuser", False):
            return True
        within = {f"{self.world_path}__in": self.worlds_of_rows(request)}
        return bool(type(obj)._default_manager.filter(pk=obj.pk, **within).exists())


def in_administered_worlds(
    rows: models.QuerySet[Any], worlds: models.QuerySet[World], site: AdminSite
) -> models.QuerySet[Any]:
    """Narrow `rows` to those of `worlds`, if their admin says how they belong to a world; rows that
    all worlds share are left."""
    names = {field.name for field in rows.model._meta.fields}
    path = "world" if "world" in names else ""
    if site.is_registered(rows.model):
        path = getattr(site.get_model_admin(rows.model), "world_path", path)
    if not path:
        return rows
    within = models.Q(**{f"{path}__in": worlds})
    if path != "pk":
        within |= models.Q(**{f"{path}__isnull": True})
    return rows.filter(within)
