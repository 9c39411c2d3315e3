"""Periodic tasks of agent memory."""

from celery import shared_task

from memories.curation import lifecycle
from memories.models import Namespace
from memories.reflection import run_reflection, start_reflection
from memories.reflection.retracted_evidence import flag_retracted
from memories.reflection.run import open_reflections
from memories.states import Bucket


@shared_task
def expire_memories() -> int:
    """Move expired memories to the state `expired`; return their number."""
    return lifecycle.expire_due()


@shared_task
def reflect() -> int:
    """Flag insights without evidence, start due reflections, and run those that no worker holds.

    Return the number of reflections that were run.
    """
    flag_retracted()
    with_episodes = Namespace.objects.filter(memories__bucket=Bucket.EPISODIC).distinct()
    for namespace in with_episodes.iterator():
        start_reflection(namespace)
    return sum(run_reflection(reflection) is not None for reflection in open_reflections())
