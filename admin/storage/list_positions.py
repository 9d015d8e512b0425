"""Read and repair the positions of an account's lists."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from pynamodb.expressions.condition import Condition
from pynamodb.transactions import TransactWrite

from chalicelib.domain.paging import block_of
from chalicelib.storage import counters
from chalicelib.storage.counters import CounterRow, Listed
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.transactions import Contention, transaction
from chalicelib.storage.forms import SUMMARY, FormTable
from chalicelib.storage.lists import block_key, place


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

    def find_unplaced(self, last: int) -> Iterator[Any]:
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

    def set_total(self, read: int, total: int) -> bool:
        """Replace the stored number of records. Return False if the number has changed.

        Args:
            read: the number when it was loaded.
        """
        return self._commit(lambda write: self._change_total(write, read, total))

    def move_to_end(self, row: Any) -> bool:
        """Move a row to the end of the list.

        Return False if the row has changed since it was loaded.
        """
        total = self.load_total()

        def move(write: TransactWrite) -> None:
            self._change_total(write, total, total + 1)
            self._place(write, row, total + 1)

        return self._commit(move)

    def fill(self, position: int) -> int | None:
        """Move the last row to an empty position. Return the new number of records.

        If no row has a higher position, only the number of records changes. Return None if the list
        has changed since the call started.
        """
        total = self.load_total()
        last = self._last(total)
        if last is None or last.position < position:
            return position - 1 if self.set_total(total, position - 1) else None
        new_total = last.position - 1

        def move(write: TransactWrite) -> None:
            self._change_total(write, total, new_total)
            self._place(write, last, position)

        return new_total if self._commit(move) else None

    def _last(self, total: int) -> Any:
        for block in range(block_of(total), -1, -1):
            key = block_key(self.account_id, block)
            rows = self.row.by_block.query(
                key, self.row.position <= total, scan_index_forward=False, limit=1
            )
            for row in rows:
                return row
        return None

    def _place(self, write: TransactWrite, row: Any, position: int) -> None:
        placed = place(self.account_id, position)
        unchanged = self.row.has(position=row.position, list_block=row.list_block)
        write.update(row, self.row.changes(**placed), unchanged)

    def _change_total(self, write: TransactWrite, read: int, total: int) -> None:
        write.update(
            CounterRow(self.account_id, self.kind.value),
            actions=[CounterRow.total.set(total)],
            condition=counters.is_number(CounterRow.total, read),
        )

    def _commit(self, add_writes: Callable[[TransactWrite], None]) -> bool:
        try:
            with transaction() as write:
                add_writes(write)
        except Contention:
            return False
        return True


def customer_positions(account_id: str) -> ListPositions:
    """Return the positions of the account's customers."""
    return ListPositions(account_id, Listed.CUSTOMERS, CustomerRow)


def form_positions(account_id: str, table: FormTable) -> ListPositions:
    """Return the positions of the account's forms in this table."""
    return ListPositions(account_id, table.listed, table.row, table.row.part == SUMMARY)
