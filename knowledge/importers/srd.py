"""The System Reference Document as an SQLite file of the package that `import_srd` reads."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.utils.translation import gettext as _

from knowledge.importers.drafts import LoreDraft
from knowledge.importers.entry_fields import make_draft
from knowledge.importers.files import Bundle, SourceFile
from knowledge.srd.render import render_rules
from knowledge.srd.source import SIGNATURE, read_sqlite
from retrieval.errors import Invalid
from retrieval.text import slugify


def is_srd(file: SourceFile, _bundle: Bundle) -> int:
    return 60 if file.read()[: len(SIGNATURE)] == SIGNATURE else 0


def read_srd(bundle: Bundle) -> Iterator[LoreDraft]:
    """Read the one edition in the upload: the package has several, which are several games."""
    if len(bundle.files) > 1:
        names = ", ".join(file.path.name for file in bundle.files[:3])
        message = _("The upload holds several editions: choose one of %(names)s.")
        raise Invalid(message % {"names": names})
    for file in bundle.files:
        with bundle.problems_of(file.name), tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / file.path.name
            path.write_bytes(file.read())
            for rule in render_rules(read_sqlite(path).rows):
                yield make_draft(
                    f"{file.name}: {rule.path}",
                    file=file.name,
                    title=rule.title,
                    slug=slugify(rule.path),
                    kind=rule.kind,
                    is_rule=True,
                    body=rule.body,
                    folder="/".join(part.replace("/", "-") for part in rule.breadcrumb),
                    aliases=list(rule.aliases),
                    extra=rule.data,
                    source=f"srd:{rule.path}",
                )
