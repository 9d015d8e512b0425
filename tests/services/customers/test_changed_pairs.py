"""Test work for a customer whose pair changes while the work runs.

A partner changes the customer Ann, with her pair, into the customer Bob. Work that found Ann by her
pair must not continue with Bob.
"""

from datetime import timedelta
from typing import Any

from admin.services.customers.save import save_customer
from admin.services.feedback.exclude import delete_feedback
from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import CustomerPair, pair_of
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.patch import CustomerPatch
from chalicelib.domain.ids import derived_id
from chalicelib.domain.parsing import parse
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.services.customers.change import change_customer
from chalicelib.services.customers.create import create_customer
from chalicelib.services.customers.read import read_customer
from chalicelib.services.feedback.process import process_feedback
from chalicelib.storage import customers, feedback
from chalicelib.storage.customers import CustomerPairRow, CustomerRow
from chalicelib.storage.dynamodb.table import account_key
from tests.aws.faults import before_request, inject_fault
from tests.services.customers.importing import (
    accept_batch,
    all_customers,
    outcome_counts,
    run_import,
)
from tests.services.feedback.submitting import answer_contact_form, respondents
from tests.services.purchases import record_purchase
from tests.services.queues import FEEDBACK_QUEUE
from tests.services.solicitation.soliciting import Shop
from tests.web.seeded_account import SeededAccount

ANN = "ann@example.test"
BOB = "bob@example.test"


def change_to_bob(account_id: str, customer_id: str | None) -> None:
    patch = CustomerPatch.model_validate({"email": BOB})
    assert customer_id
    change_customer(account_id, customer_id, patch)


def with_email(account_id: str, email: str) -> list[Customer]:
    return customers.find_by_email(account_id, email)


def purchase_of_ann(shop: Shop, optin: bool = False, **fields: Any) -> Purchase:
    definition = shop.definition(**{"customer": {"email": ANN, "emailOptin": optin}, **fields})
    return record_purchase(shop.account_id, definition, solicit=True)


def test_purchase_does_not_turn_optin_of_changed_customer_on(shop: Shop) -> None:
    first = purchase_of_ann(shop)
    change = lambda: change_to_bob(shop.account_id, first.customer_id)  # noqa: E731
    with before_request("TransactWriteItems", change):
        second = purchase_of_ann(shop, optin=True)
    (bob,), (ann,) = with_email(shop.account_id, BOB), with_email(shop.account_id, ANN)
    assert (bob.id, bob.email_optin, bob.purchase_count) == (first.customer_id, False, 1)
    assert (ann.id, ann.email_optin, ann.purchase_count) == (second.customer_id, True, 1)


def test_updated_purchase_stays_with_changed_customer_without_optin(shop: Shop) -> None:
    first = purchase_of_ann(shop, externalId="1")
    change_to_bob(shop.account_id, first.customer_id)
    second = purchase_of_ann(shop, optin=True, externalId="1")
    assert second.customer_id == first.customer_id
    bob = read_customer(shop.account_id, second.customer_id or "")
    assert (bob.email, bob.email_optin, bob.purchase_count) == (BOB, False, 1)


def test_purchase_does_not_return_to_changed_customer(shop: Shop) -> None:
    first = purchase_of_ann(shop, externalId="1")
    other = purchase_of_ann(shop, externalId="1", customer={"email": "cy@example.test"})
    assert other.customer_id != first.customer_id
    change_to_bob(shop.account_id, first.customer_id)
    third = purchase_of_ann(shop, optin=True, externalId="1")
    (bob,), (ann,) = with_email(shop.account_id, BOB), with_email(shop.account_id, ANN)
    assert (bob.id, bob.email_optin, bob.purchase_count) == (first.customer_id, False, 0)
    assert (ann.id, ann.email_optin, ann.purchase_count) == (third.customer_id, True, 1)
    assert purchase_of_ann(shop, externalId="1", optin=True).customer_id == ann.id


def test_purchase_does_not_return_to_customer_whose_change_is_visible_in_part(shop: Shop) -> None:
    first = purchase_of_ann(shop, externalId="1")
    purchase_of_ann(shop, externalId="1", customer={"email": "cy@example.test"})
    pair = pair_of(ANN, None)
    assert pair
    CustomerPairRow(account_key(shop.account_id, pair.digest)).delete()
    with before_request(
        "TransactWriteItems", lambda: change_to_bob(shop.account_id, first.customer_id)
    ):
        third = purchase_of_ann(shop, externalId="1")
    (ann,) = with_email(shop.account_id, ANN)
    assert ann.id == third.customer_id != first.customer_id


def test_import_does_not_fill_changed_customer(account: str) -> None:
    accepted = accept_batch(account, {"batch": [{"email": ANN}]})
    run_import(account, accepted.id)
    (existing,) = all_customers(account)
    row = {"email": ANN, "firstName": "Ann", "description": "Prefers quiet tables"}
    accepted = accept_batch(account, {"batch": [row, {"email": "cy@example.test"}]})
    change = lambda: change_to_bob(account, existing.id)  # noqa: E731
    with before_request("TransactWriteItems", change):
        progress = run_import(account, accepted.id)
    assert outcome_counts(progress) == {"created": 2}
    (bob,), (ann,) = with_email(account, BOB), with_email(account, ANN)
    assert (bob.id, bob.first_name, bob.description) == (existing.id, None, None)
    assert (ann.first_name, ann.description) == ("Ann", "Prefers quiet tables")


def test_import_does_not_create_part_of_deleted_customer(account: str) -> None:
    customer = create_customer(account, parse({"email": ANN}, CustomerBody))
    accepted = accept_batch(account, {"batch": [{"email": ANN, "company": "Other"}]})
    key = account_key(account, customer.id)
    with before_request("TransactWriteItems", CustomerRow(key).delete):
        run_import(account, accepted.id)
    assert customers.find(account, customer.id) is None


def test_row_of_pair_that_is_added_during_change_is_kept(account: str) -> None:
    first = create_customer(account, parse({"email": ANN}, CustomerBody))
    digest = CustomerPair(ANN, "").digest
    # A restore can have removed the row.
    CustomerPairRow(account_key(account, digest)).delete()

    def add() -> None:
        create_customer(account, parse({"email": ANN}, CustomerBody))

    with before_request("TransactWriteItems", add):
        change_to_bob(account, first.id)
    (ann,) = with_email(account, ANN)
    assert customers.find_by_pair(account, digest) == ann.id


def test_pair_that_older_customer_gets_during_change_stays_with_it(account: str) -> None:
    with clock.fixed_at(clock.now() - timedelta(seconds=1)):
        older = create_customer(account, parse({"firstName": "a"}, CustomerBody))
    newer = create_customer(account, parse({"firstName": "b"}, CustomerBody))
    patch = CustomerPatch.model_validate({"email": ANN})
    with before_request("TransactWriteItems", lambda: change_customer(account, older.id, patch)):
        change_customer(account, newer.id, patch)
    assert customers.find_by_pair(account, CustomerPair(ANN, "").digest) == older.id


def test_pair_does_not_pass_to_customer_that_leaves_it_meanwhile(account: str) -> None:
    first, second = (create_customer(account, parse({"email": ANN}, CustomerBody)) for _ in "ab")
    other = CustomerPatch.model_validate({"email": "cy@example.test"})
    with before_request("TransactWriteItems", lambda: change_customer(account, second.id, other)):
        change_to_bob(account, first.id)
    assert customers.find_by_pair(account, CustomerPair(ANN, "").digest) is None


def test_filling_existing_customers_takes_three_requests(account: str) -> None:
    run_import(account, accept_batch(account, {"batch": [{"email": ANN}, {"email": BOB}]}).id)
    rows = [{"email": email, "firstName": "Zoé"} for email in (ANN, BOB)]
    accepted = accept_batch(account, {"batch": rows})
    with inject_fault() as requests:
        progress = run_import(account, accepted.id)
    assert outcome_counts(progress) == {"filled": 2}
    assert requests.operations.count("TransactWriteItems") == 1


def test_feedback_is_not_counted_for_changed_customer(seeded: SeededAccount) -> None:
    first = answer_contact_form(seeded, mail=ANN)
    process_feedback([first.id])
    (ann,) = respondents(seeded)
    second = answer_contact_form(seeded, mail=ANN)
    change = lambda: change_to_bob(seeded.account_id, ann.id)  # noqa: E731
    with before_request("TransactWriteItems", change):
        process_feedback([second.id])
    (bob,), (new,) = with_email(seeded.account_id, BOB), with_email(seeded.account_id, ANN)
    assert (bob.id, bob.feedback_count, new.feedback_count) == (ann.id, 1, 1)
    stored = feedback.find(second.id)
    assert stored
    assert stored.feedback.customer_id == new.id


def test_feedback_stays_with_customer_that_was_created_for_it(seeded: SeededAccount) -> None:
    record = answer_contact_form(seeded, mail=ANN)
    customer_id = derived_id(record.id, "customer")
    # A restore can keep the customer, and lose that the feedback was processed.
    save_customer(seeded.account_id, {"id": customer_id, "email": BOB})
    assert record.id in process_feedback([record.id])
    (bob,) = respondents(seeded)
    assert (bob.id, bob.email, bob.feedback_count) == (customer_id, BOB, 1)


def test_change_of_customer_without_counts_keeps_feedback_that_is_counted_meanwhile(
    seeded: SeededAccount,
) -> None:
    deleted = answer_contact_form(seeded, mail=ANN, nps="9")
    FEEDBACK_QUEUE.deliver_all(seeded.account_id)
    delete_feedback(deleted.id, "anna")
    (ann,) = respondents(seeded)
    assert ann.feedback_count == 0
    answer_contact_form(seeded, mail=ANN, nps="8")
    patch = CustomerPatch.model_validate({"firstName": "Ann"})
    with before_request("UpdateItem", lambda: FEEDBACK_QUEUE.deliver_all(seeded.account_id)):
        change_customer(seeded.account_id, ann.id, patch)
    (changed,) = respondents(seeded)
    assert (changed.first_name, changed.feedback_count) == ("Ann", 1)
    assert (changed.rating_sum, changed.rating_count) == (8, 1)
