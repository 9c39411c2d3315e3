"""The order of names for readers. The database compares bytes: all small letters come after the
capitals, and the Russian `ё` after `я`."""

from django.db.models import F, Value
from django.db.models.functions import Lower, Replace


def by_name(field: str) -> Replace:
    """Return the expression that orders rows by the name in `field` as a reader expects it."""
    return Replace(Lower(F(field)), Value("ё"), Value("е"))
