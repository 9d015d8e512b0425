"""The table of statistics: the numbers of feedback and surveys by account, day, form and place.

Each transaction that changes a number's records also changes the number. The transactions that
process feedback of an account run one after the other, because all of them change the head of its
feed, so they do not conflict here. The numbers of sent surveys are the sums of rows with a shard at
the end of the key, because claims of surveys run concurrently.
"""

from collections.abc import Iterator, Mapping
from typing import Final
from zlib import crc32

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.feedback.daily import NAMES, SENT, Numbers
from chalicelib.storage.dynamodb.attributes import IntegerAttribute
from chalicelib.storage.dynamodb.table import Key, Table
from chalicelib.storage.dynamodb.unit_of_work import Rows

_SHARDS: Final = 8


class StatisticsRow(Table):
    """The table row of a group. It has an integer attribute for each number that was counted.

    ``revision`` increases with each change of the numbers.
    """

    is_contended = True

    class Meta:
        name = "statistics"

    account_id = UnicodeAttribute(hash_key=True)
    group = UnicodeAttribute(range_key=True)
    vars().update({name: IntegerAttribute(null=True) for name in NAMES})
    revision = IntegerAttribute(null=True)

    @property
    def numbers(self) -> Numbers:
        """The numbers of the group."""
        values = self.attribute_values
        return Numbers({name: values[name] for name in NAMES if name in values})


def add(rows: Rows, account_id: str, numbers: Mapping[str, Numbers], by: int = 1) -> None:
    """Add numbers to groups of an account, in this transaction.

    Args:
        numbers: the numbers by key of the group.
        by: 1 to add the numbers, -1 to subtract them.
    """
    for group, changes in numbers.items():
        key, attributes = Key(StatisticsRow, account_id, group), StatisticsRow.get_attributes()
        added = {name: by * number for name, number in changes.items() if number}
        for name, number in added.items():
            rows.add(key, attributes[name], number)
        if added:
            rows.add(key, StatisticsRow.revision, 1)


def count_sent(
    rows: Rows, account_id: str, solicitation_id: str, before: str | None, now: str | None
) -> None:
    """Move a sent survey from the count of one group to that of another, in this transaction.

    Args:
        before: the key of the group in which it was counted; None if it was not counted.
        now: the key of its new group; None if it does not count any more.
    """
    if before != now:
        for group, by in ((before, -1), (now, 1)):
            if group:
                key = sent_key(group, solicitation_id)
                add(rows, account_id, {key: Numbers({SENT: 1})}, by)


def sent_key(group: str, solicitation_id: str) -> str:
    """Return the key of the row that counts a sent survey of a group."""
    return f"{group}#{crc32(solicitation_id.encode()) % _SHARDS}"


def load_pages(
    account_id: str, since: str = "0", until: str = "9"
) -> Iterator[list[tuple[str, Numbers]]]:
    """Yield the numbers of a period by key of the group, in pages of up to 1 MB.

    One consistent request per page, which has about 4,000 groups.

    Args:
        since: the first day, in ISO 8601. Default: all days.
        until: the last day.
    """
    period = StatisticsRow.group.between(since, f"{until}~")
    for page in StatisticsRow.query(account_id, period, consistent_read=True).page_iter:
        rows = map(StatisticsRow.from_raw_data, page["Items"])
        yield [(row.group, row.numbers) for row in rows]
