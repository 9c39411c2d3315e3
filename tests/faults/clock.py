"""A clock that a test can set, for all processes of a site: a small library, compiled here, which
they preload. It moves the time of the day of Python and PostgreSQL, not that of Redis and Neo4j,
of file systems, nor monotonic clocks."""

import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parent / "clock.c"
SECONDS_AN_HOUR = 3600


@dataclass
class Clock:
    folder: Path
    """Which PostgreSQL, as another user, can read."""
    hours: int = 0

    def __post_init__(self) -> None:
        self.file, self.library = self.folder / "clock", self.folder / "clock.so"
        self.file.write_bytes(struct.pack("q", 0))
        self.compiler = shutil.which("cc")
        if self.compiler:
            options = ["-shared", "-fPIC", "-O2", "-o", str(self.library), str(SOURCE), "-ldl"]
            subprocess.run([self.compiler, *options], check=True)

    @property
    def environment(self) -> dict[str, str]:
        if not self.compiler:
            return {}
        return {"LD_PRELOAD": str(self.library), "CLOCK_OFFSET_FILE": str(self.file)}

    def move(self, *, by: int) -> None:
        """Move the clock by so many hours, at once and for good."""
        self.hours += by
        with self.file.open("r+b") as file:  # in place: the processes have it mapped
            file.write(struct.pack("q", self.hours * SECONDS_AN_HOUR))
