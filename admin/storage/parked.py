"""Find the parked records of one kind of work."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from chalicelib.domain.paging import in_groups
from chalicelib.domain.work import MAX_CLAIMS, PARKED, PARKED_SHARD
from chalicelib.storage.dynamodb.work_records import WorkRecords

_READ_AT_ONCE: Final = 100


@dataclass(frozen=True)
class ParkedWork:
    """Work that used all allowed attempts and is not retried until an operator replays it.

    Attributes:
        kind: the kind of work, for example ``import``.
        reason: the reason for the last failure.
    """

    kind: str
    account_id: str
    owner_id: str
    part: str
    claims: int
    reason: str
    parked_at: datetime


def list_parked(
    records: WorkRecords[object], since: datetime | None = None
) -> Iterator[ParkedWork]:
    """Find the records that were parked at or after this time, the earliest parked first.

    Two requests per 100 records.
    """
    condition = records.row.due_at >= int(since.timestamp()) if since else None
    candidates = records.in_shard(PARKED_SHARD, condition, _READ_AT_ONCE)
    for keys in in_groups(candidates, _READ_AT_ONCE):
        for row in records.read((due.owner_id, due.part) for due in keys):
            if row and row.state == PARKED and row.ended_at:
                yield ParkedWork(
                    kind=records.kind,
                    account_id=row.account_id,
                    owner_id=records.owner_of(row),
                    part=row.part,
                    claims=min(row.claims or 0, MAX_CLAIMS),
                    reason=row.reason or "",
                    parked_at=row.ended_at,
                )


def count_parked(records: WorkRecords[object]) -> int:
    """Return the number of parked records. One request per MB of index entries."""
    return records.row.due.count(PARKED_SHARD)


def parked_parts(records: WorkRecords[object], owner_id: str) -> list[str]:
    """Return the sort keys of the owner's parked work records."""
    rows = records.row.query(
        owner_id,
        filter_condition=records.row.state == PARKED,
        consistent_read=True,
        attributes_to_get=records.row.key_names(),
    )
    return [row.part for row in rows]
