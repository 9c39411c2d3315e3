"""The command `memory37`, also `python -m memory_site`: what manage.py does, wherever it is
installed."""

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    execute_from_command_line(["memory37", *sys.argv[1:]])


if __name__ == "__main__":
    main()
