"""Read and repair the positions of an account's lists."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from pynamodb.expressions.condition import Condition

from chalicelib.domain.paging import block_of
from chalicelib.storage import counters
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.unit_of_work import Contention, transaction
from chalicelib.storage.forms import SUMMARY, FormTable
from chalicelib.storage.lists import at_position, block_key


@dataclass(frozen=True)
class ListPositions:
    """Read and repair the positions of an account's records of one kind.

    Each repair is conditional on the stored positions and the stored total. Therefore a repair that
    is based on an outdated index entry changes nothing and returns False or None.

    Attributes:
        row: the model of the table. It has the index `by_block`.
        is_listed: a condition that selects the listed rows of the table. Default: all rows.
    """

    account_id: str
    kind: Listed
    row: Any
    is_listed: Condition | None = None

    def load_total(self) -> int:
        """Return the stored number of records. It is also the last position. One request."""
        return counters.load_total(self.account_id, self.kind, consistent=True)

    def blocks(self) -> Iterator[list[Any]]:
        """Yield the index entries of each block. One request per block. The iterator is endless."""
        for block in count():
            yield list(self.row.by_block.query(block_key(self.account_id, block)))

    def walk(self) -> Iterator[list[Any]]:
        """Yield the index entries of each block, up to the last position."""
        last_block = block_of(self.load_total())
        for block, rows in enumerate(self.blocks()):
            if block > last_block:
                return
            yield rows

    def find_on_no_page(self, last: int) -> Iterator[Any]:
        """Yield the rows that are on no page because their position is missing or too high.

        New customers that still need a position are not included. Reads the whole table.

        Args:
            last: the last position of the list.
        """
        row = self.row
        condition = (row.account_id == self.account_id) & (
            row.position.does_not_exist() | row.list_block.does_not_exist() | (row.position > last)
        )
        if self.is_listed is not None:
            condition &= self.is_listed
        if hasattr(row, "work_shard"):
            condition &= row.work_shard.does_not_exist()
        yield from row.scan(condition, consistent_read=True)

    def is_at(self, row: Any, position: int) -> bool:
        """Return whether the row is stored at this position. One consistent request."""
        row.refresh(consistent_read=True)
        return bool(row.position == position)

    def set_total(self, read: int, total: int, moved: Any = None, position: int = 0) -> bool:
        """Replace the stored number of records, and move a row to a position.

        Return False if the number, or the position of the row, has changed.

        Args:
            read: the number when it was loaded.
            moved: the row as it was loaded; None if no row moves.
        """
        row, counter = self.row, CounterRow(self.account_id, self.kind.value)
        is_unchanged = counters.is_number(CounterRow.total, read)
        try:
            with transaction() as write:
                write.update(counter, CounterRow.changes(total=total), is_unchanged)
                if moved:
                    is_there = row.has(position=moved.position, list_block=moved.list_block)
                    write.update(
                        moved, row.changes(**at_position(self.account_id, position)), is_there
                    )
        except Contention:
            return False
        return True

    def move_to_end(self, row: Any) -> bool:
        """Move a row to the end of the list. Return False if the row or the list has changed."""
        total = self.load_total()
        return self.set_total(total, total + 1, row, total + 1)

    def fill(self, position: int) -> int | None:
        """Move the last row to an empty position. Return the new number of records.

        If no row has a higher position, only the number of records changes. Return None if the list
        has changed since the call started.
        """
        total = self.load_total()
        last = self._last(total)
        if last is None or last.position < position:
            return position - 1 if self.set_total(total, position - 1) else None
        new_total: int = last.position - 1
        return new_total if self.set_total(total, new_total, last, position) else None

    def _last(self, total: int) -> Any:
        for block in range(block_of(total), -1, -1):
            key = block_key(self.account_id, block)
            rows = self.row.by_block.query(
                key, self.row.position <= total, scan_index_forward=False, limit=1
            )
            for row in rows:
                return row
        return None


def customer_positions(account_id: str) -> ListPositions:
    """Return the positions of the account's customers."""
    return ListPositions(account_id, Listed.CUSTOMERS, CustomerRow)


def form_positions(account_id: str, table: FormTable) -> ListPositions:
    """Return the positions of the account's forms in this table."""
    return ListPositions(account_id, table.listed, table.row, table.row.part == SUMMARY)
