"""Read and repair the positions of an account's lists."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

from pynamodb.expressions.condition import Condition

from chalicelib.domain.paging import block_of
from chalicelib.storage import counters
from chalicelib.storage.counters import (
    CounterRow,
    Listed,
    counter_key,
    next_position,
)
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.forms import SUMMARY, FormRow, FormTable
from chalicelib.storage.lists import ListedRow, block_key, move_to

Row = TypeVar("Row", bound=ListedRow)


@dataclass(frozen=True)
class ListPositions(Generic[Row]):
    """Read and repair the positions of an account's records of one kind.

    Each repair relies on the stored positions and the stored total. Therefore a repair that is
    based on an outdated index entry changes nothing and returns False or None.

    Attributes:
        row: the model of the table.
        is_listed: a condition that selects the listed rows of the account.
    """

    account_id: str
    kind: Listed
    row: type[Row]
    is_listed: Condition

    @property
    def _counter(self) -> Key[CounterRow]:
        return counter_key(self.account_id, self.kind)

    def load_total(self) -> int:
        """Return the stored number of records. It is also the last position. One request."""
        return counters.load_total(self.account_id, self.kind, consistent=True)

    def blocks(self) -> Iterator[list[Row]]:
        """Yield the index entries of each block. One request per block. The iterator is endless."""
        for block in count():
            yield list(self.row.by_block.query(block_key(self.account_id, block)))

    def walk(self) -> Iterator[list[Row]]:
        """Yield the index entries of each block, up to the last position."""
        last_block = block_of(self.load_total())
        for block, rows in enumerate(self.blocks()):
            if block > last_block:
                return
            yield rows

    def find_on_no_page(self, last: int) -> Iterator[Row]:
        """Yield the rows that are on no page because their position is missing or too high.

        New customers that still need a position are not included. Reads the whole table.

        Args:
            last: the last position of the list.
        """
        row = self.row
        is_on_no_page = (
            row.position.does_not_exist() | row.list_block.does_not_exist() | (row.position > last)
        )
        yield from row.scan(self.is_listed & is_on_no_page, consistent_read=True)

    def is_at(self, row: Row, position: int) -> bool:
        """Return whether the row is stored at this position. One consistent request."""
        row.refresh(consistent_read=True)
        return bool(row.position == position)

    def set_total(self, read: int, total: int) -> bool:
        """Replace the stored number of records. Return False if the number has changed.

        Args:
            read: the number when it was loaded.
        """

        def use_case(rows: Rows) -> bool:
            rows.prefetch(self._counter)
            if (rows.value(self._counter, CounterRow.total) or 0) != read:
                return False
            rows.set(self._counter, CounterRow.total, total)
            return True

        return commit(use_case)

    def move_to_end(self, row: Row) -> bool:
        """Move a row to the end of the list. Return False if the position of the row has changed.

        Args:
            row: the row as it was loaded.
        """

        def use_case(rows: Rows) -> bool:
            if rows.has_failed(row.own_key()):
                return False
            rows.prefetch(self._counter)
            self._move(rows, row, next_position(rows, self._counter))
            return True

        return commit(use_case)

    def fill(self, position: int) -> int | None:
        """Move the last row to an empty position. Return the new number of records.

        If no row has a higher position, only the number of records changes. Return None if the last
        row has changed.
        """

        def use_case(rows: Rows) -> int | None:
            rows.prefetch(self._counter)
            stored, total = rows.value(self._counter, CounterRow.total), position - 1
            last = self._last(stored or 0)
            if last and last.position and last.position >= position:
                if rows.has_failed(last.own_key()):
                    return None
                self._move(rows, last, position)
                total = last.position - 1
            rows.set(self._counter, CounterRow.total, total)
            return total

        return commit(use_case)

    def _move(self, rows: Rows, row: Row, position: int) -> None:
        """Move a row that an index or a scan has returned."""
        key = row.own_key()
        rows.require(key)
        rows.expect(key, self.row.position, row.position)
        rows.expect(key, self.row.list_block, row.list_block)
        move_to(rows, key, self.account_id, position)

    def _last(self, total: int) -> Row | None:
        for block in range(block_of(total), -1, -1):
            key = block_key(self.account_id, block)
            rows = self.row.by_block.query(
                key, self.row.position <= total, scan_index_forward=False, limit=1
            )
            for row in rows:
                return row
        return None


def customer_positions(account_id: str) -> ListPositions[CustomerRow]:
    """Return the positions of the account's customers."""
    has_no_shard = CustomerRow.work_shard.does_not_exist()
    is_listed = (CustomerRow.account_id == account_id) & has_no_shard
    return ListPositions(account_id, Listed.CUSTOMERS, CustomerRow, is_listed)


def form_positions(account_id: str, table: FormTable) -> ListPositions[FormRow]:
    """Return the positions of the account's forms in this table."""
    is_listed = (table.row.account_id == account_id) & (table.row.part == SUMMARY)
    return ListPositions(account_id, table.listed, table.row, is_listed)
