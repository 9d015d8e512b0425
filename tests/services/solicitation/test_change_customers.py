"""Tests of suppressions whose address more customers have than fit into one transaction."""

from contextlib import suppress as ignored
from datetime import datetime, timedelta

import pytest

from admin.services.customers.save import save_customer
from admin.services.solicitation.suppressions import lift_suppression
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import email_hash, phone_hash
from chalicelib.domain.customers.patch import CustomerPatch
from chalicelib.domain.parsing import parse
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.services.customers.change import change_customer
from chalicelib.services.customers.read import read_customer
from chalicelib.services.work.sweep import sweep
from chalicelib.storage import contacts, suppressions
from chalicelib.storage.contacts import ContactPointer, ContactRow
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.customers import find as stored_customer
from chalicelib.storage.dynamodb.table import account_key
from chalicelib.storage.stage_values import stage_secret
from tests.aws.faults import InjectedFault, Killed, before_request, inject_fault
from tests.services.kinds import SUPPRESSIONS
from tests.services.queues import SUPPRESSION_QUEUE
from tests.services.solicitation.soliciting import Shop
from tests.web.definitions import customer_definition

EMAIL = "zoe@example.test"
CUSTOMERS = 7
UNSUBSCRIBED, BOUNCED = SuppressionReason.UNSUBSCRIBED, SuppressionReason.BOUNCED
OPTED_OUT = SuppressionReason.OPTED_OUT


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suppressions, "_MAX_CUSTOMERS", 2)
    monkeypatch.setattr(suppressions, "_MAX_READ", 3)


@pytest.fixture
def customers(shop: Shop) -> list[str]:
    """Store customers with the same address. Return their ids in the order of the index."""
    stage_secret()  # a warm function has it
    definitions = [customer_definition(email=EMAIL, emailOptin=True) for _ in range(CUSTOMERS)]
    return sorted(save_customer(shop.account_id, each).id for each in definitions)


def optins(shop: Shop, customers: list[str]) -> list[bool]:
    return [read_customer(shop.account_id, each).email_optin for each in customers]


def changed_at(shop: Shop, customers: list[str]) -> list[datetime]:
    return [read_customer(shop.account_id, each).updated_at for each in customers]


def pointer(shop: Shop) -> ContactPointer:
    key = contacts.contact_key(email_hash(shop.account_id, EMAIL) or "")
    return ContactPointer(shop.account_id, key)


def run_worker(shop: Shop) -> None:
    sweep(SUPPRESSIONS)
    SUPPRESSION_QUEUE.deliver_all(shop.account_id)


def test_unsubscription_takes_two_requests_and_worker_changes_further_customers(
    shop: Shop, customers: list[str]
) -> None:
    with counted_calls() as calls:
        shop.suppress(EMAIL, UNSUBSCRIBED)
    assert dict(calls) == {"dynamodb.Query": 1, "dynamodb.TransactWriteItems": 1}
    assert optins(shop, customers) == [False] * 2 + [True] * 5
    first = changed_at(shop, customers[:2])
    run_worker(shop)
    assert optins(shop, customers) == [False] * CUSTOMERS
    assert changed_at(shop, customers[:2]) == first
    row = ContactRow.get(pointer(shop).contact_key)
    assert (row.state, row.due_at, row.work_shard, row.contact_hash) == ("DONE", None, None, None)


def test_repeated_unsubscription_writes_no_customer(shop: Shop, customers: list[str]) -> None:
    shop.suppress(EMAIL, UNSUBSCRIBED)
    run_worker(shop)
    before = changed_at(shop, customers)
    with counted_calls() as calls:
        shop.suppress(EMAIL, UNSUBSCRIBED)
    assert calls.total() == 2
    run_worker(shop)
    assert changed_at(shop, customers) == before


@pytest.mark.parametrize("fault", InjectedFault)
@pytest.mark.parametrize("number", range(9))
def test_interrupted_worker_continues_after_last_changed_customer(
    shop: Shop, customers: list[str], number: int, fault: InjectedFault
) -> None:
    shop.suppress(EMAIL, UNSUBSCRIBED)
    sweep(SUPPRESSIONS)
    messages = SUPPRESSION_QUEUE.queued_messages(shop.account_id)
    with inject_fault(number, fault), ignored(Killed):
        SUPPRESSION_QUEUE.deliver(messages)
    done = [
        each for each, is_on in zip(customers, optins(shop, customers), strict=True) if not is_on
    ]
    # The worker starts with the customers of the first transaction, because it lists them again.
    assert len(done) >= (2, 2, 4)[number // 3]
    before = changed_at(shop, done)
    shop.time.ahead += timedelta(minutes=10)
    run_worker(shop)
    assert optins(shop, customers) == [False] * CUSTOMERS
    assert changed_at(shop, done) == before


def test_worker_skips_customer_whose_address_changes(shop: Shop, customers: list[str]) -> None:
    shop.suppress(EMAIL, UNSUBSCRIBED)
    changed = parse({"email": "new@example.test"}, CustomerPatch)
    sweep(SUPPRESSIONS)
    with before_request(5, lambda: change_customer(shop.account_id, customers[2], changed)):
        SUPPRESSION_QUEUE.deliver_all(shop.account_id)
    assert optins(shop, customers) == [False] * 2 + [True] + [False] * 4


def test_unsubscription_skips_customer_whose_phone_number_changes(shop: Shop) -> None:
    account, number = shop.account_id, "+33612345678"
    definition = {"phoneNumber": number, "smsOptin": True}
    changed, same = (save_customer(account, customer_definition(**definition)).id for _ in "12")
    contact_hash, new = phone_hash(account, number), {"id": changed, "phoneNumber": "+33699999999"}
    assert contact_hash
    with before_request(1, lambda: save_customer(account, new)):
        suppressions.suppress(account, contact_hash, Channel.SMS, UNSUBSCRIBED, clock.now())
    assert read_customer(account, changed).sms_optin
    assert not read_customer(account, same).sms_optin


def test_change_of_customer_turns_other_optins_off_in_steps(
    shop: Shop, customers: list[str]
) -> None:
    refusal = parse({"emailOptin": False}, CustomerPatch)
    with counted_calls() as calls:
        changed = change_customer(shop.account_id, customers[3], refusal)
    assert calls.total() == 4  # two fewer if no other customer has the address
    assert optins(shop, customers).count(False) == 3
    run_worker(shop)
    assert optins(shop, customers) == [False] * CUSTOMERS
    assert read_customer(shop.account_id, customers[3]) == changed


@pytest.mark.parametrize("is_erased", [True, False])
def test_worker_changes_no_customer_without_the_address(
    shop: Shop, customers: list[str], is_erased: bool
) -> None:
    shop.suppress(EMAIL, OPTED_OUT)
    sweep(SUPPRESSIONS)
    messages = SUPPRESSION_QUEUE.queued_messages(shop.account_id)
    row = CustomerRow(account_key(shop.account_id, customers[2]))

    def change() -> None:
        if is_erased:
            row.delete()
        else:
            patch = parse({"email": "new@example.test"}, CustomerPatch)
            change_customer(shop.account_id, customers[2], patch)

    with before_request("TransactWriteItems", change):
        SUPPRESSION_QUEUE.deliver(messages)
    stored = stored_customer(shop.account_id, customers[2])
    assert stored is None if is_erased else stored and stored.email_optin
    run_worker(shop)
    assert optins(shop, customers[3:]) == [False] * (CUSTOMERS - 3)


def test_consent_given_in_between_is_kept(shop: Shop, customers: list[str]) -> None:
    shop.suppress(EMAIL, OPTED_OUT)
    change_customer(shop.account_id, customers[-1], parse({"emailOptin": True}, CustomerPatch))
    run_worker(shop)
    assert optins(shop, customers) == [False] * 2 + [True] * 5
    assert ContactRow.get(pointer(shop).contact_key).due_at is None


def test_consent_given_during_step_is_kept(shop: Shop, customers: list[str]) -> None:
    shop.suppress(EMAIL, OPTED_OUT)
    sweep(SUPPRESSIONS)
    messages = SUPPRESSION_QUEUE.queued_messages(shop.account_id)

    def consent() -> None:
        given = parse({"emailOptin": True}, CustomerPatch)
        change_customer(shop.account_id, customers[2], given)

    with before_request("TransactWriteItems", consent):
        SUPPRESSION_QUEUE.deliver(messages)
    assert read_customer(shop.account_id, customers[2]).email_optin


def test_later_unsubscription_does_not_replace_pending_bounce(
    shop: Shop, customers: list[str]
) -> None:
    shop.suppress(EMAIL, BOUNCED)
    shop.suppress(EMAIL, UNSUBSCRIBED)
    run_worker(shop)
    stored = [read_customer(shop.account_id, each) for each in customers]
    assert {(each.email_optin, each.email_bounced) for each in stored} == {(False, True)}


def test_unsubscription_of_few_optins_does_not_skip_customers_of_pending_bounce(
    shop: Shop, customers: list[str]
) -> None:
    shop.suppress(EMAIL, BOUNCED)
    for each in customers[:4]:
        save_customer(shop.account_id, {"id": each, "emailOptin": False})
    shop.suppress(EMAIL, UNSUBSCRIBED)
    run_worker(shop)
    stored = [read_customer(shop.account_id, each) for each in customers]
    assert {(each.email_optin, each.email_bounced) for each in stored} == {(False, True)}


def test_lifted_bounce_is_not_applied_to_further_customers(
    shop: Shop, customers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suppressions, "_MAX_READ", 1_000)
    shop.suppress(EMAIL, BOUNCED)
    lift_suppression(shop.account_id, Channel.EMAIL, EMAIL, "operator")
    run_worker(shop)
    stored = [read_customer(shop.account_id, each) for each in customers]
    assert {(each.email_optin, each.email_bounced) for each in stored} == {(True, False)}


def test_customers_that_were_erased_or_got_another_address_are_skipped(
    shop: Shop, customers: list[str]
) -> None:
    shop.suppress(EMAIL, UNSUBSCRIBED)
    sweep(SUPPRESSIONS)
    messages = SUPPRESSION_QUEUE.queued_messages(shop.account_id)

    def change_address() -> None:
        save_customer(shop.account_id, {"id": customers[2], "email": "new@example.test"})

    with before_request("TransactWriteItems", change_address):
        SUPPRESSION_QUEUE.deliver(messages)
    assert optins(shop, customers) == [False, False, True, *[False] * 4]


def test_pointer_of_other_account_changes_nothing(shop: Shop, customers: list[str]) -> None:
    shop.suppress(EMAIL, UNSUBSCRIBED)
    foreign = ContactPointer("another account", pointer(shop).contact_key)
    assert suppressions.change_further_customers(foreign, clock.now())
    assert optins(shop, customers).count(True) == 5
