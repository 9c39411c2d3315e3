"""How often and how long a language model is asked."""

import time
from dataclasses import dataclass, field

TRIES = 3
CONNECT_TIMEOUT = 5.0  # seconds


@dataclass(frozen=True)
class TimeBudget:
    """`seconds` from its creation on, by the monotonic clock."""

    seconds: float
    ends_at: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ends_at", time.monotonic() + self.seconds)

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.ends_at - time.monotonic())

    @property
    def is_over(self) -> bool:
        return self.seconds_left == 0.0
