"""The files of an upload: a folder, zip archives or single files, within bounds of size. What is
unsafe or too large is left out and reported; nothing is ever unpacked to disk."""

import io
import json
import posixpath
import stat
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from django.utils.translation import gettext as _

from knowledge.importers.drafts import BookHeader, ImportProblem
from knowledge.importers.encodings import decode
from retrieval.errors import Invalid, Problem
from retrieval.text import load_yaml

LARGEST_FILE, LARGEST_TOTAL, MOST_FILES = 50_000_000, 1_000_000_000, 30_000
LONGEST_YAML_FILE = 1_000_000
"""Characters, which take some ten seconds."""
LARGEST_RATIO, RATIO_FROM = 200, 1_000_000
"""A member that unpacks to more than so many times its size, and more than so many bytes, is a
decompression bomb: text packs 5 to 20 times, deflate reaches 1,032."""
IGNORED_PREFIXES = (".", "__MACOSX", "_templates", "Thumbs.db")
VAULT_SETTINGS = ".obsidian"
"""The folder in which Obsidian keeps its settings: it lies at the top of a vault."""
NOTE_SUFFIXES = (".md", ".markdown")
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif")
SYMLINK = 0xA000
NAMES_ARE_UTF8, IS_ENCRYPTED = 0x800, 0x1


def compose(name: str) -> str:
    """Return a path with letters and their marks as one: Apple's tools write them apart."""
    return unicodedata.normalize("NFC", name)


@dataclass(eq=False)
class SourceFile:
    """`name` is the path inside the upload, with forward slashes."""

    name: str
    size: int
    read: Callable[[], bytes]

    @property
    def path(self) -> PurePosixPath:
        return PurePosixPath(self.name)

    @property
    def suffix(self) -> str:
        return self.path.suffix.lower()

    @cached_property
    def _decode(self) -> tuple[str, str]:
        text, encoding = decode(self.read())
        if "\x00" in text:
            raise Invalid(_("This is not text: it holds NUL characters."))
        return text, encoding

    @property
    def text(self) -> str:
        """The decoded text. Raises `Invalid` for what is no text."""
        return self._decode[0]

    @property
    def encoding(self) -> str:
        return self._decode[1]

    @cached_property
    def _json(self) -> Any:
        try:
            return json.loads(self.text)
        except json.JSONDecodeError as problem:
            message = _("This is not valid JSON: %(reason)s.") % {"reason": problem.msg}
            raise Invalid(message, errors=[{"loc": ["line", problem.lineno]}]) from problem
        except (RecursionError, ValueError) as problem:
            raise Invalid(_("This JSON is nested too deeply.")) from problem

    @cached_property
    def yaml(self) -> Any:
        return load_yaml(self.text, longest=LONGEST_YAML_FILE)

    def json(self) -> Any:
        """Return the parsed content; raises `Invalid` with the line when it is not JSON."""
        return self._json


@dataclass
class Bundle:
    """The files of an upload, and the problems met while reading them."""

    files: list[SourceFile] = field(default_factory=list)
    problems: list[ImportProblem] = field(default_factory=list)
    vaults: set[str] = field(default_factory=set)
    total: int = 0
    whole: "Bundle | None" = None
    books: list[BookHeader] = field(default_factory=list)
    """What the files that are books of rules say of themselves."""

    def with_files(self, files: Sequence[SourceFile]) -> "Bundle":
        """Return these files of the bundle, for the reader of one format."""
        return Bundle(list(files), self.problems, self.vaults, whole=self, books=self.books)

    @cached_property
    def pictures(self) -> dict[str, SourceFile]:
        """The pictures of the whole upload by their path and by their name, in lower case. The
        first of several with one name counts, as in Obsidian."""
        found: dict[str, SourceFile] = {}
        pictures = (self.whole or self).of_type(*PICTURE_SUFFIXES)
        for file in pictures:
            found.setdefault(file.name.lower(), file)
        for file in pictures:
            found.setdefault(file.path.name.lower(), file)
        return found

    @cached_property
    def notes(self) -> dict[str, SourceFile]:
        """The notes of the whole upload by their path without `.md`, and by their name, in lower
        case. The first of several with one name counts, as in Obsidian."""
        notes = (self.whole or self).of_type(*NOTE_SUFFIXES)
        found = {str(file.path.with_suffix("")).lower(): file for file in reversed(notes)}
        for file in notes:
            found.setdefault(file.path.stem.lower(), file)
        return found

    @cached_property
    def note_names(self) -> Counter[str]:
        """How many notes have a name, in lower case."""
        return Counter(
            file.path.stem.lower() for file in (self.whole or self).of_type(*NOTE_SUFFIXES)
        )

    def find_named(
        self, files: Mapping[str, SourceFile], reference: str, *, folder: str
    ) -> SourceFile | None:
        """Return that of `files`, by lower-case paths and names, which a text in `folder` means by
        `reference`: a path from there or from the top of the upload, else a name."""
        path = compose(unquote(reference)).replace("\\", "/").strip().lower()
        if not path or "\0" in path:
            return None
        places = (posixpath.join(folder.lower(), path), f"{self.root.lower()}{path.lstrip('/')}")
        names = [*map(posixpath.normpath, places), PurePosixPath(path).name]
        return next(filter(None, map(files.get, names)), None)

    @cached_property
    def root(self) -> str:
        """The folder that everything in the upload lies in, with a slash, or nothing. Links of a
        vault count from its top, even if that holds a single folder."""
        if self.vaults:
            return min(self.vaults, key=len)
        files = (self.whole or self).files
        tops = {file.path.parts[0] if len(file.path.parts) > 1 else "" for file in files}
        top = tops.pop() if len(tops) == 1 else ""
        return f"{top}/" if top else ""

    def folder_of(self, file: SourceFile) -> str:
        """The folder of a file inside the upload, without a folder that holds everything."""
        parent = file.path.parent.as_posix()
        inside = f"{parent}/".removeprefix(self.root).strip("/")
        return "" if inside == "." else inside

    def of_type(self, *suffixes: str) -> list[SourceFile]:
        return [file for file in self.files if file.name.lower().endswith(suffixes)]

    def report(self, file: str, message: str, *, line: int | None = None) -> None:
        self.problems.append(ImportProblem(file, message, line))

    def note(self, file: str, message: str, *, line: int | None = None) -> None:
        self.problems.append(ImportProblem(file, message, line, is_error=False))

    def report_once(self, file: str, problem: Problem) -> None:
        """Report a problem that several readers may meet in one file."""
        found = ImportProblem(file, problem.detail, line_of(problem))
        if found not in self.problems:
            self.problems.append(found)

    @contextmanager
    def problems_of(self, file: str, *, line: int | None = None) -> Iterator[None]:
        """Report a `Problem` raised inside under the name of the file, and go on after it."""
        try:
            yield
        except Problem as problem:
            self.report(file, problem.detail, line=line_of(problem) or line)
        except (
            RecursionError,
            ArithmeticError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
        ) as problem:
            # An export of another version may hold other shapes than the reader knows.
            message = _("The file is not shaped as expected (%(reason)s).")
            self.report(file, message % {"reason": repr(problem)[:200]}, line=line)

    def add(self, file: SourceFile) -> None:
        """Add a file that is neither ignored, nor unsafe, nor too large."""
        parts = file.path.parts
        if VAULT_SETTINGS in parts[:-1]:
            self.vaults.add(file.name[: file.name.index(VAULT_SETTINGS)])
        is_ignored = any(part.startswith(IGNORED_PREFIXES) for part in parts if part != "..")
        if is_ignored or not file.path.name:
            return
        if ".." in parts or file.name.startswith("/") or file.name[1:2] == ":":
            self.report(file.name, _("The path leads out of the archive: the file is left out."))
        elif file.size > LARGEST_FILE:
            message = _("The file is too large: at most %(size)d MB each.")
            self.report(file.name, message % {"size": LARGEST_FILE // 1_000_000})
        else:
            self.total += file.size
            if self.total > LARGEST_TOTAL:
                message = _("The upload is too large: unpacked at most %(size)d MB together.")
                raise Invalid(message % {"size": LARGEST_TOTAL // 1_000_000})
            if len(self.files) >= MOST_FILES:
                message = _("The upload holds more than %(count)d files: import it in parts.")
                raise Invalid(message % {"count": MOST_FILES})
            self.files.append(file)


def line_of(problem: Problem) -> int | None:
    """The line that a problem names in the first of its `errors`, or None."""
    loc: list[Any] = [*problem.errors[0].get("loc", [])] if problem.errors else []
    return int(loc[1]) if len(loc) > 1 and loc[0] == "line" else None


def open_bundle(path: Path, *, name: str = "") -> Bundle:
    """Return the files of a folder, of a zip archive, or a single file, sorted by name. `name` is
    what the file is called where it comes from. Raises `Invalid` for what cannot be opened."""
    if not path.exists():
        raise Invalid(_("There is no file or folder %(path)s.") % {"path": path})
    bundle = Bundle()
    if path.is_dir():
        _add_folder(bundle, path)
    elif zipfile.is_zipfile(path) and not (name or path.name).lower().endswith(".xlsx"):
        _add_archive(bundle, path.open("rb"), name or path.name)
    else:
        bundle.add(SourceFile(name or path.name, path.stat().st_size, path.read_bytes))
    bundle.files.sort(key=lambda file: file.name)
    return bundle


def _add_folder(bundle: Bundle, folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        name = compose(path.relative_to(folder).as_posix())
        if path.is_symlink():
            # A link could lead out of the folder, to files that nobody means to import.
            bundle.report(name, _("This is a link to another file: it is left out."))
        elif path.is_file():
            bundle.add(SourceFile(name, path.stat().st_size, path.read_bytes))


def _add_archive(bundle: Bundle, content: Any, name: str, *, inside: str = "") -> None:
    try:
        archive = zipfile.ZipFile(content)
        members = [member for member in archive.infolist() if not member.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as problem:
        message = _("%(name)s cannot be unpacked: %(reason)s.")
        raise Invalid(message % {"name": name, "reason": problem}) from problem
    for member in members:
        path = inside + member_name(member)
        if fault := _fault_of(member):
            bundle.report(path, fault)
            continue
        file = SourceFile(path, member.file_size, _member_reader(archive, member))
        # Notion wraps the archive of an export into a second one; deeper nesting is left out.
        if file.suffix == ".zip" and not inside:
            if member.file_size > LARGEST_FILE * 4:
                bundle.report(path, _("The archive in the archive is too large: upload it alone."))
                continue
            with bundle.problems_of(path):
                _add_archive(bundle, io.BytesIO(file.read()), path, inside=f"{file.path.stem}/")
        else:
            bundle.add(file)


def member_name(member: zipfile.ZipInfo) -> str:
    """The path of a member. Old Windows tools write names in the system's encoding, unmarked."""
    name = member.filename
    if not member.flag_bits & NAMES_ARE_UTF8 and not name.isascii():
        with suppress(UnicodeEncodeError):
            name = decode(name.encode("cp437"))[0]
    return compose(name.replace("\\", "/"))


def _fault_of(member: zipfile.ZipInfo) -> str:
    if stat.S_IFMT(member.external_attr >> 16) == SYMLINK:
        return _("This is a link to another file: it is left out.")
    if member.flag_bits & IS_ENCRYPTED:
        return _("The file is encrypted: save the archive without a password.")
    ratio = member.file_size / max(member.compress_size, 1)
    if member.file_size > RATIO_FROM and ratio > LARGEST_RATIO:
        return _("The file unpacks to far more than its size: it is left out.")
    return ""


def check_archive(content: io.BytesIO) -> None:
    """Raise `Invalid` for an archive that a library is to unpack and that unpacks to too much."""
    try:
        members = zipfile.ZipFile(content).infolist()
    except zipfile.BadZipFile as problem:
        message = _("The file cannot be unpacked: %(reason)s.") % {"reason": problem}
        raise Invalid(message) from problem
    if any(map(_fault_of, members)) or sum(each.file_size for each in members) > LARGEST_FILE * 4:
        raise Invalid(_("The file unpacks to far more than its size: it is left out."))
    content.seek(0)


def _member_reader(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Callable[[], bytes]:
    def read() -> bytes:
        try:
            return archive.read(member)
        # NotImplementedError, a RuntimeError: a compression that Python does not know
        except (zipfile.BadZipFile, zlib.error, RuntimeError, OSError, EOFError) as problem:
            message = _("The file cannot be unpacked: %(reason)s.") % {"reason": problem}
            raise Invalid(message) from problem

    return read
