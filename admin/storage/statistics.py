"""Read the surveys that the statistics include, and correct the statistics."""

from collections.abc import Iterator

from chalicelib.domain.feedback.daily import NAMES, Numbers
from chalicelib.storage.dynamodb.table import Key, read_indexed
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.solicitations import SolicitationRow
from chalicelib.storage.statistics import StatisticsRow


def counted_surveys(account_id: str) -> Iterator[tuple[str, str]]:
    """Yield the id and the group of each solicitation whose survey is counted as sent.

    One request per MB of index entries and one per 100 surveys. The index is eventually consistent.
    """
    entries = SolicitationRow.by_account.query(
        account_id, filter_condition=SolicitationRow.survey_id.exists()
    )
    for row in read_indexed(entries):
        if row.counted_as:
            yield row.solicitation_id, row.counted_as


def load(account_id: str) -> dict[str, tuple[Numbers, int | None]]:
    """Return the numbers and the revision of each group, by its key. One request per MB."""
    rows = StatisticsRow.query(account_id, consistent_read=True)
    return {row.group: (row.numbers, row.revision) for row in rows}


def correct(
    account_id: str, key: str, before: Numbers, after: Numbers, revision: int | None
) -> bool:
    """Replace the numbers of a group. Return False if they have changed. One request.

    Args:
        before: the numbers as they were loaded.
        revision: the revision as it was loaded.
    """
    row_key, attributes = Key(StatisticsRow, account_id, key), StatisticsRow.get_attributes()

    def correct(rows: Rows) -> bool:
        if rows.has_failed(row_key):
            return False
        rows.expect(row_key, StatisticsRow.revision, revision)
        for name in NAMES:
            if before[name] != after[name]:
                rows.set(row_key, attributes[name], after[name])
        return True

    return commit(correct)
