"""Links as data: who links to what, what is broken, what nobody links to, and how to mend it."""

from knowledge.links.answers import unlink_unknown
from knowledge.links.name_clashes import NameClash, claims_of_entry, other_claims
from knowledge.links.orphans import orphans
from knowledge.links.queries import (
    Backlink,
    BrokenName,
    backlinks,
    broken_links,
    links_of,
    rows_of_thing,
)
from knowledge.links.rename import RenameReport, link_to, rename_everywhere, rename_thing
from knowledge.links.shown import link_resolver
from knowledge.links.unlinked import UnlinkedMention, link_mentions, unlinked_mentions

__all__ = [
    "Backlink",
    "BrokenName",
    "NameClash",
    "RenameReport",
    "UnlinkedMention",
    "backlinks",
    "broken_links",
    "claims_of_entry",
    "link_mentions",
    "link_resolver",
    "link_to",
    "links_of",
    "orphans",
    "other_claims",
    "rename_everywhere",
    "rename_thing",
    "rows_of_thing",
    "unlink_unknown",
    "unlinked_mentions",
]
