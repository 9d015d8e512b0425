"""Test that the removal of conditions knows the terms that decide, and removes only one of them."""

import pytest

from chalicelib.domain import clock
from chalicelib.domain.webhooks.execution import ExecutionPointer
from chalicelib.storage import customers, executions
from chalicelib.storage.dynamodb.unit_of_work import Contention, Rows
from chalicelib.storage.executions import PART, ExecutionRow
from tests.campaign.removal import Recorder, Term


def test_transaction_succeeds_without_the_term_that_decided(account: str) -> None:
    recorder = Recorder()

    def count() -> None:
        rows = Rows()
        key = customers.customer_key(account, "customer")
        customers.count_purchases(rows, key, 1, clock.now())
        rows.send()

    with recorder.installed():
        with pytest.raises(Contention):
            count()
        term = Term("chalicelib/storage/customers.py:count_purchases", "customers", "key")
        assert recorder.decisive == {term, term.whole}
        recorder.removed = term
        count()


@pytest.mark.parametrize(
    ("state", "owner", "decisive"),
    [
        ("PENDING", "other", {"", "account_id"}),
        ("DONE", "this", {"", "state"}),
        ("DONE", "other", {""}),
    ],
)
def test_term_decides_if_all_others_are_true(
    account: str, state: str, owner: str, decisive: set[str]
) -> None:
    row, recorder = ExecutionRow(account, PART), Recorder()
    row.update([ExecutionRow.state.set(state), ExecutionRow.account_id.set(owner)])
    with recorder.installed():
        executions.claim(ExecutionPointer("this", account, "", ""), clock.now())
    place = "chalicelib/storage/executions.py:claim"
    assert recorder.decisive == {Term(place, "executions", each) for each in decisive}
    names = {"", "account_id", "leased_until", "not_before", "state"}
    assert {term.attributes for term in recorder.terms} == names
