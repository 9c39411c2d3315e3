"""Code rules that wait for approval: machines wrote them, and nobody has decided."""

from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from memories.ledger.commit import namespace_transaction
from memories.models import Namespace, StoredCodeRule
from memories.states import State, name_of_state
from retrieval.errors import Conflict, NotFound


def pending_rules(namespace: Namespace) -> "QuerySet[StoredCodeRule]":
    """Return them, oldest first."""
    return namespace.code_rules.filter(state=State.PENDING).order_by("pk")


def decide_rule(namespace: Namespace, rule_id: UUID | str, *, is_approval: bool) -> StoredCodeRule:
    """Bring a pending rule into use, or reject it: it is kept, so that it is not learned again.

    Raise `NotFound` for another namespace's, `Conflict` for one that was decided.
    """
    with namespace_transaction(namespace):
        try:
            rule = namespace.code_rules.filter(pk=UUID(str(rule_id))).first()
        except ValueError:
            rule = None
        if rule is None:
            raise NotFound(_("There is no such code rule."))
        if rule.state != State.PENDING:
            raise Conflict(
                _("This code rule is not waiting for approval: it is %(state)s.")
                % {"state": name_of_state(rule.state)}
            )
        rule.state = State.ACTIVE if is_approval else State.REJECTED
        rule.save(update_fields=["state"])
    return rule
