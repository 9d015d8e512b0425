"""Requeue overdue work."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Final

from chalicelib.concurrency import map_concurrently
from chalicelib.domain import clock
from chalicelib.domain.paging import in_groups
from chalicelib.domain.work import DueWork, Swept
from chalicelib.messages import Pointer
from chalicelib.outbound.queues import send
from chalicelib.services.work.kinds import KindOfWork
from chalicelib.storage.dynamodb.work_records import Requeued
from chalicelib.time_limits import has_time_for_work

LISTED_PER_SHARD: Final = 100
MAX_CONCURRENCY: Final = 16
_GROUP: Final = 20
_WAVE: Final = 2 * MAX_CONCURRENCY * _GROUP


def sweep(work: KindOfWork) -> Swept:
    """Requeue overdue work of one kind. Return the number of requeued records and their age.

    The function alternates between the shards, so that a backlog in one shard does not delay
    others. Each record is rescheduled before it is queued, so that concurrent sweeps do not queue
    it twice. If time runs out, the remaining records stay overdue for the next sweep.

    AWS requests: to list the records, one per 100 records of a shard; to reschedule and queue the
    records, four per 20 records. Up to `MAX_CONCURRENCY` threads send the requests.
    """
    now = clock.now()
    overdue = work.records.overdue(now, LISTED_PER_SHARD)
    requeue = partial(_requeue, work, now)
    swept = Swept()
    while has_time_for_work() and (wave := list(islice(overdue, _WAVE))):
        for part in map_concurrently(requeue, list(in_groups(wave, _GROUP)), MAX_CONCURRENCY):
            swept = Swept(swept.records + part.records, max(swept.oldest_s, part.oldest_s))
    return swept


def _requeue(work: KindOfWork, now: datetime, group: Sequence[DueWork]) -> Swept:
    requeued: list[Requeued[Pointer]] = []
    if not has_time_for_work():
        return Swept()
    try:
        requeued.extend(work.records.reschedule_all(group, now))
    finally:
        # If the database fails, still queue the records that are already rescheduled.
        if requeued:
            send(work.queue, [record.pointer for record in requeued])
    now_s = int(now.timestamp())
    oldest_s = max((now_s - record.ready_at for record in requeued), default=0)
    return Swept(len(requeued), oldest_s)
