"""How an import is to be carried out, as its page asks; stored with the run."""

from typing import Literal

from pydantic import BaseModel, Field

from knowledge.importers.field_map import ImportMapping


class ImportOptions(BaseModel):
    """`visibility` of new entries: `gm`, `public`, `party:<slug>` or `character:<slug>`; what the
    source calls private stays the GM's. `existing`: entries that the world has already are updated
    (but what was changed here since their last import stays), skipped, or overwritten.
    `bad_files`: leave them out, or import nothing if there is one. `target`: entries of the lore,
    or rules of the game system `system` in this `edition`, as the book of the title `book`;
    `plays`: the world plays by them from now on. `language` is that of the messages."""

    format: str = ""
    kinds: dict[str, str] = {}
    callouts: dict[str, str] = {}
    fields: dict[str, str] = {}
    status: Literal["draft", "published"] = "draft"
    visibility: str = Field("gm", max_length=130)
    existing: Literal["update", "overwrite", "skip"] = "update"
    bad_files: Literal["skip", "refuse"] = "skip"
    people: bool = True
    pictures: bool = True
    target: Literal["", "lore", "rules"] = ""
    system: str = Field("", max_length=200)
    edition: str = Field("", max_length=80)
    book: str = Field("", max_length=200)
    plays: bool = True
    language: str = "en"

    @property
    def mapping(self) -> ImportMapping:
        return ImportMapping(self.kinds, self.callouts, self.fields)
