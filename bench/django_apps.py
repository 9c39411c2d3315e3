"""Import this before modules that import models where no database is needed."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
django.setup()
