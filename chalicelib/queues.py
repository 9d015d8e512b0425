"""The queues and the settings of their event sources.

`app.py` binds functions to them; `infrastructure/functions.py` builds the resources from them.
Every process imports this module at start-up, so it imports nothing of the project.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Queue:
    """One queue and how it invokes its function.

    Attributes:
        name: the name without the prefix of the stage; a FIFO queue's name ends with ``.fifo``.
        batch_size: the most messages in one invocation.
        max_concurrency: the most concurrent invocations, at least 2.
        batch_window_s: how long the event source waits for a full batch.
    """

    name: str
    batch_size: int
    max_concurrency: int
    batch_window_s: int = 0

    @property
    def is_fifo(self) -> bool:
        """Whether messages of one group are delivered in order."""
        return self.name.endswith(".fifo")


IMPORTS: Final = Queue("imports.fifo", batch_size=5, max_concurrency=20)
FEEDBACK: Final = Queue("feedback", batch_size=25, max_concurrency=5, batch_window_s=1)
WEBHOOKS: Final = Queue("webhooks", batch_size=10, max_concurrency=50)
