"""Links and pictures in the Markdown of other tools, brought to ours: `[[Name|words]]`, and
`![words](import:0)` for the first of the entry's pictures."""

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from urllib.parse import unquote

from knowledge.importers.drafts import PictureDraft
from knowledge.importers.files import NOTE_SUFFIXES, PICTURE_SUFFIXES, Bundle

CODE = re.compile(r"(^```.*?^```[^\n]*$|^~~~.*?^~~~[^\n]*$)", re.DOTALL | re.MULTILINE)
EMBED = re.compile(
    r"!\[\[([^\[\]|#\n\\]{1,300})(?:#[^\[\]|\n\\]{0,200})?(?:\\?\|([^\[\]\n]{0,200}))?\]\]"
)
"""In a table the bar is written `\\|`."""
IMAGE = re.compile(
    r"!\[([^\[\]\n]{0,400})\]\((?:<([^<>\n]{1,500})>|([^()\s]{1,500}))[^()\n]{0,200}\)"
)
LINK = re.compile(
    r"(?<!!)\[(?P<words>[^\[\]\n]{1,400})\]"
    r"\((?:<(?P<path>[^<>\n]{1,500})>|(?P<plain>(?:[^()\s]|\([^()\s]{0,200}\)){1,500}))"
    r"(?: +(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'))?\)"
)
BLOCK_ID = re.compile(r"(?<=\[\[)(?=[^\[\]|#\n]{1,300}#\^)([^#]+)#\^[^\[\]|\n]{0,200}")
CODE_OR_COMMENT = re.compile(
    rf"{CODE.pattern}|`[^`\n]{{1,500}}`"
    r"|%%(?P<comment>.*?)%%|<!--(?P<html>.*?)(?:-->|\Z)|^%%(?P<unclosed>.*)\Z",
    CODE.flags,
)
"""A comment that is never closed goes on to the end, as in Obsidian."""
BLOCK_ID_MARK = re.compile(
    r"(?<=\S)[ \t]\^(?=[\d-]*[A-Za-z])[A-Za-z0-9-]{1,80}[ \t]*$", re.MULTILINE
)
SIZE = re.compile(r"\|?\d{1,5}(x\d{1,5})?\Z")
"""`![[map.png|300]]` gives a width instead of words."""
# Up to the next opening only: to look for the end from each one would take quadratic time.
COMMENT_IN_ROW = re.compile(r"`[^`\n]{1,500}`|%%.+?%%|<!--(?:(?!<!--).)*?-->")
PLACEHOLDER = "import:"
UNLINKABLE = re.compile(r"[\[\]|#\n\\]")
"""Characters that `[[Name]]` cannot hold."""


class PictureCollector:
    """Finds the pictures that a text shows in the upload, and numbers them."""

    def __init__(self, bundle: Bundle, folder: str = "") -> None:
        self.bundle, self.folder = bundle, folder
        self.pictures: list[PictureDraft] = []

    def add(
        self, reference: str, alt: str = "", *, is_portrait: bool = False, is_hidden: bool = False
    ) -> str | None:
        """Return the placeholder of the picture that `reference` names, or None if the upload does
        not hold it."""
        found = self.bundle.find_named(self.bundle.pictures, reference, folder=self.folder)
        if found is None:
            return None
        picture = PictureDraft(found.name, words_of_picture(alt), is_portrait, is_hidden)
        same = [at for at, each in enumerate(self.pictures) if each.file == picture.file]
        if not same:
            self.pictures.append(picture)
        return f"{PLACEHOLDER}{same[0] if same else len(self.pictures) - 1}"


def words_of_picture(alt: str) -> str:
    """The words for those who do not see the picture, without the width that may end them."""
    return SIZE.sub("", alt).strip()[:400]


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` to the text outside of fenced code."""
    return "".join(part if at % 2 else change(part) for at, part in enumerate(CODE.split(text)))


def comments_to_secrets(text: str) -> str:
    """Comments (`%%…%%` and `<!--…-->`) are private, so they become secret blocks. A comment may
    hold code, and code may hold the marks of comments: whichever begins first holds the other."""

    def secret(found: re.Match[str]) -> str:
        comments = [found["comment"], found["html"], found["unclosed"]]
        comment = next((each for each in comments if each is not None), None)
        if comment is None:
            return found[0]
        return f"\n\n:::secret\n{comment.strip()}\n:::\n\n" if comment.strip() else ""

    return CODE_OR_COMMENT.sub(secret, outside_code(text, move_comments_below_tables))


def move_comments_below_tables(text: str) -> str:
    """Move the comments in the rows of a table below it: a secret block would end the table."""
    lines: list[str] = []
    hidden: list[str] = []

    def take(found: re.Match[str]) -> str:
        if found[0].startswith("`"):
            return found[0]
        hidden.append(found[0])
        return ""

    for line in text.split("\n"):
        is_row = line.lstrip(" \t").startswith("|")
        if hidden and not is_row:
            lines += ["", *hidden]
            hidden.clear()
        lines.append(COMMENT_IN_ROW.sub(take, line) if is_row else line)
    return "\n".join([*lines, "", *hidden] if hidden else lines)


def without_block_ids(text: str) -> str:
    """Take the ids of blocks (`^rumour`) off the ends of lines: only links of Obsidian use them."""
    return BLOCK_ID_MARK.sub("", text)


def adopt_pictures(text: str, pictures: PictureCollector) -> str:
    """Replace `![[file]]` and `![words](file)` of pictures in the upload by placeholders. An
    embedded note becomes a link; other pictures stay as they are."""

    def embed(found: re.Match[str]) -> str:
        reference, words = found[1].strip(), found[2] or ""
        if reference.lower().endswith(PICTURE_SUFFIXES):
            name = pictures.add(reference, words)
            return (
                f"![{words_of_picture(words)}]({name})"
                if name
                else f"*{PurePosixPath(reference).name}*"
            )
        return f"[[{found[0][3:-2]}]]"

    def image(found: re.Match[str]) -> str:
        name = pictures.add(found[2] or found[3], found[1])
        return f"![{words_of_picture(found[1])}]({name})" if name else found[0]

    return IMAGE.sub(image, EMBED.sub(embed, text))


class NoteFinder:
    """Finds the notes of the upload that the links of a text in `folder` lead to."""

    def __init__(self, bundle: Bundle, folder: str = "") -> None:
        self.bundle, self.folder = bundle, folder

    def name_of(self, path: str) -> str | None:
        """Return the name to link to by `[[Name]]`, with its folder if another note has that name,
        or None if the upload has no such note."""
        suffix = next((end for end in NOTE_SUFFIXES if path.lower().endswith(end)), "")
        path = path[: len(path) - len(suffix)]
        note = self.bundle.find_named(self.bundle.notes, path, folder=self.folder)
        if note is None:
            return None
        folder = self.bundle.folder_of(note)
        is_only_one = self.bundle.note_names[note.path.stem.lower()] == 1
        return note.path.stem if is_only_one or not folder else f"{folder}/{note.path.stem}"


def adopt_links(text: str, notes: NoteFinder | None = None) -> str:
    """Bring links between notes to the form `[[Name#Heading|words]]`: `[words](Other%20note.md)`
    becomes one, without `.md` as well if it is one of the `notes`; `#^id`, which names a block, is
    left out."""

    def link(found: re.Match[str]) -> str:
        path, _hash, heading = (found["path"] or found["plain"]).partition("#")
        path, heading, words = unquote(path), unquote(heading), found["words"]
        if not path or "://" in path:
            return found[0]
        name = notes.name_of(path) if notes else None
        if name is None and path.lower().endswith(NOTE_SUFFIXES):
            name = PurePosixPath(path).stem
        if name is None or UNLINKABLE.search(name + heading):
            return found[0]
        if heading and not heading.startswith("^"):
            return f"[[{name}#{heading}|{words}]]"
        return f"[[{name}]]" if name == words else f"[[{name}|{words}]]"

    return BLOCK_ID.sub(r"\1", LINK.sub(link, text))
