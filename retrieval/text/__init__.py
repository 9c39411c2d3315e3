"""Words, scripts, names, tokens and Markdown of texts. Other apps import from this package."""

from retrieval.text.clean import (
    clean_text,
    encodable,
    require_storable_text,
    slug_of_title,
    slugify,
    storage_flaw,
    string_list,
)
from retrieval.text.front_matter import load_yaml, split_front_matter
from retrieval.text.links import (
    TextLink,
    code_spans,
    find_links,
    link_targets,
    picture_targets,
    replace_links,
    rewrite_links,
)
from retrieval.text.names.index import (
    KnownName,
    NameIndex,
    NameMatch,
    NameMention,
    is_misspelt,
)
from retrieval.text.names.inflections import text_forms
from retrieval.text.names.normalize import (
    Word,
    fold_name,
    jamo,
    name_words,
    query_keys,
)
from retrieval.text.names.other_scripts import other_spellings
from retrieval.text.names.parts import quoted_names
from retrieval.text.names.phrase_keys import (
    PhraseKeys,
    misspelt_keys,
    name_keys,
    phrase_keys,
    spelled_keys,
    text_phrase_keys,
)
from retrieval.text.names.transliteration import sound_keys
from retrieval.text.secret_blocks import (
    DEEPEST_SECRET,
    JOINED_AUDIENCES,
    Fence,
    cut_out_secrets,
    language_of_open_text,
    names_in_both,
    parse_secret,
    read_fences,
    shown_names,
    split_secrets,
    without_fences,
    without_secrets,
)
from retrieval.text.sentences import split_sentences
from retrieval.text.sequences import CommonPart, common_parts
from retrieval.text.tokens import count_tokens
from retrieval.text.word_index import WordIndex, WordMatch
from retrieval.text.words import (
    WORD,
    WORD_OR_NUMBER,
    cut_ending,
    guess_language,
    has_hangul,
    is_cyrillic,
    light_stem,
    snowball_stem,
    word_stem,
)

__all__ = [
    "DEEPEST_SECRET",
    "JOINED_AUDIENCES",
    "WORD",
    "WORD_OR_NUMBER",
    "CommonPart",
    "Fence",
    "KnownName",
    "NameIndex",
    "NameMatch",
    "NameMention",
    "PhraseKeys",
    "TextLink",
    "Word",
    "WordIndex",
    "WordMatch",
    "clean_text",
    "code_spans",
    "common_parts",
    "count_tokens",
    "cut_ending",
    "cut_out_secrets",
    "encodable",
    "find_links",
    "fold_name",
    "guess_language",
    "has_hangul",
    "is_cyrillic",
    "is_misspelt",
    "jamo",
    "language_of_open_text",
    "light_stem",
    "link_targets",
    "load_yaml",
    "misspelt_keys",
    "name_keys",
    "name_words",
    "names_in_both",
    "other_spellings",
    "parse_secret",
    "phrase_keys",
    "picture_targets",
    "query_keys",
    "quoted_names",
    "read_fences",
    "replace_links",
    "require_storable_text",
    "rewrite_links",
    "shown_names",
    "slug_of_title",
    "slugify",
    "snowball_stem",
    "sound_keys",
    "spelled_keys",
    "split_front_matter",
    "split_secrets",
    "split_sentences",
    "storage_flaw",
    "string_list",
    "text_forms",
    "text_phrase_keys",
    "without_fences",
    "without_secrets",
    "word_stem",
]
