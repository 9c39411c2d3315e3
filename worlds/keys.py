"""Keys of programs: `m37_<prefix>_<secret>`, of which only a hash is stored.

The process caches a verified key for a minute. Revocation takes effect at once all the same: every
call counts itself in the database (`worlds.callers.admit`), and that statement tells whether the
key has changed.
"""

import hmac
import secrets
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from cachetools import TTLCache
from django.db.models import F, Func, TextField
from django.utils import timezone
from django.utils.translation import gettext as _

from retrieval.errors import Invalid, Unauthorized
from worlds.audiences import PUBLIC, Audience
from worlds.models import ApiKey, Campaign, World


class Scope(StrEnum):
    TOOLS_READ = "tools:read"
    WORLD_WRITE = "world:write"
    AGENT_WRITE = "agent:write"
    AGENT_REVIEW = "agent:review"
    ADMIN = "admin"


NO_KEY = "Send an API key as `Authorization: Bearer m37_…` or `X-API-Key: m37_…`."
BAD_KEY = (
    "This API key is not valid (unknown, expired or revoked): ask the world's owner for a new one."
)

_verified_keys: TTLCache[str, ApiKey] = TTLCache(maxsize=4096, ttl=60)


def create_key(
    world: World | None,
    *,
    name: str,
    scopes: Iterable[str] = (Scope.TOOLS_READ,),
    audience: Audience | str = PUBLIC,
    campaign: Campaign | None = None,
    namespace: str = "",
    origins: Iterable[str] = (),
    calls_per_minute: int = 600,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """Store a new key and return it with its text, which is not stored and cannot be shown
    again. Without a world it is a key for the installation. Raises `Invalid`."""
    key = ApiKey(
        name=name,
        world=world,
        campaign=campaign,
        scopes=sorted(check_scopes(scopes)),
        audience=str(Audience.parse(str(audience))),
        namespace=namespace,
        origins=sorted(set(origins)),
        calls_per_minute=calls_per_minute,
        expires_at=expires_at,
    )
    require_sound_key(key)
    text = mint(key)
    key.save()
    return key, text


BROWSER_SCOPES = frozenset({Scope.TOOLS_READ})


def require_sound_key(key: ApiKey) -> None:
    """Raise `Invalid` for a key of the installation that is no administrator's, and for a key of
    web pages that sees secrets or writes: everybody who opens the page can read the key."""
    is_admins = key.audience == "gm" and Scope.ADMIN in key.scopes
    if key.world is None and not is_admins:
        raise Invalid(_("A key for the installation needs the scope admin and the audience gm."))
    is_players = key.audience != "gm" and set(key.scopes) <= BROWSER_SCOPES
    if key.origins and not is_players:
        raise Invalid(
            _(
                "A key with web origins can be read by everybody who opens the page: give it "
                "the scope tools:read alone, and the audience public or a party."
            )
        )


def mint(key: ApiKey) -> str:
    """Give `key` (not yet saved) a fresh prefix and secret; return the text to show once."""
    key.prefix, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    key.secret_hash = digest(secret)
    return f"m37_{key.prefix}_{secret}"


def key_in_headers(headers: Mapping[str, str]) -> str:
    """Return the key's text from whichever of `headers` (a case-insensitive mapping) carries it;
    raises `Unauthorized`."""
    scheme, _space, token = headers.get("Authorization", "").partition(" ")
    text = (token if scheme.lower() == "bearer" else headers.get("X-API-Key", "")).strip()
    if not text:
        raise Unauthorized(NO_KEY)
    return text


def verify(text: str) -> ApiKey:
    """Return the key whose text this is, with its world and campaign; raises `Unauthorized`."""
    prefix, secret = split_key(text)
    cached_key = _verified_keys.get(prefix)
    key = cached_key or load_key(prefix)
    if key is None or not hmac.compare_digest(key.secret_hash, digest(secret)) or not is_valid(key):
        raise Unauthorized(BAD_KEY)
    if cached_key is None:
        _verified_keys[prefix] = key
    return key


def reload_key(key: ApiKey) -> ApiKey:
    """Read `key` again after it was changed; raises `Unauthorized` when it is no longer valid."""
    _verified_keys.pop(key.prefix, None)
    fresh = load_key(key.prefix)
    if fresh is None or fresh.secret_hash != key.secret_hash or not is_valid(fresh):
        raise Unauthorized(BAD_KEY)
    _verified_keys[key.prefix] = fresh
    return fresh


def is_valid(key: ApiKey) -> bool:
    """Whether the key is neither revoked nor expired."""
    return key.revoked_at is None and (key.expires_at is None or key.expires_at > timezone.now())


def revoke(key: ApiKey) -> None:
    """End the key for good, in every process at its next call."""
    ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=timezone.now())
    _verified_keys.pop(key.prefix, None)


def load_key(prefix: str) -> ApiKey | None:
    # The row version: it differs after every write of the row.
    stamp = Func(
        F("pk"),
        template="(worlds_apikey.xmin::text || worlds_apikey.ctid::text)",
        output_field=TextField(),
    )
    keys = ApiKey.objects.select_related("world", "world__system", "campaign")
    return keys.annotate(stamp=stamp).filter(prefix=prefix).first()


def split_key(text: str) -> tuple[str, str]:
    mark, _line, rest = text.strip().partition("_")
    prefix, _line, secret = rest.partition("_")
    if mark != "m37" or not prefix or not secret or not rest.isascii() or len(text) > 200:
        raise Unauthorized(BAD_KEY)
    return prefix, secret


def digest(secret: str) -> str:
    # A plain SHA-256 is enough: the secret is 256 random bits, so there is nothing to guess.
    return sha256(secret.encode()).hexdigest()


def check_scopes(scopes: Iterable[str]) -> set[str]:
    names = set(scopes)
    if unknown := names - set(Scope):
        raise Invalid(
            _("Unknown scopes %(unknown)s: use %(scopes)s.")
            % {"unknown": ", ".join(sorted(unknown)), "scopes": ", ".join(Scope)}
        )
    return {str(scope) for scope in names}
