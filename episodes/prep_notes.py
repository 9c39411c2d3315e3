"""Save and read the notes that a game master prepares for a party."""

from django.db import transaction
from django.utils.translation import gettext as _

from episodes.prep_models import PrepNotes
from retrieval.errors import Conflict, Invalid
from retrieval.text import storage_flaw
from worlds.models import Party

LONGEST = 50_000


class NotesChanged(Conflict):
    code, title = "notes_changed", "Somebody else has saved the notes meanwhile"


def read_prep_notes(party: Party) -> PrepNotes:
    """Return the notes of the party; new ones are not saved."""
    return PrepNotes.objects.filter(party=party).first() or PrepNotes(party=party)


@transaction.atomic
def save_prep_notes(party: Party, text: str, *, version: int, by: str) -> PrepNotes:
    """Save `text` if the stored notes still have `version`. Raises `NotesChanged` or `Invalid`."""
    if storage_flaw(text):
        raise Invalid(_("This text cannot be stored: it has a character that is none."))
    if len(text) > LONGEST:
        raise Invalid(_("The notes may have at most %(count)s characters.") % {"count": LONGEST})
    PrepNotes.objects.get_or_create(party=party)
    row = PrepNotes.objects.select_for_update().get(party=party)
    if row.version != version:
        raise NotesChanged(_("Somebody else has saved these notes since you opened them."))
    row.text, row.version, row.edited_by = text, version + 1, by
    row.save()
    return row
