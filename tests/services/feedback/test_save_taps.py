"""Tests of saved taps: what is saved, until when it can be changed, and what it becomes."""

from datetime import timedelta
from typing import Any

import pytest

from admin.domain.feedback_filter import FeedbackFilter
from admin.services.feedback.exclude import delete_feedback, mark_test
from admin.services.feedback.find import find_feedback
from admin.services.feedback.republish import republish_feedback
from admin.services.feedback.selection import list_feedback
from admin.services.recount.recount import recount
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.errors import Conflict, InvalidInput, NotFound
from chalicelib.domain.feedback.feed import FeedRequest
from chalicelib.domain.feedback.feedback import Feedback, feedback_id_of
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.feedback.submission import SurveySubmission
from chalicelib.domain.feedback.taps import MAX_SAVES, SAVED_FOR
from chalicelib.domain.forms.access import TrackerUsed
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.ids import new_id
from chalicelib.domain.parsing import parse
from chalicelib.services.feedback.feed import read_feed, read_partner_feedback
from chalicelib.services.feedback.process import process_feedback
from chalicelib.services.feedback.save_taps import find_saved_answers, save_taps
from chalicelib.services.feedback.submit import SubmissionMetadata
from chalicelib.services.work.sweep import sweep
from chalicelib.storage import feedback, trackers
from chalicelib.storage.feedback import FeedbackRow
from tests.aws.faults import before_request
from tests.domain.forms.factories import field, select
from tests.services.erasure.erasing import erase, finish
from tests.services.feedback.submitting import answer_survey
from tests.services.kinds import FEEDBACK
from tests.services.moved_time import Time
from tests.services.queues import FEEDBACK_QUEUE
from tests.web.seeded_account import SeededAccount

SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def _no_index_lag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("admin.services.recount.recount.INDEX_LAG_S", 0)


def tap(
    seeded: SeededAccount, tracker: str | None, view: str = "view", sequence: str = "1", **taps: str
) -> None:
    fields = [{"id": seeded.fields[key], "values": [value]} for key, value in taps.items()]
    body = {"id": seeded.private_survey_id, "fields": fields, "step": "save", "sequence": sequence}
    if tracker:
        body["tracker"] = tracker
    save_taps(parse(body, SurveySubmission), SubmissionMetadata(idempotency_key=view))


def follow(seeded: SeededAccount, tracker: str) -> None:
    body = {"id": seeded.private_survey_id, "tracker": tracker, "step": "follow"}
    save_taps(parse(body, SurveySubmission), SubmissionMetadata())


def end(seeded: SeededAccount, time: Time, after: timedelta = SAVED_FOR) -> None:
    """Let the time of the saved taps end, and process them."""
    time.ahead += after
    sweep(FEEDBACK)
    FEEDBACK_QUEUE.deliver_all(seeded.account_id)


def saved(tracker: str) -> StoredFeedback | None:
    feedback_id = feedback_id_of(tracker)
    return feedback.find_many([feedback_id], with_taps=True).get(feedback_id)


def answers(tracker: str) -> dict[str, list[str]]:
    stored = saved(tracker)
    return {each.key: each.values for each in stored.feedback.answers} if stored else {}


def read_tracker(tracker_id: str) -> Tracker:
    tracker = trackers.find(tracker_id)
    assert tracker
    return tracker


def listed(seeded: SeededAccount) -> list[Feedback]:
    return [each.feedback for each in find_feedback(seeded.account_id, FeedbackFilter())]


def in_feed(seeded: SeededAccount) -> list[tuple[str, bool]]:
    page = read_feed(seeded.account_id, FeedRequest())
    assert not page.removed
    return [(each.id, each.partial) for each in page.items]


def test_taps_become_one_partial_feedback_after_their_time(
    seeded: SeededAccount, time: Time
) -> None:
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="9")
    end(seeded, time, SAVED_FOR - SECOND * 2)
    assert (seeded.counts[2], in_feed(seeded), listed(seeded)) == (0, [], [])
    assert read_tracker(tracker).used_at is None
    end(seeded, time, SECOND * 3)
    end(seeded, time)
    (record,) = listed(seeded)
    assert (record.id, record.is_partial, record.rating) == (feedback_id_of(tracker), True, 9)
    assert (record.tracker_id, record.customer_id) == (tracker, seeded.customer_id)
    assert record.redirect_to == ""
    assert (seeded.counts[2], seeded.customer.feedback_count) == (1, 1)
    assert in_feed(seeded) == [(record.id, True)]
    used = read_tracker(tracker)
    assert (used.used_at, used.feedback_id) == (record.created_at, record.id)
    assert (used.tapped_at, used.saves) == (None, ())
    assert list(recount(seeded.account_id, fix=False)) == []


def test_saved_taps_are_not_feedback_before_they_end(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="9")
    feedback_id = feedback_id_of(tracker)
    republish_feedback(seeded.account_id)
    assert in_feed(seeded) == []
    with pytest.raises(NotFound):
        read_partner_feedback(seeded.account_id, feedback_id)
    with pytest.raises(NotFound):
        mark_test(feedback_id, is_test=True)
    assert not delete_feedback(feedback_id, "anna")
    assert list_feedback(seeded.account_id, seeded.customer_id) == []
    assert answers(tracker) == {"nps": ["9"]}


def test_later_taps_replace_earlier_ones_and_keep_their_end(
    seeded: SeededAccount, time: Time
) -> None:
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="9")
    time.ahead += SAVED_FOR - SECOND * 3
    tap(seeded, tracker, "another phone", nps="3", what="Price")
    assert find_saved_answers(read_tracker(tracker)) == {"nps": ["3"], "what": ["Price"]}
    end(seeded, time, SECOND * 4)
    (record,) = listed(seeded)
    assert (record.rating, record.is_partial) == (3, True)


def test_sending_replaces_taps(seeded: SeededAccount, time: Time) -> None:
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="9")
    sent = answer_survey(seeded, tracker, nps="2", note="Cold soup")
    assert not sent.is_partial
    FEEDBACK_QUEUE.deliver_all(seeded.account_id)
    end(seeded, time)
    (record,) = listed(seeded)
    assert (record.id, record.rating, record.is_partial) == (sent.id, 2, False)
    assert seeded.counts[2] == 1
    tap(seeded, tracker, nps="9")
    assert listed(seeded)[0].rating == 2


def test_sent_survey_can_be_sent_again_only_with_its_key(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="9")
    first = answer_survey(seeded, tracker, key="k1", nps="8")
    assert answer_survey(seeded, tracker, key="k1", nps="8") == first
    for key in ("k2", None):
        with pytest.raises(TrackerUsed):
            answer_survey(seeded, tracker, key=key, nps="8")


def test_ended_taps_cannot_be_changed(seeded: SeededAccount, time: Time) -> None:
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="9")
    end(seeded, time)
    tap(seeded, tracker, nps="1")
    with pytest.raises(TrackerUsed):
        answer_survey(seeded, tracker, nps="1")
    assert [record.rating for record in listed(seeded)] == [9]


def test_overdue_taps_can_be_sent_but_not_changed(seeded: SeededAccount, time: Time) -> None:
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="9")
    time.ahead += SAVED_FOR + SECOND
    tap(seeded, tracker, nps="1")
    assert answers(tracker) == {"nps": ["9"]}
    assert answer_survey(seeded, tracker, nps="1").rating == 1


def test_form_that_changes_or_closes_keeps_taps(seeded: SeededAccount, time: Time) -> None:
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="9", what="Food")
    version = answers(tracker), saved(tracker)
    changed = [select("what", "Bar", "Price", id=seeded.fields["what"])]
    seeded.survey(seeded.private_survey_id, enabled=False, fields=changed)
    end(seeded, time)
    (record,) = listed(seeded)
    assert version[1]
    assert record == version[1].feedback
    assert seeded.counts[2] == 1


def test_save_takes_two_requests(seeded: SeededAccount) -> None:
    answer_survey(seeded, seeded.tracker())
    tracker = seeded.tracker()
    for nps in ("9", "8"):
        with counted_calls() as calls:
            tap(seeded, tracker, nps=nps)
        assert dict(calls) == {"dynamodb.BatchGetItem": 1, "dynamodb.TransactWriteItems": 1}
    with counted_calls() as calls:
        answer_survey(seeded, tracker, nps="8")
    assert calls.total() == 3
    with counted_calls() as calls:
        tap(seeded, tracker, nps="1")
    assert calls.total() == 1


@pytest.mark.parametrize(
    ("taps", "pointer", "code"),
    [
        ({"note": "Cold"}, "/fields/0/values/0", "not_allowed"),
        ({"mail": "zoe@example.test"}, "/fields/0/values/0", "not_allowed"),
        ({"nps": "11"}, "/fields/0/values/0", "not_allowed"),
        ({"what": "Bar"}, "/fields/0/values/0", "not_allowed"),
    ],
)
def test_save_of_text_or_invalid_value_is_rejected(
    seeded: SeededAccount, taps: dict[str, str], pointer: str, code: str
) -> None:
    tracker = seeded.tracker()
    with pytest.raises(InvalidInput) as raised:
        tap(seeded, tracker, **taps)
    assert [(each.pointer, each.code) for each in raised.value.errors] == [(pointer, code)]
    assert saved(tracker) is None


def test_own_value_of_choice_is_not_saved(seeded: SeededAccount) -> None:
    own = select("what", "Food", "Price", id=seeded.fields["what"], allowCustomValue=True)
    seeded.survey(seeded.private_survey_id, fields=[own])
    tracker = seeded.tracker()
    with pytest.raises(InvalidInput):
        tap(seeded, tracker, what="My own words")
    assert answer_survey(seeded, tracker, what="My own words")


def test_first_choice_of_several_is_saved(seeded: SeededAccount) -> None:
    several = select(
        "what", "Food", "Price", id=seeded.fields["what"], type="MULTI_SELECT",
        allowMinReplies=True, minReplies=2, required=True,
    )  # fmt: skip
    seeded.survey(seeded.private_survey_id, fields=[several])
    tracker = seeded.tracker()
    tap(seeded, tracker, what="Food")
    assert answers(tracker) == {"what": ["Food"]}


def test_save_of_unknown_tracker_or_disabled_survey_is_rejected(seeded: SeededAccount) -> None:
    for other in (new_id(), seeded.tracker(seeded.survey_id)):
        with pytest.raises(NotFound):
            tap(seeded, other, nps="9")
    tracker = seeded.tracker()
    seeded.survey(seeded.private_survey_id, enabled=False)
    for taps in ({"nps": "9"}, {"note": "Cold"}):
        with pytest.raises(Conflict):
            tap(seeded, tracker, **taps)
    assert saved(tracker) is None


def test_survey_that_saves_no_taps_ignores_them(seeded: SeededAccount) -> None:
    seeded.survey(seeded.private_survey_id, saveTaps=False)
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="9")
    assert (saved(tracker), read_tracker(tracker).tapped_at) == (None, None)


def test_taps_are_saved_only_with_required_consent(seeded: SeededAccount, time: Time) -> None:
    ids = seeded.fields
    consent = field("consent", "CHECKBOX", id=ids["mail"], required=True, verticalIndex=1)
    note = field("note", "LONG_TEXT", id=ids["note"], required=True, verticalIndex=2)
    nps = field("nps", "NPS", id=ids["nps"], verticalIndex=3)
    seeded.survey(seeded.private_survey_id, fields=[consent, note, nps])
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="9")
    assert saved(tracker) is None
    tap(seeded, tracker, nps="9", mail="true")
    assert answers(tracker) == {"nps": ["9"], "consent": ["true"]}
    tap(seeded, tracker, nps="9")
    assert (saved(tracker), read_tracker(tracker).tapped_at) == (None, None)
    end(seeded, time)
    assert listed(seeded) == []


def test_hidden_consent_is_not_required(seeded: SeededAccount) -> None:
    consent = field("consent", "CHECKBOX", id=seeded.fields["mail"], required=True)
    condition = {
        "field": "consent",
        "dependsOnField": "nps",
        "dependsOnFieldValues": [{"operator": "$lt", "value": "5"}],
    }
    nps = field("nps", "NPS", id=seeded.fields["nps"])
    seeded.survey(seeded.private_survey_id, fields=[nps, consent], fieldDependencies=[condition])
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="9")
    assert answers(tracker) == {"nps": ["9"]}
    tap(seeded, tracker, nps="4")
    assert answers(tracker) == {}


def test_removed_answer_is_not_saved_any_more(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="9")
    tap(seeded, tracker)
    assert (saved(tracker), read_tracker(tracker).tapped_at) == (None, None)
    tap(seeded, tracker, nps="5")
    assert answers(tracker) == {"nps": ["5"]}


def test_tracker_accepts_limited_number_of_saves(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    for number in range(MAX_SAVES):
        tap(seeded, tracker, nps=str(number % 11))
    assert answers(tracker) == {"nps": [str((MAX_SAVES - 1) % 11)]}
    tap(seeded, tracker, nps="0")
    assert answers(tracker) == {"nps": [str((MAX_SAVES - 1) % 11)]}
    assert answer_survey(seeded, tracker, nps="0").rating == 0


def test_overtaken_save_of_same_page_view_is_ignored(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    tap(seeded, tracker, sequence="2", nps="9")
    tap(seeded, tracker, sequence="1", nps="3")
    assert answers(tracker) == {"nps": ["9"]}
    tap(seeded, tracker, sequence="2", nps="4")
    assert answers(tracker) == {"nps": ["4"]}
    tap(seeded, tracker, "another view", sequence="1", nps="5")
    assert answers(tracker) == {"nps": ["5"]}


def test_different_ratings_from_three_page_views_are_discarded(
    seeded: SeededAccount, time: Time, caplog: pytest.LogCaptureFixture
) -> None:
    person, scanner = seeded.tracker(), seeded.tracker()
    for view, nps in (("a", "7"), ("a", "8"), ("a", "9"), ("b", "5"), ("c", "5"), ("c", "9")):
        tap(seeded, person, view, nps=nps)
    assert answers(person) == {"nps": ["9"]}
    for nps in range(11):
        tap(seeded, scanner, str(nps), nps=str(nps))
        assert (saved(scanner) is None) == (nps >= 2)
    assert [record.getMessage() for record in caplog.records].count("taps discarded") == 1
    assert read_tracker(scanner).tapped_at is None
    end(seeded, time)
    assert [record.tracker_id for record in listed(seeded)] == [person]
    assert answer_survey(seeded, scanner, nps="7").rating == 7


def test_following_offer_saves_nothing_and_is_recorded(seeded: SeededAccount, time: Time) -> None:
    follow(seeded, seeded.tracker())
    tracker = seeded.tracker()
    with counted_calls() as calls:
        follow(seeded, tracker)
    assert calls.total() == 2
    assert read_tracker(tracker).tapped_at
    end(seeded, time)
    assert listed(seeded) == []
    answer_survey(seeded, tracker, nps="9")
    follow(seeded, tracker)
    assert read_tracker(tracker).tapped_at is None


def test_erasure_ends_and_anonymizes_taps(seeded: SeededAccount, time: Time) -> None:
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="9", what="Food")
    erase(seeded.account_id, seeded.customer_id)
    stored = feedback.find(feedback_id_of(tracker))
    assert stored
    assert [answer.key for answer in stored.feedback.answers] == ["nps"]
    assert (stored.feedback.customer_id, stored.feedback.tracker_id) == (None, None)
    with pytest.raises(NotFound):
        tap(seeded, tracker, nps="1", what="Food")
    end(seeded, time)
    finish(seeded.account_id, seeded.customer_id, time)
    (record,) = listed(seeded)
    assert (record.rating, record.is_partial, record.is_anonymized) == (9, True, True)
    assert seeded.counts[2] == 1
    assert list(recount(seeded.account_id, fix=False)) == []


def test_taps_saved_during_erasure_are_anonymized(
    seeded: SeededAccount, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulate a save after the erasure has read the feedback, before it deletes the tracker."""
    tracker = seeded.tracker()
    of_customer, saves = trackers.rows_of_customer, iter([{"nps": "9", "what": "Food"}])

    def save_first(*args: Any) -> Any:
        for taps in saves:
            tap(seeded, tracker, **taps)
        return of_customer(*args)

    monkeypatch.setattr("chalicelib.services.erasure.erase.trackers.rows_of_customer", save_first)
    erase(seeded.account_id, seeded.customer_id)
    assert trackers.find(tracker) is None
    finish(seeded.account_id, seeded.customer_id, time)
    end(seeded, time)
    (record,) = listed(seeded)
    assert ([answer.key for answer in record.answers], record.customer_id) == (["nps"], None)


def test_concurrent_saves_are_both_counted(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    with before_request("TransactWriteItems", lambda: tap(seeded, tracker, "other", nps="3")):
        tap(seeded, tracker, nps="9")
    assert answers(tracker) == {"nps": ["9"]}
    assert [save.rating for save in read_tracker(tracker).saves] == [3, 9]


def test_later_save_is_stored_if_an_earlier_one_changes_the_answers_meanwhile(
    seeded: SeededAccount,
) -> None:
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="9")
    with before_request("TransactWriteItems", lambda: tap(seeded, tracker, "view", "2", nps="3")):
        tap(seeded, tracker, "view", "3", nps="9")
    assert [save.rating for save in read_tracker(tracker).saves] == [9, 3, 9]
    assert answers(tracker) == {"nps": ["9"]}


def test_following_offer_while_tap_is_saved_keeps_both(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    with before_request("UpdateItem", lambda: tap(seeded, tracker, nps="3")):
        follow(seeded, tracker)
    assert [save.rating for save in read_tracker(tracker).saves] == [3]


def test_following_offer_while_survey_is_sent_changes_nothing(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    with before_request("UpdateItem", lambda: answer_survey(seeded, tracker, nps="3")):
        follow(seeded, tracker)
    assert read_tracker(tracker).tapped_at is None


def test_save_while_survey_is_sent_changes_nothing(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="8")
    with before_request("TransactWriteItems", lambda: answer_survey(seeded, tracker, nps="2")):
        tap(seeded, tracker, nps="9")
    assert answers(tracker) == {"what": ["Food"], "nps": ["2"]}


def test_taps_are_changed_while_they_end_at_most_once(seeded: SeededAccount, time: Time) -> None:
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="8")
    with before_request("TransactWriteItems", lambda: end(seeded, time)):
        tap(seeded, tracker, nps="9")
    assert [record.rating for record in listed(seeded)] == [8]
    assert seeded.counts[2] == 1


def test_taps_that_end_together_are_counted_in_one_transaction_if_one_of_them_is_sent_meanwhile(
    seeded: SeededAccount, time: Time
) -> None:
    first, second = seeded.tracker(), seeded.tracker()
    for tracker in (first, second):
        tap(seeded, tracker, nps="8")
    time.ahead += SAVED_FOR
    ids = [feedback_id_of(tracker) for tracker in (first, second)]
    send = lambda: answer_survey(seeded, first, nps="2")  # noqa: E731
    with before_request("TransactWriteItems", send) as requests:
        process_feedback(ids)
    assert requests.operations.count("TransactWriteItems") == 3
    assert [record.rating for record in listed(seeded)] == [8, 2]


def test_record_of_saved_taps_is_planned(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    tap(seeded, tracker, nps="8")
    stored = saved(tracker)
    assert stored
    row = FeedbackRow.get(stored.feedback.id)
    end_at = int((stored.feedback.created_at + SAVED_FOR).timestamp())
    assert (row.due_at, row.ready_at, row.state) == (end_at, end_at, "PENDING")


def test_saved_taps_have_the_labels_of_their_link(seeded: SeededAccount, time: Time) -> None:
    seeded.survey(seeded.private_survey_id, labels={"table": {"maxDigits": 2}})
    tracker = seeded.tracker()
    answer = {"id": seeded.fields["nps"], "values": ["9"]}
    body = {"id": seeded.private_survey_id, "tracker": tracker, "fields": [answer], "step": "save"}
    body["sequence"] = "1"
    for labels, code in (({"table": "123"}, "not_allowed"), ({"name": "Zoé"}, "unknown_key")):
        with pytest.raises(InvalidInput) as caught:
            save_taps(parse(body | {"labels": labels}, SurveySubmission), SubmissionMetadata())
        assert [error.code for error in caught.value.errors] == [code]
    save_taps(parse(body | {"labels": {"table": "12"}}, SurveySubmission), SubmissionMetadata())
    end(seeded, time)
    (record,) = listed(seeded)
    assert (record.is_partial, record.labels) == (True, {"table": "12"})
