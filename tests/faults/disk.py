"""A disk of the tests' own that can be made full: a file system in memory."""

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

SIZE_MB = 3000


def make_folder() -> Path:
    """Return a new folder that PostgreSQL, which runs as another user, can reach."""
    folder = Path(tempfile.mkdtemp(prefix="memory37-faults-"))
    folder.chmod(0o755)
    return folder


@dataclass
class SmallDisk:
    outside: Path = field(default_factory=make_folder)
    """A folder on the machine's disk, which has room."""
    is_mounted: bool = False

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.is_mounted = self._mount(f"size={SIZE_MB}m,mode=755")

    @property
    def folder(self) -> Path:
        return self.outside / "disk"

    def fill(self) -> None:
        """Leave no room: the file system becomes as small as what it holds."""
        assert self.is_mounted
        # The site goes on writing: what it has just written may not fit.
        assert any(self._shrink() for _attempt in range(50))

    def _shrink(self) -> bool:
        return self._mount(f"remount,size={shutil.disk_usage(self.folder).used}")

    def free(self) -> None:
        assert self._mount(f"remount,size={SIZE_MB}m")

    def remove(self) -> None:
        if self.is_mounted:
            subprocess.run(["umount", "--lazy", self.folder], check=False)
        shutil.rmtree(self.outside, ignore_errors=True)

    def _mount(self, options: str) -> bool:
        """Mount or mount again; only the superuser may."""
        if os.geteuid() != 0:
            return False
        command = ["mount", "-t", "tmpfs", "-o", options, "memory37-faults", str(self.folder)]
        return subprocess.run(command, check=False, capture_output=True).returncode == 0
