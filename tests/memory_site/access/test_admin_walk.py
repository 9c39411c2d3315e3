"""Nobody reads or changes anything of another world in the admin, whatever page, filter, action or
form they call.

Two worlds have rows of every model. Each role of the first one walks every address of the admin for
each row of the second.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import unquote_plus

import pytest
from django.apps import apps
from django.contrib.admin import site
from django.contrib.auth.models import Permission, User
from django.core import serializers
from django.db.models import Model, QuerySet
from django.test import Client
from django.urls import NoReverseMatch, reverse

from tests.memory_site.test_query_counts import make_world
from worlds.admin_history import VersionHistory
from worlds.admin_scoping import WorldScoped
from worlds.models import Membership, Party, World

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.timeout(600)]

FOREIGN_NAME = "Zanzibar of the Foreigners"
ROLES = ("staff", "operator", "player", "nobody")
"""`staff` is a designer who holds every right of the admin beside it, picked by hand: whoever leads
a game may do less."""
REFUSED = ("player", "nobody")
"""The admin as a whole refuses them: one address of each model is enough."""
OPEN_TO_OPERATORS = ("worlds.world", "worlds.apikey", "worlds.membership", "worlds.invitation")
"""What operators administer in every world: names and rights, none of the story."""


@pytest.fixture
def own(db: None) -> World:
    return make_world("own", 2)


@pytest.fixture
def foreign(own: World) -> World:
    world = make_world("foreign", 2)
    World.objects.filter(pk=world.pk).update(name=FOREIGN_NAME)
    for model in scoped_models():
        if isinstance(site._registry[model], VersionHistory):
            rows_of_world(model, world).first().save()  # rows written together have no history
    return World.objects.get(pk=world.pk)


def visitor(role: str, own: World) -> Client:
    """A browser of somebody with this role in the own world; `staff` holds every right of the admin
    beside it, picked by hand."""
    user = User.objects.create_user(f"visitor-{role}", is_staff=role == "staff")
    if role == "staff":
        user.user_permissions.set(Permission.objects.exclude(content_type__app_label="auth"))
    party = Party.objects.filter(world=own).first() if role == "player" else None
    if role != "nobody":
        world = None if role == "operator" else own
        held = "designer" if role == "staff" else role
        Membership.objects.create(user=user, world=world, role=held, party=party)
    client = Client(raise_request_exception=False)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def rows_of_world(model: type[Model], world: World) -> QuerySet[Any]:
    path = site.get_model_admin(model).world_path  # type: ignore[attr-defined]
    return model._default_manager.filter(**{path: world.pk if path == "pk" else world})


def scoped_models() -> list[type[Model]]:
    return [model for model in site._registry if isinstance(site._registry[model], WorldScoped)]


def marks_of(world: World, role: str) -> set[str]:
    """What names the world and its rows: its name, and every id that no other row can have. Not the
    row of each model whose pages are asked for: the next page says that there is no row of that
    id."""
    marks, asked_for = {world.name}, set()
    for model in scoped_models():
        keys = rows_of_world(model, world).order_by("pk").values_list("pk", flat=True)
        marks |= {str(pk) for pk in keys}
        asked_for.add(str(keys[0]))
    marks -= asked_for
    if role != "operator":
        return {mark for mark in marks if not mark.isdigit()}
    seen = {world.name}
    for label in OPEN_TO_OPERATORS:
        keys = rows_of_world(apps.get_model(label), world).values_list("pk", flat=True)
        seen |= {str(pk) for pk in keys}
    return {mark for mark in marks - seen if not mark.isdigit()}


def stored(world: World) -> dict[str, str]:
    """The rows of every scoped model in the world, as text."""
    return {
        model._meta.label: serializers.serialize("json", rows_of_world(model, world).order_by("pk"))
        for model in scoped_models()
    }


def addresses_of_row(model: type[Model], row: Any) -> Iterator[str]:
    """Every address of the admin that names a row."""
    for pattern in site._registry[model].get_urls():
        page = getattr(pattern, "name", None)
        if not page:
            continue
        version = [row.history.first().pk] if page.endswith("simple_history") else []
        with suppress(NoReverseMatch):  # a page that is about no row
            yield reverse(f"admin:{page}", args=[row.pk, *version])


def lists_and_filters(model: type[Model], world: World) -> Iterator[str]:
    name = f"{model._meta.app_label}_{model._meta.model_name}"
    address = reverse(f"admin:{name}_changelist")
    yield address
    path = site._registry[model].world_path  # type: ignore[attr-defined]
    yield f"{address}?{path}__exact={world.pk}"
    yield reverse(f"admin:{name}_add")
    for field in model._meta.get_fields():
        if field.concrete and (field.many_to_one or field.many_to_many) and not field.auto_created:
            yield (
                f"{reverse('admin:autocomplete')}?term=&app_label={model._meta.app_label}"
                f"&model_name={model._meta.model_name}&field_name={field.name}"
            )


def test_every_address_of_every_model_keeps_a_foreign_world_out(own: World, foreign: World) -> None:
    before = stored(foreign)
    faults = {role: faults_of_role(role, visitor(role, own), foreign) for role in ROLES}
    told = [f"{role}: {fault}" for role, found in faults.items() for fault in found]
    assert not told, "\n".join(told)
    changed = [label for label, text in stored(foreign).items() if text != before[label]]
    assert changed == []


def faults_of_role(role: str, client: Client, foreign: World) -> list[str]:
    marks = marks_of(foreign, role)
    faults: list[str] = []
    asked = 0
    for model in scoped_models():
        if role in REFUSED:
            faults += opened(
                client,
                next(addresses_of_row(model, rows_of_world(model, foreign).order_by("pk")[0])),
                marks,
            )
            asked += 1
            continue
        is_open = role == "operator" and model._meta.label_lower in OPEN_TO_OPERATORS
        row = rows_of_world(model, foreign).order_by("pk").first()
        assert row, f"no row of {model._meta.label} to protect"
        for address in lists_and_filters(model, foreign):
            faults += named(client, address, marks)
            asked += 1
        for address in () if is_open else addresses_of_row(model, row):
            faults += opened(client, address, marks)
            asked += 1
        for action in () if is_open else actions_of(model):
            faults += called(client, model, action, foreign, marks)
    assert asked >= len(scoped_models())
    return faults


def marks_in(answer: Any, marks: set[str], address: str) -> set[str]:
    """The marks that the answer tells, beside those that the address has itself."""
    text = f"{answer.content.decode()} {answer.headers.get('Location', '')}"
    return {mark for mark in marks if mark in text and mark not in unquote_plus(address)}


def named(client: Client, address: str, marks: set[str]) -> list[str]:
    answer = client.get(address)
    told = marks_in(answer, marks, address)
    is_failed = answer.status_code >= 500
    return [f"{address} answers {answer.status_code} with {told}"] if told or is_failed else []


def opened(client: Client, address: str, marks: set[str]) -> list[str]:
    """The faults of the page of a foreign row: no method may open it."""
    faults = []
    for send in (client.get, client.post):
        answer = send(address, {"post": "yes"})
        told = marks_in(answer, marks, address)
        if told or answer.status_code in (200, 500):
            faults.append(f"{address} answers {answer.status_code} to {send.__name__}: {told}")
    return faults


def called(
    client: Client, model: type[Model], action: str, foreign: World, marks: set[str]
) -> list[str]:
    """The faults of an action of the list over all rows of the foreign world."""
    name = f"{model._meta.app_label}_{model._meta.model_name}"
    chosen = [str(pk) for pk in rows_of_world(model, foreign).values_list("pk", flat=True)]
    form = {"action": action, "_selected_action": chosen, "select_across": "0", "post": "yes"}
    answer = client.post(reverse(f"admin:{name}_changelist"), form)
    told = marks_in(answer, marks, "")
    return [f"{action} of {model._meta.label} tells {told}"] if told else []


def actions_of(model: type[Model]) -> list[str]:
    model_admin = site._registry[model]
    names = [name for _function, name, _text in model_admin._get_base_actions()]
    return [*names, "delete_selected", "export_admin_action"]
