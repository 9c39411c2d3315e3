"""Agent memory's periodic work."""

from celery import shared_task

from memories.curation import lifecycle
from memories.models import Namespace
from memories.reflection import run_reflection, start_reflection
from memories.reflection.retracted_evidence import flag_retracted
from memories.reflection.run import open_reflections
from memories.states import Bucket


@shared_task
def expire_memories() -> int:
    """Take out of use what has expired."""
    return lifecycle.expire()


@shared_task
def reflect() -> int:
    """Flag insights that lost their ground, note what is due, and carry out what no worker holds. Returns how many."""
    flag_retracted()
    for namespace in (
        Namespace.objects.filter(memories__bucket=Bucket.EPISODIC).distinct().iterator()
    ):
        start_reflection(namespace)
    return sum(run_reflection(reflection) is not None for reflection in open_reflections())
