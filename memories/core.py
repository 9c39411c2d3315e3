"""The core memory: the page an agent always sees. Every change is a version; what the policy
refuses is a proposal."""

import difflib
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from memories import core_policy
from memories.ledger.lock import namespace_transaction
from memories.models import CoreProposal, CoreVersion, Namespace
from memories.models.namespaces import Review
from memories.states import Maker
from retrieval.errors import Conflict, Invalid, NotFound
from retrieval.text import storage_flaw


@dataclass(frozen=True)
class CurrentCore:
    number: int
    markdown: str


EMPTY_CORE = CurrentCore(0, core_policy.TEMPLATE)


class CoreRefused(Invalid):
    code, title = "core_refused", "The core memory cannot look like this"


def current(namespace: Namespace) -> CurrentCore:
    """Return the present core: version 0 is the empty template."""
    latest = namespace.core_versions.order_by("-number").values_list("number", "markdown").first()
    return CurrentCore(*latest) if latest else EMPTY_CORE


def write_or_propose(
    namespace: Namespace,
    markdown: str,
    *,
    reason: str,
    made_by: Maker = Maker.MODEL,
    author: str = "",
) -> CoreVersion | CoreProposal | None:
    """Take over a machine's update if policy and review allow it, else keep it as a proposal; None
    if nothing changes.

    The caller holds the namespace's lock.
    """
    now = current(namespace)
    if markdown.strip() == now.markdown.strip():
        return None
    against = core_policy.problems(markdown, before=now.markdown)
    if against or namespace.review != Review.OFF:
        return propose(namespace, markdown, base_number=now.number, reason=reason, problems=against)
    return _add_version(namespace, markdown, reason=reason, made_by=made_by, author=author)


def propose(
    namespace: Namespace, markdown: str, *, base_number: int, reason: str, problems: list[str]
) -> CoreProposal:
    return CoreProposal.objects.create(
        namespace=namespace,
        markdown=markdown,
        base_number=base_number,
        reason=reason[:300],
        problems=problems,
    )


def write(
    namespace: Namespace,
    markdown: str,
    *,
    reason: str,
    author: str = "",
    made_by: Maker = Maker.PERSON,
    base_number: int | None = None,
) -> CoreVersion:
    """Write a new version by hand. Sections must be intact; the rest of the policy is the
    machine's."""
    require_storable(markdown)
    if broken := core_policy.shape_problems(markdown):
        raise CoreRefused("Keep the four sections, each once: " + " ".join(broken))
    with namespace_transaction(namespace):
        if base_number is not None and base_number != current(namespace).number:
            raise Conflict(
                "The core memory changed meanwhile: read it again and repeat your change."
            )
        return _add_version(namespace, markdown, reason=reason, made_by=made_by, author=author)


def restore(
    namespace: Namespace, number: int, *, reason: str = "", author: str = ""
) -> CoreVersion:
    """Write the text of version `number` as a new version."""
    with namespace_transaction(namespace):
        text = version(namespace, number).markdown if number else core_policy.TEMPLATE
        reason = reason or f"Restored from version {number}"
        return _add_version(namespace, text, reason=reason, made_by=Maker.PERSON, author=author)


def version(namespace: Namespace, number: int) -> CoreVersion:
    found = namespace.core_versions.filter(number=number).first()
    if found is None:
        raise NotFound(f"There is no version {number} of this core memory.")
    return found


def diff(namespace: Namespace, number: int, *, against: int | None = None) -> list[str]:
    """Return the unified diff from version `against` (the one before, if not given) to `number`."""
    older = number - 1 if against is None else against
    texts = [version(namespace, n).markdown if n else core_policy.TEMPLATE for n in (older, number)]
    return unified_diff(*texts, names=(f"version {older}", f"version {number}"))


def unified_diff(older: str, newer: str, *, names: tuple[str, str]) -> list[str]:
    lines = difflib.unified_diff(older.splitlines(), newer.splitlines(), *names, lineterm="", n=2)
    return list(lines)


# --- single items, as the agent's tools change them


def append(
    namespace: Namespace, section: str, content: str, *, reason: str = ""
) -> CoreVersion | CoreProposal | None:
    """Add one bullet to a section, within policy and review."""
    core, name = require_section(namespace, section)
    core.sections[name].append(f"- {_one_line(content)}")
    return _offer_change(namespace, core, reason or f"Appended to {name}")


def replace(
    namespace: Namespace, section: str, old: str, new: str, *, reason: str = ""
) -> CoreVersion | CoreProposal | None:
    """Replace text within a section; an empty `new` takes the bullet away when nothing else is
    left of it."""
    core, name = require_section(namespace, section)
    hits = [index for index, line in enumerate(core.sections[name]) if old and old in line]
    if len(hits) != 1:
        raise Invalid(
            f"{'More than one line' if hits else 'Nothing'} in {name} holds that text: "
            "quote one line exactly.",
            candidates=core.sections[name][:5],
        )
    changed = core.sections[name][hits[0]].replace(old, " ".join(new.split())).rstrip()
    core.sections[name][hits[0] : hits[0] + 1] = (
        [] if changed.strip() in ("", "-", "*", "+") else [changed]
    )
    return _offer_change(namespace, core, reason or f"Replaced in {name}")


def _offer_change(
    namespace: Namespace, core: core_policy.ParsedCore, reason: str
) -> CoreVersion | CoreProposal | None:
    return write_or_propose(namespace, core.markdown(), reason=reason, made_by=Maker.TOOL)


def require_section(namespace: Namespace, section: str) -> tuple[core_policy.ParsedCore, str]:
    name = section.strip().lstrip("# ").upper()
    if name not in core_policy.SECTIONS:
        raise Invalid(
            f"The core memory has no section {section!r}.", candidates=core_policy.SECTIONS
        )
    core = core_policy.parse_core(current(namespace).markdown)
    core.sections.setdefault(name, [])
    return core, name


def _one_line(content: str) -> str:
    require_storable(content)
    text = " ".join(content.split()).removeprefix("- ")
    if not text:
        raise Invalid("There is nothing to append.")
    return text


# --- proposals


def approve(
    proposal_id: UUID, namespace: Namespace, *, author: str, markdown: str | None = None
) -> CoreVersion:
    """Take a proposal over, as it is or edited."""
    with namespace_transaction(namespace):
        proposal = _open_proposal(proposal_id, namespace)
        text = proposal.markdown if markdown is None else markdown
        if broken := core_policy.shape_problems(text):
            raise CoreRefused("Edit the proposal first: " + " ".join(broken))
        _decide(proposal, CoreProposal.Verdict.APPROVED, author)
        return _add_version(
            namespace, text, reason=proposal.reason, made_by=Maker.MODEL, author=author
        )


def reject(proposal_id: UUID, namespace: Namespace, *, author: str) -> None:
    with transaction.atomic():
        _decide(_open_proposal(proposal_id, namespace), CoreProposal.Verdict.REJECTED, author)


def _open_proposal(proposal_id: UUID, namespace: Namespace) -> CoreProposal:
    proposal = namespace.core_proposals.select_for_update().filter(pk=proposal_id).first()
    if proposal is None:
        raise NotFound("There is no such proposal.")
    if proposal.verdict != CoreProposal.Verdict.OPEN:
        raise Conflict(f"This proposal was decided already: {proposal.verdict}.")
    return proposal


def _decide(proposal: CoreProposal, verdict: str, author: str) -> None:
    proposal.verdict, proposal.decided_by, proposal.decided_at = verdict, author, timezone.now()
    proposal.save(update_fields=["verdict", "decided_by", "decided_at"])


# --- writing


def _add_version(
    namespace: Namespace, markdown: str, *, reason: str, made_by: Maker, author: str
) -> CoreVersion:
    return CoreVersion.objects.create(
        namespace=namespace,
        number=current(namespace).number + 1,
        markdown=markdown.strip() + "\n",
        reason=reason[:300],
        made_by=made_by,
        author=author[:150],
    )


def require_storable(text: str) -> None:
    if wrong := storage_flaw(text):
        raise Invalid(f"The text {wrong}.")
