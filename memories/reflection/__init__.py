"""Reflection: episodes that are alike become an insight that rests on each of them."""

from memories.reflection.clustering import EpisodeClusterer
from memories.reflection.generating import ReflectionGenerator
from memories.reflection.running import run
from memories.reflection.triggers import Triggers, due, start

__all__ = ["EpisodeClusterer", "ReflectionGenerator", "Triggers", "due", "run", "start"]
