"""Short pieces of text for cards and lists."""

from retrieval.text import clean_text, split_sentences
from worlds.markdown import plain_text

AROUND = 90
LONGEST_SENTENCE = 240


def excerpt(text: str, raw: str) -> str:
    """Return the words around the first `raw` in `text`, within its line."""
    at = text.find(raw)
    if at < 0:
        return ""
    begin = max(text.rfind("\n", 0, at) + 1, at - AROUND)
    end = text.find("\n", at)
    end = min(len(text) if end < 0 else end, at + len(raw) + AROUND)
    # Whole words and whole links only: half a link would be shown with its brackets.
    before, after = text[begin:at], text[at + len(raw) : end]
    if begin and text[begin - 1] != "\n":
        before = "…" + before.partition(" ")[2]
    if end < len(text) and text[end] != "\n":
        after = after.rpartition(" ")[0] + "…"
    words = plain_text(before + raw + after).replace("[[", "").replace("]]", "")
    return " ".join(words.lstrip("-*|# ").split())


def first_sentence(markdown: str | None) -> str:
    """Return the first sentence of prose: no heading, list, table or quotation."""
    for paragraph in clean_text(markdown or "").split("\n\n"):
        line = plain_text(paragraph).strip()
        if line and not paragraph.lstrip().startswith(("#", "|", ">", "-", "*", "!", ":::", "```")):
            sentence = " ".join(split_sentences(line)[0].split())
            if len(sentence) > LONGEST_SENTENCE:
                return sentence[:LONGEST_SENTENCE].rpartition(" ")[0] + "…"
            return sentence
    return ""
