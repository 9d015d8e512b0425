"""Tests of purchases, solicitations and messages of erased customers, also of later purchases."""

import json
from contextvars import Context
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from admin.services.accounts.manage import read_stats
from admin.services.customers.save import save_customer
from chalicelib.domain import clock
from chalicelib.domain.customers.patch import CustomerPatch
from chalicelib.domain.erasure.erasure import Erased, Erasure
from chalicelib.domain.feedback.submission import SurveySubmission
from chalicelib.domain.ids import new_id
from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.services.customers.change import change_customer
from chalicelib.services.erasure.erase import continue_erasure, start_erasure
from chalicelib.services.feedback.submit import SubmissionMetadata, submit_feedback
from chalicelib.services.purchases.read import read_purchase
from chalicelib.services.solicitation.link_survey import NoLink, link_survey
from chalicelib.services.solicitation.survey_trackers import read_survey_tracker
from chalicelib.storage import contacts, erasures, purchases, trackers
from chalicelib.storage.customers import CustomerRow, customer_key
from chalicelib.storage.dynamodb.table import account_key, find_row
from chalicelib.storage.dynamodb.unit_of_work import commit
from chalicelib.storage.messages import MessageRow
from chalicelib.storage.purchases import PurchaseRow
from tests.aws.faults import before_request
from tests.aws.stage import tables
from tests.services.erasure.erasing import OPERATOR, erase, erased, finish
from tests.services.moved_time import Time
from tests.services.queues import FEEDBACK_QUEUE, PURCHASE_QUEUE
from tests.services.solicitation.soliciting import Shop, outcome, stored

PERSON = {"email": "zoe@example.test", "phoneNumber": "+33612345678", "emailOptin": True}
OTHER_PERSON = {"email": "ana@example.test", "emailOptin": True}


def message(shop: Shop, **fields: Any) -> str:
    definition = shop.definition(**{"customer": PERSON, "metadata": {"guest": "Zoé"}, **fields})
    return json.dumps({"accountId": shop.account_id, "purchase": definition})


def only_purchase(shop: Shop) -> Purchase:
    (row,) = (row for row in PurchaseRow.scan() if row.account_id == shop.account_id)
    return read_purchase(shop.account_id, row.id)


def customer_of(purchase: Purchase) -> str:
    assert purchase.customer_id
    return purchase.customer_id


def test_erasure_removes_person_from_purchase_and_sent_survey(shop: Shop) -> None:
    purchase = shop.record(customer=PERSON, metadata={"guest": "Zoé"})
    shop.solicit()
    tracker_id = stored(purchase).tracker_id
    assert tracker_id
    erase(shop.account_id, customer_of(purchase))
    ended = finish(shop.account_id, customer_of(purchase), shop.time)
    assert erased(ended) == {
        "customers": 1,
        "purchases": 1,
        "solicitations": 1,
        "trackers": 1,
        "messages": 1,
    }
    kept = read_purchase(shop.account_id, purchase.id)
    assert (kept.customer_id, kept.metadata, kept.attributes) == (None, {}, ())
    assert outcome(purchase) == ("SENT", "")
    assert trackers.find(tracker_id) is None
    assert [row for row in MessageRow.scan() if row.account_id == shop.account_id] == []


def answer(shop: Shop, tracker_id: str | None) -> list[datetime]:
    """Answer a survey, unless its tracker is deleted. Return the days of the answer."""
    if not tracker_id or trackers.find(tracker_id) is None:
        return []
    body = {"id": shop.survey_id, "tracker": tracker_id, "fields": []}
    submit_feedback(parse(body, SurveySubmission), SubmissionMetadata())
    return [midnight(clock.now())]


def midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


@pytest.mark.parametrize("number", [10, 13])
def test_purchase_that_moves_to_other_customer_during_pass_stays_with_it(
    shop: Shop, number: int
) -> None:
    """The purchase moves before its own transaction, or before that of its survey."""
    definition = shop.definition(customer=PERSON)
    purchase = shop.record(**definition)
    moved = {**definition, "customer": OTHER_PERSON, "date": format_timestamp(clock.now())}
    erasure = start_erasure(shop.account_id, customer_of(purchase), OPERATOR)
    with before_request(number, lambda: shop.record(**moved)) as requests:
        continue_erasure(erasure.pointer)
    assert requests.operations[number] == "TransactWriteItems"
    other = read_purchase(shop.account_id, purchase.id).customer_id
    assert other
    assert stored(purchase).customer_id == other


def test_answered_survey_of_erased_person_keeps_only_day_of_answer(shop: Shop) -> None:
    answered, unanswered = shop.record(customer=PERSON), shop.record(customer=OTHER_PERSON)
    shop.solicit()
    (day,) = answer(shop, stored(answered).tracker_id)
    shop.time.ahead += timedelta(days=3)
    for purchase in (answered, unanswered):
        erase(shop.account_id, customer_of(purchase))
        finish(shop.account_id, customer_of(purchase), shop.time)
    view = read_survey_tracker(shop.account_id, answered.id)
    assert (view.state, view.answered_at) == ("SENT", day)
    assert (view.id, view.feedback_id, view.link, view.customer_id) == (None, None, None, None)
    assert read_survey_tracker(shop.account_id, unanswered.id).answered_at is None


@pytest.mark.parametrize("number", range(30))
def test_survey_answered_during_erasure_keeps_day_of_answer(shop: Shop, number: int) -> None:
    purchase = shop.record(customer=PERSON)
    shop.solicit()
    tracker_id, customer_id = stored(purchase).tracker_id, customer_of(purchase)
    answered: list[datetime] = []

    with before_request(number, lambda: answered.extend(answer(shop, tracker_id))):
        erase(shop.account_id, customer_id)
    FEEDBACK_QUEUE.deliver_all(shop.account_id)
    finish(shop.account_id, customer_id, shop.time)
    view = read_survey_tracker(shop.account_id, purchase.id)
    assert [view.answered_at] == (answered or [None])


def test_pending_survey_of_erased_customer_is_skipped(shop: Shop) -> None:
    purchase = shop.record(customer=PERSON)
    erase(shop.account_id, customer_of(purchase))
    assert outcome(purchase) == ("SKIPPED", "ERASED")
    shop.solicit()
    assert shop.provider.sent == []
    assert read_stats(shop.account_id)["surveys_skipped"] == 1


def test_many_pending_surveys_of_erased_customer_are_skipped(shop: Shop) -> None:
    # More than the shards of a counter, so that two surveys have the same shard.
    purchases = [shop.record(customer=PERSON, externalId=new_id()) for _ in range(17)]
    erase(shop.account_id, customer_of(purchases[0]))
    assert {outcome(purchase) for purchase in purchases} == {("SKIPPED", "ERASED")}
    assert read_stats(shop.account_id)["surveys_skipped"] == 17


def test_outcome_of_survey_that_is_being_sent_is_unknown(shop: Shop) -> None:
    purchase = shop.record(customer=PERSON)
    customer_id = customer_of(purchase)
    # The operator erases the customer while the worker sends the message.
    shop.provider.reactions = [lambda _: Context().run(erase, shop.account_id, customer_id)]
    shop.solicit()
    assert outcome(purchase) == ("UNKNOWN", "ERASED")
    stats = read_stats(shop.account_id)
    assert (stats["surveys_unknown"], stats["surveys_sent"]) == (1, 0)
    assert [row for row in MessageRow.scan() if row.account_id == shop.account_id] == []


def test_addresses_stay_suppressed_for_new_customer(shop: Shop) -> None:
    erase(shop.account_id, customer_of(shop.record(customer=PERSON)))
    shop.time.ahead += timedelta(seconds=2)
    again = shop.record(customer=PERSON)
    shop.solicit()
    assert outcome(again) == ("SKIPPED", "ERASED")
    assert shop.provider.sent == []


@pytest.mark.parametrize("named_by", ["addresses", "id"])
def test_purchase_sent_before_erasure_is_recorded_without_person(shop: Shop, named_by: str) -> None:
    customer_id = customer_of(shop.record(customer=PERSON))
    PurchaseRow(account_key(shop.account_id, only_purchase(shop).id)).delete()
    fields = {} if named_by == "addresses" else {"customer": None, "customerId": customer_id}
    late = message(shop, **fields)
    sent_at = clock.now()
    shop.time.ahead += timedelta(minutes=1)
    erase(shop.account_id, customer_id)
    assert PURCHASE_QUEUE.deliver([late], sent_at=sent_at) == []
    purchase = only_purchase(shop)
    assert (purchase.customer_id, purchase.metadata) == (None, {})
    assert [row for row in CustomerRow.scan() if row.account_id == shop.account_id] == []


@pytest.mark.parametrize("phone_number", [None, "+33699999999"])
def test_purchase_in_flight_does_not_restore_person(shop: Shop, phone_number: str | None) -> None:
    customer_id = customer_of(shop.record(customer=PERSON))
    external_id = new_id()
    in_flight = message(
        shop, externalId=external_id, customer=PERSON | {"phoneNumber": phone_number}
    )
    with before_request("TransactWriteItems", lambda: erase(shop.account_id, customer_id)):
        assert PURCHASE_QUEUE.deliver([in_flight], sent_at=clock.now()) == []
    recorded = next(row for row in PurchaseRow.scan() if row.external_id == external_id)
    purchase = read_purchase(shop.account_id, recorded.id)
    assert (purchase.customer_id, purchase.metadata) == (None, {})
    assert [row for row in CustomerRow.scan() if row.account_id == shop.account_id] == []


def test_purchase_in_flight_by_customer_id_does_not_restore_person(shop: Shop) -> None:
    customer_id = customer_of(shop.record(customer=PERSON))
    external_id = new_id()
    in_flight = message(shop, externalId=external_id, customer=None, customerId=customer_id)
    with before_request("TransactWriteItems", lambda: erase(shop.account_id, customer_id)):
        assert PURCHASE_QUEUE.deliver([in_flight], sent_at=clock.now()) == []
    recorded = next(row for row in PurchaseRow.scan() if row.external_id == external_id)
    assert recorded.customer_id is None


def test_purchase_sent_after_erasure_creates_person_again(shop: Shop) -> None:
    first = shop.record(customer=PERSON)
    erase(shop.account_id, customer_of(first))
    shop.time.ahead += timedelta(minutes=1)
    PURCHASE_QUEUE.deliver([message(shop, externalId=new_id())], sent_at=clock.now())
    (customer,) = (row for row in CustomerRow.scan() if row.account_id == shop.account_id)
    assert customer.email == PERSON["email"]
    assert not customer.email_optin


def erase_and_create_again(shop: Shop, time: Time) -> tuple[str, Erasure]:
    """Erase the customer of a purchase, and create it again with the same id and a purchase.

    Return the id of the customer, and the erasure after its first pass.
    """
    body = message(shop, externalId=new_id())
    PURCHASE_QUEUE.deliver([body], sent_at=clock.now())
    customer_id = customer_of(only_purchase(shop))
    erasure = erase(shop.account_id, customer_id)
    time.ahead += timedelta(minutes=1)
    save_customer(shop.account_id, {"id": customer_id, **PERSON})
    PURCHASE_QUEUE.deliver([body], sent_at=clock.now())
    return customer_id, erasure


def test_purchase_creates_erased_person_again_with_another_id(shop: Shop) -> None:
    body = message(shop, externalId=new_id())
    PURCHASE_QUEUE.deliver([body], sent_at=clock.now())
    erased_id = customer_of(only_purchase(shop))
    erase(shop.account_id, erased_id)
    shop.time.ahead += timedelta(minutes=1)
    PURCHASE_QUEUE.deliver([body], sent_at=clock.now())
    PURCHASE_QUEUE.deliver([body], sent_at=clock.now())
    (again,) = (row for row in CustomerRow.scan() if row.account_id == shop.account_id)
    assert again.id == customer_of(only_purchase(shop)) != erased_id
    finish(shop.account_id, erased_id, shop.time)
    assert customer_of(only_purchase(shop)) == again.id


def test_purchase_creates_person_whose_record_changed_after_erasure_again(shop: Shop) -> None:
    first = shop.record(externalId="1")
    assert first.customer_id
    erase(shop.account_id, first.customer_id)
    shop.time.ahead += timedelta(seconds=2)
    second = shop.record(externalId="1", metadata={"note": "second"})
    patch = CustomerPatch.model_validate({"email": "bob@example.test"})
    change_customer(shop.account_id, second.customer_id or "", patch)
    third = shop.record(externalId="1", metadata={"note": "third"})
    assert len({first.customer_id, second.customer_id, third.customer_id}) == 3


def test_purchase_of_person_created_again_with_same_id_is_kept(shop: Shop) -> None:
    customer_id, _ = erase_and_create_again(shop, shop.time)
    assert customer_of(only_purchase(shop)) == customer_id
    finish(shop.account_id, customer_id, shop.time)
    purchase = only_purchase(shop)
    assert (purchase.customer_id, purchase.metadata) == (customer_id, {"guest": "Zoé"})
    assert erase(shop.account_id, customer_id).counts[Erased.CUSTOMERS] == 1
    assert only_purchase(shop).customer_id is None


def test_older_purchase_that_first_pass_did_not_find_is_erased_if_customer_exists_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = shop.record(customer=PERSON, metadata={"guest": "Zoé"})
    shop.time.ahead += timedelta(seconds=1)
    with monkeypatch.context() as patch:
        # The index does not contain the purchase yet.
        patch.setattr(purchases, "rows_of_customer", lambda *_: iter(()))
        erase(shop.account_id, customer_of(older))
    shop.time.ahead += timedelta(minutes=1)
    save_customer(shop.account_id, {"id": customer_of(older), **PERSON})
    newer = shop.record(customer=PERSON, metadata={"guest": "Zoé"})
    finish(shop.account_id, customer_of(older), shop.time)
    after = [read_purchase(shop.account_id, purchase.id) for purchase in (older, newer)]
    assert [each.customer_id for each in after] == [None, customer_of(older)]
    assert [each.metadata for each in after] == [{}, {"guest": "Zoé"}]


def test_purchase_recorded_before_deletion_does_not_belong_to_customer_created_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    customer_id = customer_of(shop.record(customer=PERSON))
    started = start_erasure(shop.account_id, customer_id, OPERATOR)
    shop.time.ahead += timedelta(minutes=1)
    recorded = shop.record(customer=PERSON, metadata={"guest": "Zoé"})
    with monkeypatch.context() as patch:
        # The index does not contain the purchase yet.
        patch.setattr(purchases, "rows_of_customer", lambda *_: iter(()))
        continue_erasure(started.pointer)
    shop.time.ahead += timedelta(minutes=1)
    save_customer(shop.account_id, {"id": customer_id, **PERSON})
    finish(shop.account_id, customer_id, shop.time)
    after = read_purchase(shop.account_id, recorded.id)
    assert (after.customer_id, after.metadata) == (None, {})


def test_erasure_does_not_end_while_index_can_hide_purchase_of_deleted_customer(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    customer_id = customer_of(shop.record(customer=PERSON))
    erasure = start_erasure(shop.account_id, customer_id, OPERATOR)
    # The first pass runs long after the request, just after a purchase of the customer. SQS
    # delivers the message twice, and the index contains the purchase after both passes.
    shop.time.ahead += timedelta(minutes=20)
    recorded = shop.record(customer=PERSON, metadata={"guest": "Zoé"})
    with monkeypatch.context() as patch:
        patch.setattr(purchases, "rows_of_customer", lambda *_: iter(()))
        continue_erasure(erasure.pointer)
        continue_erasure(erasure.pointer)
    finish(shop.account_id, customer_id, shop.time)
    assert read_purchase(shop.account_id, recorded.id).customer_id is None


def test_person_created_again_can_be_erased_before_first_erasure_ends(shop: Shop) -> None:
    customer_id, _ = erase_and_create_again(shop, shop.time)
    erase(shop.account_id, customer_id)
    assert only_purchase(shop).customer_id is None


def test_purchase_recorded_without_person_keeps_time_of_message(shop: Shop) -> None:
    external_id = new_id()
    PURCHASE_QUEUE.deliver([message(shop, externalId=external_id)], sent_at=clock.now())
    shop.time.ahead += timedelta(minutes=2)
    older, newer = clock.now(), clock.now() + timedelta(minutes=1)
    shop.time.ahead += timedelta(minutes=2)
    erase(shop.account_id, customer_of(only_purchase(shop)))
    for sent_at, date in ((newer, newer), (older, older)):
        body = message(shop, externalId=external_id, date=format_timestamp(date))
        PURCHASE_QUEUE.deliver([body], sent_at=sent_at)
    assert only_purchase(shop).date == newer


def test_pass_of_earlier_erasure_does_not_end_restarted_erasure(shop: Shop) -> None:
    customer_id, earlier = erase_and_create_again(shop, shop.time)
    restarted = erasures.find(start_erasure(shop.account_id, customer_id, OPERATOR).id)
    for is_last in (True, False):
        recheck = timedelta(minutes=1)
        commit(partial(erasures.end_pass, erasure=earlier, recheck=recheck, is_last=is_last))
    assert restarted
    assert erasures.find(restarted.id) == restarted


def test_erasure_keeps_only_the_id_in_contact_of_customer_record(shop: Shop) -> None:
    purchase = shop.record(customer=PERSON)
    shop.solicit()
    customer_id = customer_of(purchase)
    erase(shop.account_id, customer_id)
    rows = [row for row in contacts.ContactRow.scan() if row.account_id == shop.account_id]
    assert sum(row.erased_at is not None for row in rows) == 3  # two addresses and the pair
    (own,) = (row for row in rows if row.erased_at is None)
    assert (own.customer_id, own.removed, own.solicited) == (customer_id, True, None)


def test_purchase_that_leaves_erased_customer_does_not_create_the_customer_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_customer(shop.account_id, {"id": new_id(), **OTHER_PERSON})
    monkeypatch.setattr(tables(), "lag_s", 3600.0)  # The erasure does not find the purchase.
    customer_id = customer_of(shop.record(customer=PERSON, externalId="moved"))
    with before_request("TransactWriteItems", lambda: erase(shop.account_id, customer_id)):
        shop.record(customer=OTHER_PERSON, externalId="moved")
    assert find_row(customer_key(shop.account_id, customer_id)) is None


def test_purchase_that_returns_to_erased_customer_creates_the_customer_again(shop: Shop) -> None:
    person = {"firstName": "Zoé"}
    customer_id = customer_of(shop.record(customer=person, externalId="moved"))
    shop.record(customer=OTHER_PERSON, externalId="moved")
    with before_request("TransactWriteItems", lambda: erase(shop.account_id, customer_id)):
        shop.record(customer=person, externalId="moved")
    row = find_row(customer_key(shop.account_id, customer_id))
    assert row
    assert (row.first_name, row.purchase_count) == ("Zoé", 1)


def test_erasure_ends_listing_of_customer_that_a_restore_removed(shop: Shop) -> None:
    customer_id = customer_of(shop.record(customer=PERSON))
    shop.suppress("zoe@example.test", SuppressionReason.UNSUBSCRIBED)
    start_erasure(shop.account_id, customer_id, OPERATOR)
    CustomerRow(account_key(shop.account_id, customer_id)).delete()
    assert contacts.is_listed(shop.account_id, customer_id)
    finish(shop.account_id, customer_id, shop.time)
    assert not contacts.is_listed(shop.account_id, customer_id)


def test_link_for_customer_that_is_erased_meanwhile_is_rejected(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables(), "lag_s", 3600.0)  # The erasure does not find the purchase.
    purchase = shop.record(customer={"firstName": "Zoé"})
    with (
        before_request("TransactWriteItems", lambda: erase(shop.account_id, customer_of(purchase))),
        pytest.raises(NoLink, match="ERASED"),
    ):
        link_survey(shop.account_id, purchase.id)
    assert stored(purchase).tracker_id is None


def test_purchase_of_address_that_is_erased_again_meanwhile_is_recorded_without_person(
    shop: Shop,
) -> None:
    for _ in range(2):
        customer = save_customer(shop.account_id, {"id": new_id(), "email": PERSON["email"]})
        request = partial(start_erasure, shop.account_id, customer.id, OPERATOR)
        with before_request("TransactWriteItems", request):
            purchase = shop.record(customer={**PERSON, "phoneNumber": "+33612345679"})
        assert purchase.customer_id is None
        shop.time.ahead += timedelta(minutes=1)
