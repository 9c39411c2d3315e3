"""Reflection: episodes that are alike become an insight that rests on each of them."""

from memories.reflection.clusters import EpisodeClusterer
from memories.reflection.insights import ReflectionGenerator
from memories.reflection.run import run
from memories.reflection.triggers import Triggers, due, start

__all__ = ["EpisodeClusterer", "ReflectionGenerator", "Triggers", "due", "run", "start"]
