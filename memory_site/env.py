"""The one reader of the environment: `.env` first, then the process environment, which wins."""

from pathlib import Path

import environ

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()
env.read_env(BASE_DIR / ".env", overwrite=False)
