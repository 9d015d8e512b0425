"""Test that marking feedback as a test, or deleting feedback, changes the counts exactly once."""

import pytest

from admin.services.feedback.exclude import delete_feedback, mark_test
from admin.services.feedback.find import read_feedback
from admin.storage import counts
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.forms.access import TrackerUsed
from chalicelib.domain.ids import new_id
from chalicelib.storage import feedback
from chalicelib.storage.counters import Counted
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.table import account_key
from tests.services.feedback.submitting import answer_contact_form, answer_survey
from tests.services.queues import FEEDBACK_QUEUE
from tests.web.seeded_account import SeededAccount


def process(seeded: SeededAccount) -> None:
    assert FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(seeded.account_id)) == []


def rated(seeded: SeededAccount, *ratings: str) -> list[Feedback]:
    """Submit and process one survey response with each rating, all from the same customer."""
    submitted = [answer_survey(seeded, seeded.tracker(), nps=rating) for rating in ratings]
    process(seeded)
    return submitted


def account_count(seeded: SeededAccount) -> int:
    return counts.load_counts(seeded.account_id)[Counted.FEEDBACK].number


def means(seeded: SeededAccount) -> tuple[int, str | None, str | None]:
    customer = seeded.customer
    return customer.feedback_count, customer.average_feedback_rating, customer.type


def test_delete_updates_submission_count_and_mean_rating(seeded: SeededAccount) -> None:
    low, high = rated(seeded, "2", "9")
    assert delete_feedback(low.id, "operator")
    assert seeded.counts == (0, 0, 1)
    assert account_count(seeded) == 1
    assert means(seeded) == (1, "9", "Both")
    assert delete_feedback(high.id, "operator")
    assert seeded.counts == (0, 0, 0)
    assert means(seeded) == (0, None, "Purchaser")


def test_repeated_delete_changes_nothing(seeded: SeededAccount) -> None:
    low, _ = rated(seeded, "2", "9")
    assert delete_feedback(low.id, "operator")
    assert not delete_feedback(low.id, "operator")
    assert seeded.counts == (0, 0, 1)
    assert feedback.find(low.id) is None


def test_deleted_feedback_without_customer_changes_only_submission_count(
    seeded: SeededAccount,
) -> None:
    submitted = answer_contact_form(seeded)
    process(seeded)
    assert delete_feedback(submitted.id, "operator")
    assert seeded.counts == (0, 0, 0)


def test_repeated_submission_after_delete_is_conflict(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    submitted = answer_survey(seeded, tracker, "key", nps="9")
    assert delete_feedback(submitted.id, "operator")
    with pytest.raises(TrackerUsed):
        answer_survey(seeded, tracker, "key", nps="9")


def test_delete_of_pending_feedback_keeps_counts(seeded: SeededAccount) -> None:
    submitted = answer_contact_form(seeded)
    assert delete_feedback(submitted.id, "operator")
    process(seeded)
    assert seeded.counts == (0, 0, 0)


def test_delete_after_deletion_of_customer_updates_submission_count(seeded: SeededAccount) -> None:
    (low,) = rated(seeded, "2")
    CustomerRow(account_key(seeded.account_id, seeded.customer_id)).delete()
    assert delete_feedback(low.id, "operator")
    assert seeded.counts == (0, 0, 0)


def test_mark_test_excludes_feedback_from_counts_until_unmarked(seeded: SeededAccount) -> None:
    low, _ = rated(seeded, "2", "9")
    assert mark_test(low.id, is_test=True)
    assert read_feedback(low.id).is_test
    assert account_count(seeded) == 1
    assert (seeded.counts, means(seeded)) == ((0, 0, 1), (1, "9", "Both"))
    assert mark_test(low.id, is_test=False)
    assert not read_feedback(low.id).is_test
    assert (seeded.counts, means(seeded)) == ((0, 0, 2), (2, "5.5", "Both"))


@pytest.mark.parametrize("is_test", [True, False])
def test_repeated_mark_changes_nothing(seeded: SeededAccount, is_test: bool) -> None:
    (low,) = rated(seeded, "2")
    mark_test(low.id, is_test=is_test)
    counts = seeded.counts
    assert not mark_test(low.id, is_test=is_test)
    assert seeded.counts == counts


def test_deleting_feedback_marked_as_test_does_not_change_counts(seeded: SeededAccount) -> None:
    low, _ = rated(seeded, "2", "9")
    mark_test(low.id, is_test=True)
    assert delete_feedback(low.id, "operator")
    assert (seeded.counts, means(seeded)) == ((0, 0, 1), (1, "9", "Both"))


def test_pending_feedback_cannot_be_marked(seeded: SeededAccount) -> None:
    submitted = answer_contact_form(seeded)
    with pytest.raises(Conflict):
        mark_test(submitted.id, is_test=True)


def test_unknown_feedback_cannot_be_marked(cloud: None) -> None:
    with pytest.raises(NotFound):
        mark_test(new_id(), is_test=True)


def test_mark_and_delete_send_three_aws_requests(seeded: SeededAccount) -> None:
    low, high = rated(seeded, "2", "9")
    for change in (
        lambda: mark_test(low.id, is_test=True),
        lambda: delete_feedback(high.id, "operator"),
    ):
        with counted_calls() as calls:
            change()
        assert dict(calls) == {"dynamodb.BatchGetItem": 2, "dynamodb.TransactWriteItems": 1}
