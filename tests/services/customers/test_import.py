"""Tests of the import of a batch, from its acceptance to the resulting customers."""

from datetime import timedelta
from random import Random
from string import ascii_letters

import pytest

from admin.services.customers.save import save_customer
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.errors import IdempotencyKeyReused, NotFound
from chalicelib.domain.ids import new_id
from chalicelib.domain.parsing import MAX_CUSTOMER_BYTES, parse
from chalicelib.domain.solicitation.opt_out import OptOut
from chalicelib.domain.work import MAX_CLAIMS
from chalicelib.services.accounts.settings import account_settings
from chalicelib.services.customers.accept_batch import read_import
from chalicelib.services.customers.create import create_customer
from chalicelib.services.solicitation.suppressions import opt_out
from chalicelib.storage.imports import WORK, ImportRow
from chalicelib.storage.stage_values import stage_secret
from tests.aws.capacity import row_bytes
from tests.services.customers.importing import (
    accept_batch,
    all_customers,
    outcome_counts,
    run_import,
)
from tests.services.moved_time import Time
from tests.services.queues import IMPORT_QUEUE


def rows(count: int, first: int = 0) -> list[dict[str, str]]:
    return [
        {"email": f"p{n}@example.test", "firstName": f"P{n}"} for n in range(first, first + count)
    ]


def test_batch_creates_customers_in_row_order(account: str) -> None:
    accepted = accept_batch(account, {"batch": rows(130)})
    assert (accepted.status, accepted.row_count, accepted.rejected) == ("QUEUED", 130, ())
    assert read_import(account, accepted.id).status == "QUEUED"
    progress = run_import(account, accepted.id)
    assert progress.status == "COMPLETED"
    assert progress.completed_at
    assert outcome_counts(progress) == {"created": 130}
    assert [c.first_name for c in all_customers(account)] == [f"P{n}" for n in range(130)]


def test_batch_fills_only_null_fields(account: str) -> None:
    body = {"email": "Zoe@Example.test", "phoneNumber": "+33 6 12", "company": "Lumen"}
    existing = create_customer(account, parse(body, CustomerBody))
    row = {
        "email": "zoe@example.test",
        "phoneNumber": "0033612",
        "company": "Other",
        "firstName": "Zoé",
        "emailOptin": True,
        "language": "fr",
        "metadata": {"a": "b"},
        "theForkId": "tf-1",
    }
    accepted = accept_batch(account, {"batch": [row, row]})
    assert outcome_counts(run_import(account, accepted.id)) == {"filled": 1, "unchanged": 1}
    (customer,) = all_customers(account)
    assert customer.updated_at >= existing.updated_at
    assert customer == existing.model_copy(
        update={
            "first_name": "Zoé",
            "display_name": "Zoé",
            "language": "fr",
            "metadata": {"import": {"a": "b"}},
            "theForkId": "tf-1",
            "updated_at": customer.updated_at,
        }
    )


def test_rows_that_differ_in_email_or_phone_create_separate_customers(account: str) -> None:
    batch = [
        {"email": "a@example.test"},
        {"email": "a@example.test", "phoneNumber": "+331"},
        {"phoneNumber": "+331"},
        {"firstName": "Nobody"},
        {"firstName": "Nobody"},
    ]
    accepted = accept_batch(account, {"batch": batch})
    assert outcome_counts(run_import(account, accepted.id)) == {"created": 5}


def test_rows_with_same_pair_create_one_customer_and_fill_it(account: str) -> None:
    batch = [
        {"email": "a@example.test", "smsOptin": True},
        {"email": "A@example.test", "firstName": "Ana", "smsOptin": False, "emailOptin": True},
        {"email": "a@EXAMPLE.test", "firstName": "Not", "lastName": "Lopes"},
        {"email": "a@example.test", "emailOptin": True},
    ]
    accepted = accept_batch(account, {"batch": batch})
    assert outcome_counts(run_import(account, accepted.id)) == {
        "created": 1,
        "filled": 2,
        "unchanged": 1,
    }
    (customer,) = all_customers(account)
    assert (customer.first_name, customer.last_name) == ("Ana", "Lopes")
    assert customer.display_name == "Ana"
    assert (customer.sms_optin, customer.email_optin) == (True, False)


def test_row_fills_oldest_customer_with_same_pair(account: str) -> None:
    oldest, younger = (
        create_customer(account, parse({"email": "a@example.test"}, CustomerBody)) for _ in "12"
    )
    accepted = accept_batch(account, {"batch": [{"email": "a@example.test", "company": "L"}]})
    run_import(account, accepted.id)
    companies = {customer.id: customer.company for customer in all_customers(account)}
    assert companies == {oldest.id: "L", younger.id: None}


def test_redelivered_chunk_changes_nothing(account: str) -> None:
    accepted = accept_batch(account, {"batch": [*rows(60), {"firstName": "No pair"}]})
    messages = IMPORT_QUEUE.queued_messages(account)
    IMPORT_QUEUE.deliver(messages)
    before = all_customers(account), read_import(account, accepted.id)
    IMPORT_QUEUE.deliver(messages)
    IMPORT_QUEUE.deliver(list(reversed(messages)), receive_count=5)
    assert (all_customers(account), read_import(account, accepted.id)) == before


def test_batch_sent_twice_with_same_idempotency_key_is_imported_once(account: str) -> None:
    batch = {"batch": rows(3)}
    first = accept_batch(account, batch, idempotency_key="monday")
    assert accept_batch(account, batch, idempotency_key="monday") == first
    assert outcome_counts(run_import(account, first.id)) == {"created": 3}
    repeated = accept_batch(account, batch, idempotency_key="monday")
    assert (repeated.id, repeated.status, IMPORT_QUEUE.queued_messages(account)) == (
        first.id,
        "COMPLETED",
        [],
    )
    with pytest.raises(IdempotencyKeyReused):
        accept_batch(account, {"batch": rows(4)}, idempotency_key="monday")
    with pytest.raises(IdempotencyKeyReused):
        accept_batch(account, batch, partial=True, idempotency_key="monday")


def test_batch_with_partial_parameter_and_no_valid_rows_completes_at_once(
    account: str,
) -> None:
    accepted = accept_batch(account, {"batch": [{}]}, partial=True)
    assert (accepted.status, accepted.row_count) == ("COMPLETED", 0)
    assert read_import(account, accepted.id).status == "COMPLETED"


def test_row_over_customer_size_limit_does_not_fail_other_rows(account: str) -> None:
    large = {f"k{n}": "\u20ac" * 400 for n in range(24)}
    body = {"email": "a@example.test", "description": "\u20ac" * 2000}
    create_customer(account, parse(body, CustomerBody))
    batch = [{"email": "a@example.test", "metadata": large}, {"email": "b@example.test"}]
    accepted = accept_batch(account, {"batch": batch})
    progress = run_import(account, accepted.id)
    assert (progress.status, outcome_counts(progress)) == ("COMPLETED", {"created": 1, "failed": 1})
    assert [(error.index, error.code) for error in progress.errors] == [(0, "record_too_large")]


def test_row_that_makes_merged_customer_too_large_does_not_fail_other_rows(account: str) -> None:
    email = {"email": "a@example.test"}
    first = email | {"metadata": {f"k{n}": "\u20ac" * 400 for n in range(19)}}
    too_many = email | {"description": "\u20ac" * 2000, "company": "\u20ac" * 255}
    too_many |= dict.fromkeys(("theForkId", "mewsId", "operaId", "comoId"), "€" * 255)
    batch = [first, too_many, email | {"firstName": "Zoé"}]
    accepted = accept_batch(account, {"batch": batch})
    progress = run_import(account, accepted.id)
    assert outcome_counts(progress) == {"created": 1, "filled": 1, "failed": 1}
    assert [error.index for error in progress.errors] == [1]
    (customer,) = all_customers(account)
    assert (customer.first_name, customer.company) == ("Zoé", None)


def test_idempotency_key_still_returns_created_customer_after_replacement(account: str) -> None:
    body = parse({"email": "a@example.test"}, CustomerBody)
    created = create_customer(account, body, idempotency_key="k")
    save_customer(account, {"id": created.id, "email": "a@example.test", "company": "Lumen"})
    assert create_customer(account, body, idempotency_key="k") == created


def test_accepting_batch_sends_batched_requests_for_chunks_and_messages(account: str) -> None:
    accept_batch(account, {"batch": rows(1)})
    with counted_calls() as calls:
        accept_batch(account, {"batch": rows(49 * 26)})
    assert calls == {
        "dynamodb.PutItem": 1, "dynamodb.BatchWriteItem": 2, "sqs.SendMessageBatch": 3
    }  # fmt: skip
    with counted_calls() as calls:
        accept_batch(account, {"batch": rows(1)}, idempotency_key="k")
    assert calls.total() == 4


@pytest.mark.parametrize("known", [False, True], ids=["new rows", "rows to fill"])
def test_importing_chunk_sends_at_most_three_aws_requests(account: str, known: bool) -> None:
    if known:
        run_import(account, accept_batch(account, {"batch": [{"email": "p0@example.test"}]}).id)
    accept_batch(account, {"batch": rows(49)})
    (message,) = IMPORT_QUEUE.queued_messages(account)
    with counted_calls() as calls:
        IMPORT_QUEUE.deliver([message])
    assert calls == {
        "dynamodb.BatchGetItem": 2 if known else 1, "dynamodb.TransactWriteItems": 1
    }  # fmt: skip


def test_row_stores_optin_of_suppressed_address_as_false(account: str) -> None:
    phone = "+33612345678"
    for wish in ({"email": "a@example.test"}, {"phoneNumber": phone}):
        opt_out(account, parse(wish, OptOut))
    both = {"emailOptin": True, "smsOptin": True}
    batch = [
        {"email": "A@example.test", "phoneNumber": "+33698765432", **both},
        {"email": "b@example.test", "phoneNumber": "0033 6 12 34 56 78", **both},
        {"email": "c@example.test", **both},
    ]
    accept_batch(account, {"batch": [*batch, {"email": "c@example.test", "emailOptin": False}]})
    IMPORT_QUEUE.deliver(IMPORT_QUEUE.queued_messages(account))
    optins = [(c.email_optin, c.sms_optin) for c in all_customers(account)]
    assert optins == [(False, True), (True, False), (True, True)]


def test_importing_chunk_with_optins_sends_three_aws_requests(account: str) -> None:
    optins = {"emailOptin": True, "smsOptin": True}
    batch = [row | optins | {"phoneNumber": f"+3361234{n:04}"} for n, row in enumerate(rows(49))]
    accept_batch(account, {"batch": batch})
    (message,) = IMPORT_QUEUE.queued_messages(account)
    stage_secret(), account_settings(account)  # a warm function has them
    with counted_calls() as calls:
        IMPORT_QUEUE.deliver([message])
    assert calls == {"dynamodb.BatchGetItem": 2, "dynamodb.TransactWriteItems": 1}
    assert len(all_customers(account)) == 49


def large_customer(account_id: str, size: int, *tags: str) -> None:
    """Save a customer with these tags.

    The customer's JSON, including the tags, has ``size`` bytes.
    """
    customer_id = new_id()

    def save(padding: int) -> int:
        definition = {
            "id": customer_id,
            "email": "a@b.co",
            "metadata": {"google": {"text": "x" * padding}},
            "tags": [{"tag": tag} for tag in tags],
        }
        return len(save_customer(account_id, definition).model_dump_json())

    assert save(size - save(0)) == size


def chunk_of(import_id: str) -> ImportRow:
    (chunk,) = ImportRow.query(import_id, ImportRow.part.startswith("chunk"))
    return chunk


def test_record_of_chunk_with_thousands_of_failed_rows_stays_below_400_kb(account: str) -> None:
    large_customer(account, MAX_CUSTOMER_BYTES)
    row = {"email": "a@b.co", "civility": "Mrs"}
    accepted = accept_batch(account, {"batch": [row] * 4_300})
    progress = run_import(account, accepted.id)
    assert (progress.status, progress.failed) == ("COMPLETED", 4_300)
    assert [error.index for error in progress.errors] == list(range(1_000))
    assert {error.code for error in progress.errors} == {"record_too_large"}
    assert row_bytes(chunk_of(accepted.id).serialize()) < 20_000


def test_record_of_parked_chunk_stays_below_400_kb(account: str) -> None:
    random = Random(1)
    batch = [{"description": "".join(random.choices(ascii_letters, k=1_990))} for _ in range(98)]
    batch += [{"email": "a@b.co", "firstName": "A"}] * 4_000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chalicelib.domain.customers.import_batch.MAX_CHUNK_ACTIONS", 200)
        accepted = accept_batch(account, {"batch": batch})
    part = chunk_of(accepted.id).part
    for _ in range(MAX_CLAIMS):
        is_parked = WORK.record_failure(accepted.id, part, "Defect", clock.now())
    assert is_parked
    progress = read_import(account, accepted.id)
    assert (progress.failed, len(progress.errors)) == (4_098, 1_000)
    assert 100_000 < row_bytes(chunk_of(accepted.id).serialize()) < 300_000


@pytest.mark.parametrize(("length", "outcome"), [(62, "filled"), (63, "failed")])
@pytest.mark.parametrize("tags", [(), ("VIP", "Press")])
def test_tags_count_towards_size_limit_in_import(
    account: str, tags: tuple[str, ...], length: int, outcome: str
) -> None:
    large_customer(account, MAX_CUSTOMER_BYTES - 60, *tags)
    # The row replaces null (four characters) by a text in quotes (two more characters than the
    # text).
    row = {"email": "a@b.co", "civility": "x" * length}
    accepted = accept_batch(account, {"batch": [row]})
    assert outcome_counts(run_import(account, accepted.id)) == {outcome: 1}


def test_import_can_be_read_for_90_days_with_all_its_chunks(account: str, time: Time) -> None:
    batch = {"batch": rows(60)}
    accepted = accept_batch(account, batch, idempotency_key="key")
    before = run_import(account, accepted.id)
    header, *chunks = sorted(ImportRow.query(accepted.id), key=lambda row: row.part, reverse=True)
    assert header.part == "header"
    assert min(chunk.expires_at for chunk in chunks) >= header.expires_at + 86_400
    start = clock.now()
    time.ahead += timedelta(seconds=header.expires_at - start.timestamp() - 1)
    assert read_import(account, accepted.id) == before
    time.ahead += timedelta(seconds=1)
    with pytest.raises(NotFound):
        read_import(account, accepted.id)
    # DynamoDB deletes expired rows days later.
    assert accept_batch(account, batch, idempotency_key="key").id == accepted.id
    assert outcome_counts(run_import(account, accepted.id)) == {"unchanged": 60}
