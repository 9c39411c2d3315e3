"""Names as people write them: without case and accents, in any Russian case, with Korean particles, with a typo.

Pure: it sees names and text only, never the database. `NameIndex(entries).resolve("Миру Восс")` gives one key or raises
`NotFound` / `Ambiguous` with candidates; `.mentions(sentence)` finds the names inside a sentence; `name_keys` and
`query_keys` let a database narrow a large world down before an index is built.
"""

from retrieval.text.names.index import Entry, Match, Mention, NameIndex
from retrieval.text.names.keys import name_keys, query_keys
from retrieval.text.names.normalize import Word, fold, words

__all__ = [
    "Entry",
    "Match",
    "Mention",
    "NameIndex",
    "Word",
    "fold",
    "name_keys",
    "query_keys",
    "words",
]
