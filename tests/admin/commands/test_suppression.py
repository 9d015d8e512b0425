"""Tests of ``suppression show``, ``suppression add`` and ``suppression lift``."""

import json
from datetime import timedelta
from typing import Any

import pytest

from admin import terminal
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import phone_hash
from chalicelib.domain.customers.patch import CustomerPatch
from chalicelib.domain.solicitation.channel import OPTINS, Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.services.caching import clear_caches
from chalicelib.services.customers.change import change_customer
from chalicelib.services.customers.read import read_customer
from chalicelib.services.solicitation.contact_keys import address_hash, current_keys
from chalicelib.services.work.sweep import sweep
from chalicelib.storage import contacts
from chalicelib.storage.contacts import ContactRow
from chalicelib.storage.stage_values import forget_stage_secret
from chalicelib.storage.suppressions import suppress
from tests.admin.command import run
from tests.aws.faults import before_request
from tests.services.erasure.erasing import erase
from tests.services.kinds import SUPPRESSIONS
from tests.services.queues import SUPPRESSION_QUEUE
from tests.services.solicitation.soliciting import CUSTOMER, Shop, outcome

EMAIL = "zoe@example.test"
BOUNCED, UNSUBSCRIBED = SuppressionReason.BOUNCED, SuppressionReason.UNSUBSCRIBED


def shown(shop: Shop, *options: str) -> dict[str, Any]:
    result = run("suppression", "show", shop.account_id, *(options or ("--email", EMAIL)), "--json")
    assert result.exit_code == 0, result.stderr
    record: dict[str, Any] = json.loads(result.stdout)
    return record


def lift(shop: Shop, *options: str) -> Any:
    return run("suppression", "lift", shop.account_id, "--email", EMAIL, *options)


def customer_of(shop: Shop, **customer: Any) -> str:
    customer_id = shop.record(customer=customer or CUSTOMER).customer_id
    assert customer_id
    return customer_id


def run_worker(account_id: str) -> None:
    sweep(SUPPRESSIONS)
    SUPPRESSION_QUEUE.deliver_all(account_id)


def test_show_prints_reason_and_time(shop: Shop) -> None:
    assert shown(shop)["isSuppressed"] is False
    shop.suppress(EMAIL, UNSUBSCRIBED)
    record = shown(shop, "--email", "ZOE@example.test")
    assert record == {
        "channel": "EMAIL",
        "isSuppressed": True,
        "reason": "UNSUBSCRIBED",
        "suppressedAt": record["suppressedAt"],
        "canBeLifted": True,
        "obstacle": None,
        "complainedAt": None,
        "erasedAt": None,
        "liftedAt": None,
        "liftedBy": None,
    }
    assert record["suppressedAt"].endswith("Z")
    assert shown(shop, "--phone", "+33 6 12 34 56 78")["isSuppressed"] is False


@pytest.mark.parametrize(
    ("option", "address", "channel"),
    [("--email", "ZOE@example.test", Channel.EMAIL), ("--phone", "0033 612345678", Channel.SMS)],
)
def test_added_suppression_has_effect_of_opt_out_by_partner(
    shop: Shop, option: str, address: str, channel: Channel
) -> None:
    person = {"email": EMAIL, "phoneNumber": "+33 6 12 34 56 78"}
    customer_id = customer_of(shop, **person, emailOptin=True, smsOptin=True)
    result = run("suppression", "add", shop.account_id, option, address, "--json")
    record = {"channel": channel.value, "reason": "OPTED_OUT", "isSuppressed": True}
    assert json.loads(result.stdout) == record
    assert not getattr(read_customer(shop.account_id, customer_id), OPTINS[channel])
    key = contacts.contact_key(address_hash(shop.account_id, channel, address) or "")
    contact = contacts.find_many([key])[key]
    assert contact.suppressed == {channel: SuppressionReason.OPTED_OUT}
    (change,) = json.loads(run("account", "show", shop.account_id, "--json").stdout)["changes"]
    assert change["operator"].startswith("arn:aws:")
    assert change["subject"] == f"suppression {channel.value} {key}"
    assert (change["old"], change["new"]) == (None, "OPTED_OUT")
    # A repeated command changes nothing.
    again = run("suppression", "add", shop.account_id, option, address, "--json")
    assert (again.exit_code, json.loads(again.stdout)) == (0, record)
    assert contacts.find_many([key])[key] == contact


def test_added_suppression_keeps_earlier_reason(shop: Shop) -> None:
    shop.suppress(EMAIL, UNSUBSCRIBED)
    result = run("suppression", "add", shop.account_id, "--email", EMAIL)
    assert (result.exit_code, "is suppressed already (UNSUBSCRIBED)" in result.stderr) == (0, True)
    assert shown(shop)["reason"] == "UNSUBSCRIBED"


def test_partner_lifts_added_suppression(shop: Shop) -> None:
    customer_id = customer_of(shop)
    run("suppression", "add", shop.account_id, "--email", EMAIL)
    patch = CustomerPatch.model_validate({"emailOptin": True})
    assert change_customer(shop.account_id, customer_id, patch).email_optin
    assert shown(shop)["isSuppressed"] is False


def test_lifted_suppression_after_bounce_lets_surveys_be_sent(shop: Shop) -> None:
    customer_id = customer_of(shop)
    shop.suppress(EMAIL, BOUNCED)
    shop.solicit()
    assert shop.provider.sent == []
    assert read_customer(shop.account_id, customer_id).email_bounced
    result = lift(shop, "--yes", "--json")
    assert json.loads(result.stdout) == {
        "channel": "EMAIL",
        "reason": "BOUNCED",
        "isSuppressed": False,
    }
    assert not read_customer(shop.account_id, customer_id).email_bounced
    purchase = shop.record()
    shop.solicit()
    assert outcome(purchase)[0] == "SENT"


def test_lifting_after_unsubscription_does_not_turn_opt_in_on(shop: Shop) -> None:
    customer_id = customer_of(shop)
    shop.suppress(EMAIL, UNSUBSCRIBED)
    assert lift(shop, "--yes").exit_code == 0
    assert not read_customer(shop.account_id, customer_id).email_optin
    shop.record()  # with a new opt-in
    assert read_customer(shop.account_id, customer_id).email_optin


def test_lifting_records_operator_and_time(shop: Shop) -> None:
    shop.suppress(EMAIL, UNSUBSCRIBED)
    lift(shop, "--yes")
    record = shown(shop)
    assert (record["isSuppressed"], record["suppressedAt"]) == (False, None)
    assert record["liftedBy"].startswith("arn:aws:")
    (change,) = json.loads(run("account", "show", shop.account_id, "--json").stdout)["changes"]
    assert change == {
        "changedAt": record["liftedAt"],
        "operator": record["liftedBy"],
        "subject": f"suppression EMAIL {current_keys(shop.account_id, EMAIL, None)[Channel.EMAIL]}",
        "old": "UNSUBSCRIBED",
        "new": "lifted",
    }
    row = ContactRow.get(current_keys(shop.account_id, EMAIL, None)[Channel.EMAIL])
    assert row.expires_at is not None
    again = lift(shop, "--yes")
    assert (again.exit_code, again.stderr) == (1, "Error: The address is not suppressed.\n")


@pytest.mark.parametrize("later", [None, UNSUBSCRIBED, BOUNCED])
def test_suppression_after_complaint_cannot_be_lifted(
    shop: Shop, later: SuppressionReason | None
) -> None:
    shop.suppress(EMAIL, SuppressionReason.COMPLAINT)
    if later:
        shop.suppress(EMAIL, later)
    result = lift(shop, "--yes")
    assert result.stderr == (
        "Error: The recipient reported a message as spam. The address stays suppressed.\n"
    )
    record = shown(shop)
    assert (result.exit_code, record["isSuppressed"], record["canBeLifted"]) == (1, True, False)
    assert record["complainedAt"].endswith("Z")


@pytest.mark.parametrize("later", [None, UNSUBSCRIBED])
def test_suppression_of_erased_person_cannot_be_lifted(
    shop: Shop, later: SuppressionReason | None
) -> None:
    erase(shop.account_id, customer_of(shop))
    if later:
        shop.suppress(EMAIL, later)
    result = lift(shop, "--yes")
    assert result.stderr == (
        "Error: A customer with this address was erased. The address stays suppressed.\n"
    )
    assert (result.exit_code, shown(shop)["canBeLifted"]) == (1, False)


@pytest.mark.parametrize("later", [None, UNSUBSCRIBED])
@pytest.mark.parametrize("is_erased", [False, True])
def test_suppression_that_changes_during_lifting_is_kept(
    shop: Shop, is_erased: bool, later: SuppressionReason | None
) -> None:
    customer_id = customer_of(shop)
    shop.suppress(EMAIL, UNSUBSCRIBED)

    def change() -> None:
        if is_erased:
            erase(shop.account_id, customer_id)
        else:
            shop.suppress(EMAIL, SuppressionReason.COMPLAINT)
        if later:
            shop.suppress(EMAIL, later)

    with before_request("TransactWriteItems", change):
        result = lift(shop, "--yes")
    assert (result.exit_code, result.stderr[:6]) == (1, "Error:")
    assert result.stderr.endswith(" The address stays suppressed.\n")
    assert shown(shop)["isSuppressed"]


def test_bounce_after_unsubscription_keeps_reason_and_time(shop: Shop) -> None:
    shop.suppress(EMAIL, UNSUBSCRIBED)
    before = shown(shop)
    shop.time.ahead += timedelta(hours=1)
    shop.suppress(EMAIL, BOUNCED)
    assert shown(shop) == before


def test_suppression_of_phone_number_is_lifted_in_any_notation(shop: Shop) -> None:
    run("account", "set", shop.account_id, "--default-region", "FR")
    number = "+33612345678"
    contact_hash = phone_hash(shop.account_id, number)
    assert contact_hash
    suppress(shop.account_id, contact_hash, Channel.SMS, UNSUBSCRIBED, clock.now())
    phone = ("--phone", "06 12 34 56 78")
    assert shown(shop, *phone)["reason"] == "UNSUBSCRIBED"
    assert run("suppression", "lift", shop.account_id, *phone, "--yes").exit_code == 0
    key = current_keys(shop.account_id, None, number)[Channel.SMS]
    assert key
    assert contacts.find_many([key])[key].suppressed == {}


def test_national_number_is_not_suppressed_without_default_region(shop: Shop) -> None:
    command = ("suppression", "add", shop.account_id, "--phone", "06 12 34 56 78")
    result = run(*command)
    message = "Write the number with its country code (+33…): the account has no default region."
    assert (result.exit_code, result.stderr) == (1, f"Error: {message}\n")
    assert shown(shop, "--phone", "06 12 34 56 78")["isSuppressed"] is False
    run("account", "set", shop.account_id, "--default-region", "FR")
    clear_caches()
    assert run(*command).exit_code == 0
    assert shown(shop, "--phone", "+33612345678")["isSuppressed"] is True


def test_more_customers_than_fit_into_transaction_are_changed(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.storage.suppressions._MAX_CUSTOMERS", 2)
    ids = [
        shop.record(customer={**CUSTOMER, "firstName": name, "phoneNumber": f"+3361234567{name}"})
        for name in "12345"
    ]
    shop.suppress(EMAIL, BOUNCED)
    run_worker(shop.account_id)
    bounced = [read_customer(shop.account_id, p.customer_id or "").email_bounced for p in ids]
    assert bounced == [True] * 5
    with counted_calls() as calls:
        assert lift(shop, "--yes").exit_code == 0
    assert calls["dynamodb.TransactWriteItems"] == 1
    run_worker(shop.account_id)
    assert {read_customer(shop.account_id, p.customer_id or "").email_bounced for p in ids} == {
        False
    }
    assert shown(shop)["isSuppressed"] is False


def test_export_of_customer_contains_suppression_of_address(shop: Shop) -> None:
    customer_id = customer_of(shop)
    shop.suppress(EMAIL, UNSUBSCRIBED)
    result = run("customer", "export", shop.account_id, customer_id)
    address = json.loads(result.stdout)["addresses"]["EMAIL"]
    assert address["suppressed"] == {"EMAIL": "UNSUBSCRIBED"}
    assert address["suppressedAt"]
    assert {"key", "revision", "liftedBy"}.isdisjoint(address)


def test_commands_send_number_of_aws_requests_in_help(
    shop: Shop, questions: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    customer_of(shop)
    shop.suppress(EMAIL, UNSUBSCRIBED)
    commands = {
        ("show", "--email", EMAIL): 4,  # with the time zone of the account
        ("show", "--phone", "+33612345678"): 4,
        ("lift", "--email", EMAIL): 4,  # with the time zone, for the question
        ("lift", "--email", EMAIL, "--yes"): 6,
    }
    for words, cost in commands.items():
        forget_stage_secret()
        clear_caches()
        with counted_calls() as calls:
            run("suppression", words[0], shop.account_id, *words[1:])
        assert calls.total() == cost, words
    monkeypatch.setattr(terminal.typer, "confirm", lambda *_, **__: True)
    shop.suppress(EMAIL, UNSUBSCRIBED)
    forget_stage_secret()
    with counted_calls() as calls:
        assert run("suppression", "lift", shop.account_id, "--email", EMAIL).exit_code == 0
    assert calls.total() == 8
    (question,) = questions
    assert question.startswith(f"The address {EMAIL} has been suppressed since ")
    assert question.endswith(" (UNSUBSCRIBED). Lift the suppression?")
    costs = {
        "show": "Cost: three AWS requests; with --phone, four.",
        "lift": "Cost: six AWS requests; one more without --yes.",
    }
    for verb, cost_text in costs.items():
        assert cost_text in " ".join(run("suppression", verb, "--help").stdout.split())
