"""Read the state of a stage's background work."""

from dataclasses import dataclass

from admin.outbound.queue_depths import QueueDepth, read_depths
from chalicelib.queues import ALL_QUEUES
from chalicelib.services.work.kinds import ALL_WORK


@dataclass(frozen=True)
class StageStatus:
    """The state of a stage's background work.

    Attributes:
        parked: the number of parked records by kind of work.
    """

    queues: list[QueueDepth]
    parked: dict[str, int]


def read_status() -> StageStatus:
    """Return the depth of each queue and the number of parked records of each kind.

    AWS requests: four per queue, one per kind of work (one more per further MB of parked work), and
    one to CloudWatch.
    """
    return StageStatus(
        queues=read_depths(ALL_QUEUES),
        parked={kind.records.kind: kind.records.count_parked() for kind in ALL_WORK},
    )
