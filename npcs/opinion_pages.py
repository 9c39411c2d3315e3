"""What pages about dispositions, standings and opinions share: addresses, and messages after a
ruling."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from npcs.change_states import NotInForce
from npcs.models import OpinionChange
from retrieval.errors import Problem


@contextmanager
def problem_as_message(request: HttpRequest, *, success: str) -> Iterator[None]:
    """Show a `Problem` of the block to the user, or `success`."""
    try:
        yield
    except NotInForce:
        text = _("Somebody has decided this already. Look at how it stands now.")
        messages.error(request, text, extra_tags="bad")
    except Problem as problem:
        messages.error(request, problem.detail, extra_tags="bad")
    else:
        messages.success(request, success, extra_tags="good")


def page_of_opinion(world: str, entry: OpinionChange) -> str:
    """Return the address of the page that lists the change, in the world of this slug."""
    if entry.npc and entry.other:
        return f"{reverse('npc', args=[world, entry.npc.slug])}#opinion-{entry.other.slug}"
    assert entry.faction
    return reverse("entity", args=[world, entry.faction.slug])
