"""The core memory: the page an agent always sees. Every change is stored as a version; a change
that the policy refuses is stored as a proposal."""

import difflib
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from memories import core_lines, core_policy
from memories.ledger.commit import namespace_transaction
from memories.models import CoreProposal, CoreVersion, Namespace
from memories.models.namespaces import Review
from memories.states import Maker
from retrieval.errors import Conflict, Invalid, NotFound, StaleVersion
from retrieval.text import storage_flaw


@dataclass(frozen=True)
class CurrentCore:
    number: int
    markdown: str


EMPTY_CORE = CurrentCore(0, core_policy.TEMPLATE)


class CoreRefused(Invalid):
    code, title = "core_refused", "The core memory is not acceptable"


def current(namespace: Namespace) -> CurrentCore:
    """Return the latest version; version 0 is the empty template."""
    latest = namespace.core_versions.order_by("-number").values_list("number", "markdown").first()
    return CurrentCore(*latest) if latest else EMPTY_CORE


def write_or_propose(
    namespace: Namespace,
    markdown: str,
    *,
    reason: str,
    made_by: Maker = Maker.MODEL,
    author: str = "",
    new_memories: Collection[UUID] = (),
) -> CoreVersion | CoreProposal | None:
    """Write a machine's update as a version if policy and review allow it, else as a proposal.
    `new_memories` are those it was made after.

    Return None if nothing changes. The caller holds the namespace's lock.
    """
    now = current(namespace)
    if markdown.strip() == now.markdown.strip():
        return None
    problems = core_policy.problems(markdown, before=now.markdown)
    if not problems and namespace.review == Review.OFF:
        return insert_version(
            namespace,
            markdown,
            reason=reason,
            made_by=made_by,
            author=author,
            new_memories=new_memories,
        )
    return namespace.core_proposals.create(
        base_number=now.number,
        markdown=markdown,
        reason=reason[:300],
        problems=problems,
        memories=list(new_memories),
    )


def write_by_hand(
    namespace: Namespace,
    markdown: str,
    *,
    reason: str,
    author: str = "",
    made_by: Maker = Maker.PERSON,
    base_number: int | None = None,
) -> CoreVersion:
    """Write a person's text as a new version. The sections must be intact; the rest of the policy
    applies to machines only. Raise `StaleVersion` if `base_number` is not the latest."""
    require_storable(markdown)
    if problems := core_policy.shape_problems(markdown):
        raise CoreRefused(_("Keep the four sections, each once:") + " " + " ".join(problems))
    with namespace_transaction(namespace):
        if base_number is not None and base_number != current(namespace).number:
            raise StaleVersion(
                _("The core memory changed meanwhile: read it again and repeat your change."),
                version=current(namespace).number,
            )
        return insert_version(namespace, markdown, reason=reason, made_by=made_by, author=author)


def restore(
    namespace: Namespace, number: int, *, reason: str = "", author: str = ""
) -> CoreVersion:
    """Write the text of version `number` as a new version."""
    with namespace_transaction(namespace):
        text = markdown_of(namespace, number)
        reason = reason or f"Restored from version {number}"
        return insert_version(namespace, text, reason=reason, made_by=Maker.PERSON, author=author)


def markdown_of(namespace: Namespace, number: int) -> str:
    """Return the text of version `number`; version 0 is the empty template."""
    if number == 0:
        return core_policy.TEMPLATE
    texts = namespace.core_versions.filter(number=number).values_list("markdown", flat=True)
    for markdown in texts:
        return markdown
    raise NotFound(_("There is no version %(number)s of this core memory.") % {"number": number})


def diff(namespace: Namespace, number: int, *, against: int | None = None) -> list[str]:
    """Return the unified diff from version `against`, by default the previous one, to `number`."""
    older = number - 1 if against is None else against
    texts = (markdown_of(namespace, older), markdown_of(namespace, number))
    return unified_diff(*texts, names=(f"version {older}", f"version {number}"))


def unified_diff(older: str, newer: str, *, names: tuple[str, str]) -> list[str]:
    lines = difflib.unified_diff(older.splitlines(), newer.splitlines(), *names, lineterm="", n=2)
    return list(lines)


# --- single items, as the agent's tools change them


def append(
    namespace: Namespace, section: str, content: str, *, reason: str = ""
) -> CoreVersion | CoreProposal | None:
    """Add one bullet to a section, subject to policy and review."""
    core, name = require_section(namespace, section)
    require_storable(content)
    text = " ".join(content.split()).removeprefix("- ")
    if not text:
        raise Invalid(_("There is nothing to append."))
    core.sections[name].append(f"- {text}")
    reason = reason or f"Appended to {name}"
    return write_or_propose(namespace, core.markdown(), reason=reason, made_by=Maker.TOOL)


def replace(
    namespace: Namespace, section: str, old: str, new: str, *, reason: str = ""
) -> CoreVersion | CoreProposal | None:
    """Replace `old` in the one line of a section that contains it, subject to policy and review. An
    empty `new` removes the line; what stands before or after `old` may be repeated in `new`."""
    core, name = require_section(namespace, section)
    lines = core.sections[name]
    texts = [core_policy.split_bullet(line)[1] for line in lines]
    old, new = (core_policy.split_bullet(" ".join(text.split()))[1] for text in (old, new))
    found = [at for at, text in enumerate(texts) if old and old in text]
    found = [at for at in found if texts[at] == old] or found
    if len(found) != 1:
        detail = (
            _("More than one line in %(section)s contains that text: quote one line exactly.")
            if found
            else _("No line in %(section)s contains that text: quote one line exactly.")
        )
        raise Invalid(detail % {"section": name}, candidates=texts[:5])
    [at] = found
    marker, text = core_policy.split_bullet(lines[at])
    lines[at : at + 1] = [f"{marker}{replace_text(text, old, new)}"] if new else []
    reason = reason or f"Replaced in {name}"
    return write_or_propose(namespace, core.markdown(), reason=reason, made_by=Maker.TOOL)


def replace_text(line: str, old: str, new: str) -> str:
    """Return `line` with `new` in place of `old`. What stands before or after `old` is there once,
    also if `new` repeats it: agents quote a part of a line and send the whole of it."""
    before, after = line.split(old, 1)
    if new.startswith(before):
        before = ""
    end = after.rstrip(" .!?")
    if end and new.rstrip(" .!?").endswith(end):
        after = ""
    if new.endswith(tuple(".!?")) and after[:1] == new[-1]:
        after = after[1:]
    return f"{before}{new}{after}".strip()


def require_section(namespace: Namespace, section: str) -> tuple[core_policy.ParsedCore, str]:
    name = section.strip().lstrip("# ").upper()
    if name not in core_policy.SECTIONS:
        detail = _("The core memory has no section %(section)r.") % {"section": section}
        raise Invalid(detail, candidates=core_policy.SECTIONS)
    core = core_policy.parse_core(current(namespace).markdown)
    core.sections.setdefault(name, [])
    return core, name


# --- proposals


def approve(
    proposal_id: UUID, namespace: Namespace, *, author: str, markdown: str | None = None
) -> CoreVersion:
    """Write the text of a proposal, or `markdown` in its place, as a new version."""
    with namespace_transaction(namespace):
        proposal = lock_open_proposal(proposal_id, namespace)
        text = proposal.markdown if markdown is None else markdown
        if problems := core_policy.shape_problems(text):
            raise CoreRefused(_("Edit the proposal first:") + " " + " ".join(problems))
        record_decision(proposal, CoreProposal.Verdict.APPROVED, author)
        return insert_version(
            namespace,
            text,
            reason=proposal.reason,
            made_by=Maker.MODEL,
            author=author,
            new_memories=proposal.memories,
        )


def reject(proposal_id: UUID, namespace: Namespace, *, author: str) -> None:
    with transaction.atomic():
        proposal = lock_open_proposal(proposal_id, namespace)
        record_decision(proposal, CoreProposal.Verdict.REJECTED, author)


def lock_open_proposal(proposal_id: UUID, namespace: Namespace) -> CoreProposal:
    proposal = namespace.core_proposals.select_for_update().filter(pk=proposal_id).first()
    if proposal is None:
        raise NotFound(_("There is no such proposal."))
    if proposal.verdict != CoreProposal.Verdict.OPEN:
        raise Conflict(
            _("This proposal was decided already: %(verdict)s.")
            % {"verdict": proposal.get_verdict_display().lower()}
        )
    return proposal


def record_decision(proposal: CoreProposal, verdict: str, author: str) -> None:
    proposal.verdict, proposal.decided_by, proposal.decided_at = verdict, author, timezone.now()
    proposal.save(update_fields=["verdict", "decided_by", "decided_at"])


def insert_version(
    namespace: Namespace,
    markdown: str,
    *,
    reason: str,
    made_by: Maker,
    author: str,
    new_memories: Collection[UUID] = (),
) -> CoreVersion:
    version = namespace.core_versions.create(
        number=current(namespace).number + 1,
        markdown=markdown.strip() + "\n",
        reason=reason[:300],
        made_by=made_by,
        author=author[:150],
    )
    core_lines.record_lines(namespace, version.markdown, new_memories=new_memories)
    return version


def require_storable(text: str) -> None:
    if storage_flaw(text):
        raise Invalid(_("This text cannot be stored: it has a character that is none."))
