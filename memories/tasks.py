"""Periodic tasks of agent memory."""

from celery import shared_task
from django.conf import settings

from memories.buckets.intents import embed_examples
from memories.curation import lifecycle
from memories.models import Namespace
from memories.reflection import run_reflection, start_reflection
from memories.reflection.run import flag_in_all_namespaces, open_reflections
from memories.states import Bucket
from memories.witnesses.backfill import remember_missing
from retrieval.named_relations import prepare_relation_model
from retrieval.statement_pairs import prepare_pair_model

EPISODES_AT_ONCE = 200
"""Episodes of one task: it stays short, so that a worker can stop; another task continues."""


@shared_task
def expire_memories() -> int:
    """Move expired memories to the state `expired`; return their number."""
    return lifecycle.expire_due()


@shared_task(is_bulk=True)
def embed_intent_examples() -> None:
    """Store the vectors of the examples of intents, and convert the small models: no question
    should wait for them."""
    embed_examples()
    if settings.EMBEDDER == "local":
        prepare_pair_model()
        prepare_relation_model()


@shared_task(is_bulk=True)
def reflect() -> int:
    """Flag insights without evidence, start due reflections, and run those that no worker holds.

    Return the number of reflections that were run.
    """
    flag_in_all_namespaces()
    with_episodes = Namespace.objects.filter(memories__bucket=Bucket.EPISODIC).distinct()
    for namespace in with_episodes.iterator():
        start_reflection(namespace)
    return sum(run_reflection(reflection) is not None for reflection in open_reflections())


@shared_task(is_bulk=True)
def remember_episodes() -> int:
    """Give the witnesses of episodes the memories that they lack; return the number of episodes."""
    count = remember_missing(limit=EPISODES_AT_ONCE)
    if count == EPISODES_AT_ONCE:
        remember_episodes.delay()
    return count
