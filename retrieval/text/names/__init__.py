"""Names in any spelling: case, accents, Russian cases, Korean particles, a typo.

Pure: these modules see names and text only, never the database. `NameIndex(entries).resolve("Миру
Восс")` returns one key or raises `NotFound` or `Ambiguous` with candidates; `.mentions(sentence)`
finds the names inside a sentence; `name_keys` and `query_keys` let a database narrow a large world
down before an index is built.
"""
