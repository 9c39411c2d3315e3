"""What may be asked: a question is checked before anything is spent on it."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from retrieval.errors import Invalid

LONGEST_READ = 8_000
"""Characters of a question that are read; the rest is left out, and the answer says so."""
LONGEST_ACCEPTED = 100_000


@dataclass(frozen=True)
class QueryText:
    text: str
    notices: tuple[str, ...] = ()


def check_query(query: str) -> QueryText:
    """Return the question without surrounding space, cut if very long; raise `Invalid` for what is no question."""
    text = query.strip()
    if not text:
        raise Invalid(_("The question is empty: say in words what to look for."))
    if len(query) > LONGEST_ACCEPTED:
        raise Invalid(
            _(
                "The question has %(length)d characters, more than %(limit)d: ask about one thing at a time."
            )
            % {"length": len(query), "limit": LONGEST_ACCEPTED}
        )
    if "\0" in text:
        raise Invalid(_("The question holds a NUL character: remove it."))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Invalid(
            _("The question is not valid Unicode at character %d.") % error.start
        ) from error
    if len(text) <= LONGEST_READ:
        return QueryText(text)
    return QueryText(
        text[:LONGEST_READ],
        (_("Only the first %d characters of the question were read.") % LONGEST_READ,),
    )
