"""One implementation of each operation on text: words, scripts, names, tokens, Markdown. Other apps
import from this package."""

from retrieval.text.clean import (
    clean_text,
    encodable,
    require_storable_text,
    slugify,
    storage_flaw,
    string_list,
)
from retrieval.text.front_matter import split_front_matter
from retrieval.text.links import link_targets, replace_links
from retrieval.text.names.index import KnownName, NameIndex, NameMatch, NameMention
from retrieval.text.names.inflections import text_forms
from retrieval.text.names.normalize import fold_name, name_keys, name_words, query_keys
from retrieval.text.secret_blocks import (
    parse_secret,
    split_secrets,
    without_fences,
    without_secrets,
)
from retrieval.text.sentences import split_sentences
from retrieval.text.tokens import count_tokens
from retrieval.text.words import (
    WORD,
    WORD_OR_NUMBER,
    cut_ending,
    guess_language,
    has_hangul,
    is_cyrillic,
    light_stem,
    snowball_stem,
)

__all__ = [
    "WORD",
    "WORD_OR_NUMBER",
    "KnownName",
    "NameIndex",
    "NameMatch",
    "NameMention",
    "clean_text",
    "count_tokens",
    "cut_ending",
    "encodable",
    "fold_name",
    "guess_language",
    "has_hangul",
    "is_cyrillic",
    "light_stem",
    "link_targets",
    "name_keys",
    "name_words",
    "parse_secret",
    "query_keys",
    "replace_links",
    "require_storable_text",
    "slugify",
    "snowball_stem",
    "split_front_matter",
    "split_secrets",
    "split_sentences",
    "storage_flaw",
    "string_list",
    "text_forms",
    "without_fences",
    "without_secrets",
]
