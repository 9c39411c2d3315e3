"""Reflection: similar episodes become an insight that rests on each of them."""

from memories.reflection.clusters import EpisodeClusterer
from memories.reflection.insights import ReflectionGenerator
from memories.reflection.of_stores import reflect
from memories.reflection.run import run_reflection
from memories.reflection.triggers import Triggers, due_trigger, start_reflection

__all__ = [
    "EpisodeClusterer",
    "ReflectionGenerator",
    "Triggers",
    "due_trigger",
    "reflect",
    "run_reflection",
    "start_reflection",
]
