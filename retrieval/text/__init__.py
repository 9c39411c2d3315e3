"""One implementation of each operation on text: words, scripts, names, tokens, Markdown. Other apps import from this package."""

from retrieval.text.clean import clean_text, slugify, string_list
from retrieval.text.front_matter import split_front_matter
from retrieval.text.names.index import KnownName, Mention, NameIndex, NameMatch
from retrieval.text.names.inflections import text_forms
from retrieval.text.names.keys import name_keys, query_keys
from retrieval.text.names.normalize import fold_name, name_words
from retrieval.text.scripts import guess_language, has_hangul, is_cyrillic
from retrieval.text.secret_blocks import parse_secret, split_secrets, without_secrets
from retrieval.text.tokens import count_tokens

__all__ = [
    "clean_text",
    "count_tokens",
    "fold_name",
    "guess_language",
    "has_hangul",
    "is_cyrillic",
    "KnownName",
    "Mention",
    "name_keys",
    "name_words",
    "NameIndex",
    "NameMatch",
    "parse_secret",
    "query_keys",
    "slugify",
    "split_front_matter",
    "split_secrets",
    "string_list",
    "text_forms",
    "without_secrets",
]
