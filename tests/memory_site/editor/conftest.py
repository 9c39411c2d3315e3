"""People in front of the editor, and forms as a browser sends them."""

from typing import Any

import pytest
from django import forms
from django.contrib.auth import get_user_model
from django.test import Client

from tests.people import member
from worlds.list_fields import ListField
from worlds.models import Party, World


@pytest.fixture
def master(world: World) -> Client:
    return member(world, "anna", role="gm")


@pytest.fixture
def player(world: World, lanternbearers: Party) -> Client:
    return member(world, "pat", role="player", party=lanternbearers)


@pytest.fixture
def stranger(world: World) -> Client:
    client = Client()
    client.force_login(get_user_model().objects.create_user("sam"))
    return client


def form_data(response: Any) -> dict[str, Any]:
    """What a browser sends when the form on a page is submitted as it is: every value as text,
    line breaks as CR LF."""
    form, secrets = response.context["form"], response.context["secrets"]
    data: dict[str, Any] = {}
    for bound in [*form, *(field for each in secrets for field in each)]:
        data |= sent(bound)
    for field in secrets.management_form:
        data[field.html_name] = str(field.value())
    return data


def sent(bound: Any) -> dict[str, Any]:
    value = bound.value()
    if isinstance(value, bool):
        return {bound.html_name: "on"} if value else {}
    if value in (None, "", []):
        is_list = isinstance(
            bound.field, forms.MultipleChoiceField | ListField | forms.BooleanField
        )
        return {} if is_list else {bound.html_name: ""}
    if isinstance(value, list):
        return {bound.html_name: [text(each) for each in value]}
    return {bound.html_name: text(value)}


def text(value: Any) -> str:
    return str(value).replace("\n", "\r\n")
