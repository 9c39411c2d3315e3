"""Fixtures of the import tests."""

from tests.knowledge.conftest import write  # noqa: F401
