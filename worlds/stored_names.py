"""Read from the database the few names that a text may hold, among any number of stored ones.

Names that stand in the text whole, in any inflection, are found by keys of the whole name and are
never cut off. Of names of which it holds a part, or that it may misspell, the likeliest are read.
"""

import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from math import ceil
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import BooleanField, Func, Model, Q, QuerySet
from django.db.models.expressions import RawSQL

from retrieval.search import CompiledRows
from retrieval.text import (
    KnownName,
    NameIndex,
    jamo,
    misspelt_keys,
    name_words,
    query_keys,
    text_phrase_keys,
    text_sound_keys,
)

MOST_WITH_PART, MOST_NEAR = 400, 200
"""Names read of which the text holds a part, and names that it may misspell: those that share most
of its words before others."""
MOST_MISSPELT = 8
SHORTEST_MISSPELT = 3
"""Letters; a Korean syllable has two or three."""
MOST_WORDS, MOST_WORDS_OF_A_NAME = 40, 6
WHOLE = """
SELECT id, {name}, aliases FROM ({{rows}}) AS row WHERE {keys} && %(whole)s::varchar(16)[]
"""
OTHERS = """
(SELECT id, {name}, aliases FROM ({{rows}}) AS row
 WHERE {keys} && %(parts)s::varchar(16)[]
 ORDER BY id LIMIT %(most_with_part)s)
UNION ALL
(SELECT id, {name}, aliases FROM ({{rows}}) AS row
 WHERE {keys} && %(near)s::varchar(16)[]
 ORDER BY (
   SELECT count(*) FROM unnest(%(words)s::text[]) AS word
   WHERE {keys} && string_to_array(word, ' ')::varchar(16)[]
 ) DESC, length({name}), id LIMIT %(most_near)s)
"""

SOUNDING = """
SELECT id, {name}, aliases FROM ({{rows}}) AS row
WHERE {keys} && %(sounds)s::varchar(16)[] ORDER BY id LIMIT %(most_sounding)s
"""
MOST_SOUNDING = 100
"""Names in other scripts read whose consonants sound like those of a name in a text."""

OF_KEYS = "SELECT id FROM {table} WHERE world_id = %s AND {column} && %s::varchar(16)[]"
OF_SLUGS = "SELECT id FROM {table} WHERE world_id = %s AND slug = ANY(%s)"
KEYS_OF_ONE_LOOKUP, MOST_LOOKUPS = 16, 8


def is_named(
    rows: "QuerySet[Any, Any]",
    world: UUID,
    *,
    keys: Collection[str],
    slugs: Collection[str] = (),
    column: str = "name_keys",
) -> Q:
    """Return the condition that a row of `world` has one of `keys`, or one of `slugs`.

    The keys are looked up a few at a time. Of `&&` with many keys PostgreSQL expects so many rows
    that it reads the table instead of the index, and compares every key with every key of every
    row: 70 ms for 70 keys and 2,800 rows, of which two have one.
    """
    all_keys, size = list(keys), max(KEYS_OF_ONE_LOOKUP, ceil(len(keys) / MOST_LOOKUPS))
    lookups = [(OF_KEYS, all_keys[at : at + size]) for at in range(0, len(all_keys), size)]
    lookups += [(OF_SLUGS, list(slugs))] if slugs else []
    if not lookups:
        return Q(pk__in=())
    quote = connection.ops.quote_name
    names = {"table": quote(rows.model._meta.db_table), "column": quote(column)}
    statement = " UNION ALL ".join(each for each, _wanted in lookups).format(**names)
    values = [value for _each, wanted in lookups for value in (world, wanted)]
    # An array of a subquery is read once. A join with it would be repeated for each row wherever
    # PostgreSQL has not counted the rows yet, as in a large import.
    found = RawSQL(f"ARRAY({statement})", values)  # nosec B611 - only quoted names
    return Q(
        Func(
            "pk",
            found,
            template="%(expressions)s",
            arg_joiner=" = ANY",
            output_field=BooleanField(),
        )
    )


def index_of_names(
    rows: "QuerySet[Any, Any] | CompiledRows",
    text: str,
    *,
    name: str = "title",
    keys: str = "name_keys",
    common: Collection[str] = (),
) -> NameIndex:
    """Return an index of the names of `rows` that may occur in `text`: in the columns `name` and
    `aliases`, with the keys of both in `keys`. Words in `common` are not taken for misspelt."""
    rows = rows if isinstance(rows, CompiledRows) else CompiledRows(rows)
    columns = ("id", name, "aliases", keys)
    whole = list(text_phrase_keys(text).whole)
    index = NameIndex(
        KnownName(*row)
        for row in rows.fetch(WHOLE.format(name=name, keys=keys), columns, whole=whole)
    )
    rest = text_outside_names(text, index)
    parts = list(text_phrase_keys(rest).parts)
    if not parts:
        return index
    words = likeliest_misspelt(rest, common)
    statement = OTHERS.format(name=name, keys=keys)
    values = {"parts": parts, "most_with_part": MOST_WITH_PART, "most_near": MOST_NEAR}
    all_words = [word.norm for word in name_words(text)[:MOST_WORDS]]
    others = rows.fetch(statement, columns, **values, **near_keys(words, all_words, misspelt_keys))
    if not others and not index.entries and len(all_words) <= MOST_WORDS_OF_A_NAME:
        # Two typos in one word, or the beginning of a name: by the beginnings of the words.
        others = rows.fetch(statement, columns, **values, **near_keys(words, all_words, query_keys))
    entries = {entry.key: entry for entry in index.entries}
    entries |= {row[0]: KnownName(*row) for row in others}
    return NameIndex(entries.values())


def names_by_sound(
    rows: CompiledRows, spans: Iterable[str], *, name: str = "title", keys: str = "name_keys"
) -> list[KnownName]:
    """Return the names of `rows` in other scripts that may sound like one of `spans`."""
    sounds = sorted(frozenset[str]().union(*map(text_sound_keys, spans)))
    if not sounds:
        return []
    statement, columns = SOUNDING.format(name=name, keys=keys), ("id", name, "aliases", keys)
    found = rows.fetch(statement, columns, sounds=sounds, most_sounding=MOST_SOUNDING)
    return [KnownName(*row) for row in found]


def near_keys(
    words: Sequence[str], all_words: Sequence[str], keys_of: Callable[[str], Iterable[str]]
) -> dict[str, Any]:
    """Return the keys of `words` together, and those of each of `all_words` as one text."""
    near = sorted({key for word in words for key in keys_of(word)})
    return {"near": near, "words": [" ".join(keys_of(word)) for word in all_words]}


def text_outside_names(text: str, index: NameIndex) -> str:
    """Return `text` without the whole names that stand in it."""
    text, rest = unicodedata.normalize("NFC", text), []
    start = 0
    for mention in index.mentions(text, typos=False):
        if any(match.how != "part" for match in mention.matches):
            rest.append(text[start : mention.start])
            start = mention.end
    return " ".join([*rest, text[start:]])


def likeliest_misspelt(text: str, common: Collection[str]) -> list[str]:
    """Return the words of `text` that may be of other names: those with a capital first."""
    words = [
        word
        for word in name_words(text)
        if len(jamo(word.norm)) >= SHORTEST_MISSPELT and word.norm not in common
    ]
    words.sort(key=lambda word: (word.capital, len(word.norm)), reverse=True)
    return [word.norm for word in words[:MOST_MISSPELT]]


def replace_name_keys(
    model: type[Model], keys: Iterable[tuple[UUID, Collection[str]]], *, column: str = "name_keys"
) -> None:
    """Store the keys of rows by id, after the rules of making them have changed. Writes the column
    alone: neither versions nor times of the rows."""
    quote = connection.ops.quote_name
    statement = (
        f"UPDATE {quote(model._meta.db_table)} SET {quote(column)} = %s::varchar(16)[]"
        f" WHERE id = %s AND {quote(column)} IS DISTINCT FROM %s::varchar(16)[]"
    )
    with connection.cursor() as cursor:
        cursor.executemany(statement, [(sorted(each), pk, sorted(each)) for pk, each in keys])
