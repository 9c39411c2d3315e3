"""The first login and the first API key of an installation, kept in `var/quickstart.json` for its owner alone."""

import contextlib
import json
import os
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model

from retrieval.errors import Unauthorized
from worlds.audiences import GM
from worlds.keys import Scope, create_key, verify
from worlds.models import World

ADMIN = "admin"


@dataclass(frozen=True)
class Quickstart:
    site: str
    admin_user: str
    admin_password: str
    api_key: str


def path() -> Path:
    return settings.VAR_DIR / "quickstart.json"


def prepare(site: str) -> Quickstart:
    """Make (or keep) the admin login and the key, and write them down with the site's present address."""
    before = _read()
    if before and not _still_valid(before):
        before = None
    quickstart = (
        replace(before, site=site) if before else Quickstart(site, ADMIN, _new_admin(), _new_key())
    )
    _write(quickstart)
    return quickstart


def _read() -> Quickstart | None:
    try:
        return Quickstart(**json.loads(path().read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _still_valid(quickstart: Quickstart) -> bool:
    with contextlib.suppress(Unauthorized):
        verify(quickstart.api_key)
        return get_user_model().objects.filter(username=quickstart.admin_user).exists()
    return False


def _new_admin() -> str:
    password = secrets.token_urlsafe(12)
    user, _created = get_user_model().objects.get_or_create(username=ADMIN)
    user.is_staff = user.is_superuser = True
    user.set_password(password)
    user.save()
    return password


def _new_key() -> str:
    world = World.objects.order_by("created_at").first() or World.objects.create(
        slug="home", name="Home"
    )
    scopes = (Scope.TOOLS_READ, Scope.WORLD_WRITE, Scope.AGENT_WRITE)
    _key, text = create_key(
        world, name="quickstart", scopes=scopes, audience=GM, namespace="quickstart"
    )
    return text


def _write(quickstart: Quickstart) -> None:
    """Replace the file in one step, readable by its owner only from the first byte."""
    building = path().with_suffix(".new")
    building.unlink(missing_ok=True)
    with os.fdopen(os.open(building, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(quickstart), file, indent=2)
    building.replace(path())
