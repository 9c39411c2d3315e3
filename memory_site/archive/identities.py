"""New ids for a copy of a world that is here already."""

import hashlib
import re
from uuid import UUID

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
LOW_BITS = 62
"""The bits of a UUIDv7 after time, version and variant."""


class NewIds:
    """Gives each id of the archive a new one, the same wherever it stands: in a column, in JSON, in
    `picture:<id>` within a text, in the name of a file. Other ids stay."""

    def __init__(self, old: set[str], *, seed: str) -> None:
        self._new = {text: new_id(text, seed) for text in old}

    def replace(self, text: str) -> str:
        return ID.sub(lambda found: self._new.get(found[0], found[0]), text)


def new_id(old: str, seed: str) -> str:
    """Keep the time of a UUIDv7, by which rows are sorted; derive the rest from `seed`."""
    digest = hashlib.sha256(f"{seed}/{old}".encode()).digest()
    low = int.from_bytes(digest, "big") % 2**LOW_BITS
    return str(UUID(int=(UUID(old).int >> LOW_BITS << LOW_BITS) | low))
