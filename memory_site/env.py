"""The one reader of the environment: `.env` first, then the process environment, which wins."""

from pathlib import Path

import environ
from platformdirs import user_data_path

BASE_DIR = Path(__file__).resolve().parent.parent
IS_CHECKOUT = (BASE_DIR / "manage.py").is_file()
"""Else the site is an installed package, and its folder belongs to the package manager."""
RESOURCES = BASE_DIR if IS_CHECKOUT else BASE_DIR / "memory_site" / "resources"
"""Templates and static files: a wheel holds them inside of a package."""
DOCS_DIR = RESOURCES / "docs"
"""The documents that pages show."""
DATA_DIR = BASE_DIR / "var" if IS_CHECKOUT else user_data_path("memory37", appauthor=False)

env = environ.Env()
env.read_env((BASE_DIR if IS_CHECKOUT else Path.cwd()) / ".env", overwrite=False)
