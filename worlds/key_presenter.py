"""API keys as the API shows them."""

from worlds.key_schemas import KeyOut
from worlds.models import ApiKey


def present_key(key: ApiKey, text: str | None = None) -> KeyOut:
    """`text` is the key itself, for the one answer that shows it."""
    return KeyOut(
        id=key.pk,
        name=key.name,
        prefix=key.prefix,
        scopes=key.scopes,
        audience=key.audience,
        campaign_id=key.campaign.slug if key.campaign else None,
        namespace=key.namespace,
        origins=key.origins,
        calls_per_minute=key.calls_per_minute,
        created_at=key.created_at,
        expires_at=key.expires_at,
        last_used_at=key.last_used_at,
        revoked_at=key.revoked_at,
        text=text,
    )
