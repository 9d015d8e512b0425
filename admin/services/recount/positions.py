"""Check that each position of a list, from 1 to the total, occurs once and in the right block."""

from collections.abc import Callable, Iterator
from typing import Generic

from admin.services.recount.difference import Difference
from admin.storage.list_positions import ListPositions, Row
from chalicelib.domain.paging import BLOCK_SIZE, block_of


def check_positions(
    positions: ListPositions[Row], total: int, fix: bool, advance: Callable[[int], None]
) -> Iterator[Difference]:
    """Yield the wrong positions of a list, and the stored total if the total is wrong.

    Positions greater than ``total`` can belong to records that were created during the check, so
    gaps between these positions are not reported.

    If ``fix`` is True, a record at a wrong or duplicate position moves to the end of the list, and
    the last record moves to an empty position.

    Args:
        total: the total at the start of the check. The index already contains all records up to
            this total.
        advance: called with the number of records after each block.
    """
    walk = _Walk(positions, total, fix)
    for block, rows in enumerate(positions.blocks()):
        if not rows and block * BLOCK_SIZE >= walk.total:
            break
        for row in rows:
            yield from walk.check(row, block)
        advance(len(rows))
    yield from walk.check_end()
    yield from walk.check_unplaced()


class _Walk(Generic[Row]):
    """The state of the walk over a list: the next expected position and the last row."""

    def __init__(self, positions: ListPositions[Row], total: int, fix: bool) -> None:
        self.total = total
        self._positions = positions
        self._fix = fix
        self._next = 1
        self._last: Row | None = None

    @property
    def _last_position(self) -> int:
        """The highest position that the walk has reached so far; 0 if the list is empty."""
        return self._next - 1

    def check(self, row: Row, block: int) -> Iterator[Difference]:
        """Check the position of the next row. Yield the positions before it that no row has."""
        position = row.position or 0
        if block_of(position) != block or position < self._next:
            is_repaired = self._fix and self._positions.move_to_end(row)
            yield self._difference(_id(row), position, None, is_repaired)
            return
        yield from self._check_gap(min(position - 1, self.total))
        self._next, self._last = position + 1, row

    def check_end(self) -> Iterator[Difference]:
        """Check the total after the last row."""
        positions, last = self._positions, self._last_position
        stored = positions.load_total()
        if stored > self.total:
            # The total has grown: records were moved to the end, or created, during the check.
            yield from self._check_gap(self.total)
        elif last < stored or (last > stored and self._last and positions.is_at(self._last, last)):
            is_repaired = self._fix and positions.set_total(stored, last)
            yield Difference(positions.kind.value, "total", stored, last, is_repaired)

    def check_unplaced(self) -> Iterator[Difference]:
        """Check the rows that are on no page."""
        positions = self._positions
        for row in positions.find_on_no_page(max(positions.load_total(), self._last_position)):
            if row.position and row.list_block and row.position <= positions.load_total():
                continue  # The record was created during the check.
            is_repaired = self._fix and positions.move_to_end(row)
            yield self._difference(_id(row), row.position, None, is_repaired)

    def _check_gap(self, last: int) -> Iterator[Difference]:
        for position in range(self._next, last + 1):
            if position > self.total:
                return  # The records after the gap have moved into the gap.
            new_total = self._positions.fill(position) if self._fix else None
            if new_total is not None:
                self.total = min(self.total, new_total)
            yield self._difference("", None, position, new_total is not None)

    def _difference(
        self, record_id: str, stored: int | None, expected: int | None, is_repaired: bool
    ) -> Difference:
        record = f"{self._positions.kind.value} {record_id}".strip()
        return Difference(record, "position", stored, expected, is_repaired)


def _id(row: Row) -> str:
    return row.own_key().hash_key.rpartition("#")[2]
