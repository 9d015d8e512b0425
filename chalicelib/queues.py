"""Define the queues and the settings of their event sources.

`app.py` registers the function of each queue. `infrastructure/functions.py` lists the queues of
each function. Every process imports this module at start-up, so it must not import other modules
of the project.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Queue:
    """One queue and the settings of the event source that invokes its function.

    Attributes:
        name: the name without the prefix of the stage. The name of a FIFO queue ends with
            ``.fifo``.
        batch_size: the maximum number of messages in one invocation.
        max_concurrency: the maximum number of concurrent invocations. AWS requires at least 2.
        batch_window_s: the maximum time in seconds to wait for a full batch.
        records: the module of `chalicelib/storage` that contains the work records of the messages,
            as ``WORK``. None if the messages have no work records.
    """

    name: str
    batch_size: int
    max_concurrency: int
    batch_window_s: int = 0
    records: str | None = None

    @property
    def is_fifo(self) -> bool:
        """Whether this is a FIFO queue, which delivers the messages of a group in order."""
        return self.name.endswith(".fifo")

    @property
    def dead_letter_name(self) -> str:
        """The name of the dead-letter queue, without the prefix of the stage."""
        name = self.name.removesuffix(".fifo")
        return f"{name}-dead{self.name.removeprefix(name)}"


MAX_RECEIVES: Final = 10
"""Number of receives after which a queue moves a message to the dead-letter queue.

The work of a valid message is done, deferred or parked after fewer receives.
"""

IMPORTS: Final = Queue("imports.fifo", batch_size=5, max_concurrency=20, records="imports")
LISTING: Final = Queue("listing.fifo", batch_size=10, max_concurrency=20)
FEEDBACK: Final = Queue(
    "feedback", batch_size=16, max_concurrency=5, batch_window_s=1, records="feedback"
)
WEBHOOKS: Final = Queue("webhooks", batch_size=10, max_concurrency=50, records="executions")
PURCHASES: Final = Queue("purchases", batch_size=10, max_concurrency=20)
SOLICITATIONS: Final = Queue(
    "solicitations", batch_size=10, max_concurrency=5, records="solicitations"
)
ERASURES: Final = Queue("erasures", batch_size=1, max_concurrency=2, records="erasures")
SUPPRESSIONS: Final = Queue("suppressions", batch_size=1, max_concurrency=2, records="contacts")
MESSAGE_EVENTS: Final = Queue("message-events", batch_size=10, max_concurrency=2)

ALL_QUEUES: Final = (
    IMPORTS,
    LISTING,
    FEEDBACK,
    WEBHOOKS,
    PURCHASES,
    SOLICITATIONS,
    MESSAGE_EVENTS,
    ERASURES,
    SUPPRESSIONS,
)
