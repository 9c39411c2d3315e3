"""What each role may do: the permissions that the admin asks for follow the memberships, so nobody
picks them from a list.

A role only says *what kinds* of rows its holder may see and change. *Which* rows is decided by
`worlds.admin_scoping` and by the audience of a page.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

from django.apps import apps
from django.contrib.auth.backends import BaseBackend
from django.db.models import Model
from django.utils.translation import gettext as _

from retrieval.errors import Forbidden
from worlds.models import GM_ROLES, Membership, World

Role = Membership.Role
MAY_GRANT: dict[str, tuple[str, ...]] = {
    Role.DESIGNER: (Role.DESIGNER, Role.GM, Role.PLAYER),
    Role.GM: (Role.GM, Role.PLAYER),
}
"""Nobody grants more than they have."""

VIEW = ("view",)
EDIT = ("view", "change")
ALL = ("view", "add", "change", "delete")

GAME_APPS = ("knowledge", "episodes", "npcs", "art", "memories")
"""Apps whose rows belong to a world: its designers and game masters may do everything there."""
SHARED_MODELS = frozenset(
    {
        "knowledge.conflictrule",
        "knowledge.glossaryterm",
        "knowledge.graphjoin",
        "knowledge.graphrelation",
    }
)
"""Rows of these apps that all worlds share: whoever designs one world may only look at them."""

OF_GM: dict[str, tuple[str, ...]] = {
    "worlds.world": VIEW,
    "worlds.campaign": ALL,
    "worlds.party": ALL,
    "worlds.character": ALL,
    "worlds.apikey": ("view", "add", "change"),
    "worlds.reveal": EDIT,
    "worlds.webhook": ALL,
    "worlds.webhookdelivery": VIEW,
    "worlds.auditedcall": VIEW,
    "worlds.gamesystem": VIEW,
}
OF_DESIGNER = {**OF_GM, "worlds.world": ("view", "add", "change")}
CREATE_WORLDS = "worlds.add_world"
OF_OPERATOR: dict[str, tuple[str, ...]] = {
    "auth.user": ALL,
    "worlds.world": ("view", "add", "change"),
    "worlds.membership": ALL,
    "worlds.invitation": EDIT,
    "worlds.apikey": EDIT,
    "worlds.gamesystem": ALL,
    "retrieval.languagemodelcall": VIEW,
    "axes.accessattempt": ("view", "delete"),
    "axes.accesslog": VIEW,
    "axes.accessfailurelog": VIEW,
}


@cache
def permissions_of_role(role: str) -> frozenset[str]:
    """Return the permissions of a role, such as `npcs.change_npc`."""
    if role == Role.OPERATOR:
        return _permissions_named(OF_OPERATOR)
    if role not in GM_ROLES:
        return frozenset()
    named = _permissions_named(OF_DESIGNER if role == Role.DESIGNER else OF_GM)
    return named.union(*(_of_app(label) for label in GAME_APPS))


def _permissions_named(actions_by_model: dict[str, tuple[str, ...]]) -> frozenset[str]:
    return frozenset(
        permission
        for label, actions in actions_by_model.items()
        for permission in _permissions(apps.get_model(label), actions)
    )


def _of_app(label: str) -> set[str]:
    permissions: set[str] = set()
    for model in apps.get_app_config(label).get_models(include_auto_created=True):
        is_shared = model._meta.label_lower in SHARED_MODELS
        permissions |= _permissions(model, VIEW if is_shared else ALL)
        if not is_shared:
            permissions |= {f"{label}.{codename}" for codename, _name in model._meta.permissions}
    return permissions


def _permissions(model: type[Model], actions: Iterable[str]) -> set[str]:
    meta = model._meta
    return {f"{meta.app_label}.{action}_{meta.model_name}" for action in actions}


def roles_of(user: Any) -> frozenset[str]:
    """Return every role that `user` holds anywhere. Read once for each user object, which lives as
    long as a request."""
    if not getattr(user, "is_authenticated", False):
        return frozenset()
    if not hasattr(user, "_roles_held"):
        held = Membership.objects.filter(user=user).values_list("role", flat=True)
        user._roles_held = frozenset(held)
    return user._roles_held  # type: ignore[no-any-return]


def is_operator(user: Any) -> bool:
    return user.is_superuser or Role.OPERATOR in roles_of(user)


def may_administer(user: Any) -> bool:
    """Whether the admin has anything for `user`. `is_staff` with permissions picked by hand goes on
    working beside the roles."""
    if not user.is_active or not user.is_authenticated:
        return False
    held = roles_of(user) if not (user.is_superuser or user.is_staff) else ()
    return user.is_superuser or user.is_staff or any(permissions_of_role(role) for role in held)


def check_may_grant(own_role: str, role: str) -> None:
    """Raise `Forbidden` if somebody with `own_role` may not give or take `role`."""
    if role not in MAY_GRANT.get(own_role, ()):
        raise Forbidden(
            _("A game master gives the roles of game masters and players, a designer every role.")
        )


def may_administer_by_key(user: Any, world: World | None) -> bool:
    """Whether the user may make a key with the scope `admin` for `world`. Such a key does what a
    designer does: it changes the world's settings and gives every role."""
    if user.is_superuser:
        return True
    held = Membership.objects.filter(user=user, world=world, role=Role.DESIGNER)
    return world is not None and held.exists()


def may_create_worlds(user: Any) -> bool:
    """Whether the user may create a world, by a role or as staff. Permissions picked by hand are
    read for staff alone: they take two queries, and every page asks."""
    if user.is_superuser or user.is_staff:
        return bool(user.has_perm(CREATE_WORLDS))
    return user.is_active and any(CREATE_WORLDS in permissions_of_role(r) for r in roles_of(user))


class RoleBackend(BaseBackend):
    """Gives users the permissions of their roles. It signs nobody in."""

    def get_user_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        if not user_obj.is_active or obj is not None:
            return set()
        return set().union(*(permissions_of_role(role) for role in roles_of(user_obj)))

    def has_module_perms(self, user_obj: Any, app_label: str) -> bool:
        prefix = f"{app_label}."
        return any(each.startswith(prefix) for each in self.get_all_permissions(user_obj))
