"""The context that Lambda passes to a function."""

from dataclasses import dataclass


@dataclass
class LambdaContext:
    """A Lambda context whose remaining time the test sets."""

    left_s: float = 90

    def get_remaining_time_in_millis(self) -> int:
        return int(self.left_s * 1000)
