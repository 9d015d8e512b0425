"""Tests of the distribution of rows to chunks and of the progress of an import."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.domain.customers.import_batch import (
    MAX_CHUNK_ACTIONS,
    MAX_CHUNK_BYTES,
    MAX_LISTED_ERRORS,
    ChunkProgress,
    ImportProgress,
    ImportStatus,
    RowError,
    groups_to_json,
    pack_chunks,
    progress_of,
    status_of,
)
from chalicelib.domain.customers.merge import GroupRow, RowGroup
from chalicelib.domain.ids import new_id
from chalicelib.domain.work import WorkState

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
IMPORT_ID = new_id()

PENDING = ChunkProgress(WorkState.PENDING)
DONE = ChunkProgress(WorkState.DONE)
PARKED = ChunkProgress(WorkState.PARKED)


def group(index: int, *, pair: str | None = None, size_bytes: int | None = None) -> RowGroup:
    """Return a group of one row whose JSON has ``size`` bytes."""
    bare = RowGroup(pair, (GroupRow(index, {"description": ""}),))
    if size_bytes is None:
        return bare
    padding = "x" * (size_bytes - len(groups_to_json([bare])))
    return RowGroup(pair, (GroupRow(index, {"description": padding}),))


def chunk_sizes(groups: Sequence[RowGroup]) -> list[int]:
    chunks = pack_chunks(groups)
    assert [group for chunk in chunks for group in chunk] == list(groups)
    assert all(len(groups_to_json(chunk)) < 400_000 for chunk in chunks)
    return [len(chunk) for chunk in chunks]


@pytest.mark.parametrize(
    ("count", "pair", "sizes"),
    [
        (0, None, []),
        (1, None, [1]),
        (MAX_CHUNK_ACTIONS, None, [98]),
        (MAX_CHUNK_ACTIONS + 1, None, [98, 1]),
        (2 * MAX_CHUNK_ACTIONS + 1, None, [98, 98, 1]),
        (MAX_CHUNK_ACTIONS // 2, "pair", [49]),
        (MAX_CHUNK_ACTIONS // 2 + 1, "pair", [49, 1]),
    ],
)
def test_chunk_contains_at_most_98_transaction_actions(
    count: int, pair: str | None, sizes: list[int]
) -> None:
    assert chunk_sizes([group(n, pair=pair) for n in range(count)]) == sizes


def test_group_that_exceeds_action_limit_starts_new_chunk() -> None:
    without_pair = [group(n) for n in range(MAX_CHUNK_ACTIONS - 1)]
    assert chunk_sizes([*without_pair, group(97, pair="pair"), group(98)]) == [97, 2]


@pytest.mark.parametrize(
    ("sizes_bytes", "sizes"),
    [
        ([MAX_CHUNK_BYTES // 2, MAX_CHUNK_BYTES // 2], [2]),
        ([MAX_CHUNK_BYTES // 2, MAX_CHUNK_BYTES // 2 + 1], [1, 1]),
        ([MAX_CHUNK_BYTES + 1], [1]),
        ([100, MAX_CHUNK_BYTES + 1, 100], [1, 1, 1]),
        ([30_000] * 20, [10, 10]),
        ([30_001] * 20, [9, 9, 2]),
    ],
)
def test_group_that_exceeds_byte_limit_starts_new_chunk(
    sizes_bytes: list[int], sizes: list[int]
) -> None:
    groups = [group(n, size_bytes=size) for n, size in enumerate(sizes_bytes)]
    assert chunk_sizes(groups) == sizes


@pytest.mark.parametrize(
    ("chunks", "status"),
    [
        ([], ImportStatus.COMPLETED),
        ([PENDING], ImportStatus.QUEUED),
        ([PENDING, PENDING], ImportStatus.QUEUED),
        ([DONE, PENDING], ImportStatus.RUNNING),
        ([PARKED, PENDING], ImportStatus.RUNNING),
        ([DONE, PARKED, PENDING], ImportStatus.RUNNING),
        ([DONE, DONE], ImportStatus.COMPLETED),
        ([DONE, PARKED], ImportStatus.FAILED),
        ([PARKED], ImportStatus.FAILED),
    ],
)
def test_import_status_is_derived_from_chunk_states(
    chunks: list[ChunkProgress], status: ImportStatus
) -> None:
    assert status_of(chunks) is status
    assert status_of(chunks[::-1]) is status


def progress(*chunks: ChunkProgress) -> ImportProgress:
    return progress_of(IMPORT_ID, 10, NOW, chunks)


def row_error(index: int) -> RowError:
    return RowError(index=index, code="record_too_large", detail="Too large.")


def test_import_without_chunks_is_completed_at_creation() -> None:
    result = progress()
    assert (result.id, result.status, result.row_count) == (IMPORT_ID, "COMPLETED", 10)
    assert result.created_at == result.updated_at == result.completed_at == NOW


def test_progress_contains_sums_of_chunk_counts() -> None:
    counts: list[dict[str, Any]] = [
        {"created": 1, "filled": 2, "unchanged": 3, "failed": 4},
        {"created": 10, "filled": 20, "unchanged": 30, "failed": 40},
    ]
    result = progress(
        PENDING, *(ChunkProgress(WorkState.DONE, **counts_of_chunk) for counts_of_chunk in counts)
    )
    assert (result.created, result.filled, result.unchanged, result.failed) == (11, 22, 33, 44)


@pytest.mark.parametrize(
    ("last_state", "updated", "completed"),
    [
        (WorkState.DONE, 2 * MINUTE, 2 * MINUTE),
        (WorkState.PARKED, 2 * MINUTE, 2 * MINUTE),
        (WorkState.PENDING, MINUTE, None),
    ],
)
def test_import_is_completed_when_last_chunk_ends(
    last_state: WorkState, updated: timedelta, completed: timedelta | None
) -> None:
    last_end = None if last_state is WorkState.PENDING else NOW + 2 * MINUTE
    result = progress(
        ChunkProgress(last_state, ended_at=last_end),
        ChunkProgress(WorkState.DONE, ended_at=NOW + MINUTE),
    )
    assert result.updated_at == NOW + updated
    assert result.completed_at == (NOW + completed if completed else None)


@pytest.mark.parametrize(
    ("count", "listed"),
    [(MAX_LISTED_ERRORS, MAX_LISTED_ERRORS), (MAX_LISTED_ERRORS + 1, MAX_LISTED_ERRORS)],
)
def test_progress_lists_first_1000_errors_in_row_order(count: int, listed: int) -> None:
    errors = [row_error(index) for index in range(count)]
    odd, even = tuple(errors[1::2]), tuple(errors[::2])
    result = progress(
        ChunkProgress(WorkState.DONE, errors=odd), ChunkProgress(WorkState.DONE, errors=even)
    )
    assert list(result.errors) == errors[:listed]
