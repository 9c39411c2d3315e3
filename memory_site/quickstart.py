"""The first login and API key of an installation, in `var/quickstart.json` (owner only)."""

import contextlib
import json
import os
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model

from memories.folders import WORLD as AGENTS_WORLD
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


def quickstart_path() -> Path:
    return settings.VAR_DIR / "quickstart.json"


def write_quickstart(site: str) -> Quickstart:
    """Create the admin login and the key, unless the file holds valid ones; write the file with
    the current address of the site.
    """
    quickstart = read_valid_quickstart()
    if quickstart is None:
        quickstart = Quickstart(site, ADMIN, create_admin(), create_quickstart_key())
    quickstart = replace(quickstart, site=site)
    # A new file with mode 600 that replaces the old one: at no time can others read it.
    building = quickstart_path().with_suffix(".new")
    building.unlink(missing_ok=True)
    with os.fdopen(os.open(building, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(quickstart), file, indent=2)
    building.replace(quickstart_path())
    return quickstart


def read_valid_quickstart() -> Quickstart | None:
    """Return what the file holds, if its user exists and its key is still accepted."""
    with contextlib.suppress(FileNotFoundError, ValueError, TypeError, Unauthorized):
        quickstart = Quickstart(**json.loads(quickstart_path().read_text()))
        verify(quickstart.api_key)
        if get_user_model().objects.filter(username=quickstart.admin_user).exists():
            return quickstart
    return None


def create_admin() -> str:
    """Create the admin user, or give it a new password; return the password."""
    password = secrets.token_urlsafe(12)
    user, _is_new = get_user_model().objects.get_or_create(username=ADMIN)
    user.is_staff = user.is_superuser = True
    user.set_password(password)
    user.save()
    return password


def create_quickstart_key() -> str:
    """Create a game master's key for the oldest world; return its text."""
    # A script that ran first made the world of the memories in folders: it is nobody's game.
    games = World.objects.exclude(slug=AGENTS_WORLD).order_by("created_at", "pk")
    world = games.first() or World.objects.create(slug="home", name="Home")
    scopes = (Scope.TOOLS_READ, Scope.WORLD_WRITE, Scope.AGENT_WRITE)
    _key, text = create_key(
        world, name="quickstart", scopes=scopes, audience=GM, namespace="quickstart"
    )
    return text
