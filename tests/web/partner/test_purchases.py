"""Tests of reporting, finding, listing and cancelling purchases, and of survey trackers."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from admin.services.definitions.kinds import STORE, save
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.list_cursor import write_cursor
from chalicelib.domain.purchases.definition import MAX_DELAY
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.sending_errors import MessageNotSent, OutcomeUnknown
from chalicelib.domain.solicitation.solicitation import Solicitation, SolicitationPointer
from chalicelib.domain.work import MAX_CLAIMS
from chalicelib.services.purchases import read
from chalicelib.services.solicitation import send_survey
from chalicelib.storage import solicitations
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.purchases import purchase_key
from chalicelib.storage.solicitations import SolicitationRow
from chalicelib.storage.stage_values import stage_secret
from tests.aws.faults import before_request
from tests.services.solicitation.soliciting import open_shop
from tests.web.definitions import store_definition
from tests.web.partner.reporter import Reporter
from tests.web.partner_client import Partner

EMAIL = "zoe@example.test"


def stored(purchase: dict[str, Any]) -> Solicitation:
    solicitation = solicitations.find(purchase["id"])
    assert solicitation
    return solicitation


def test_reported_purchase_is_returned_with_customer_and_solicited(own: Reporter) -> None:
    own.report(customer={"email": "warm-up@example.test"})
    definition = own.shop.definition(metadata={"room": "12"})
    stage_secret()  # a warm function has it
    with counted_calls() as calls:
        response = own.post("purchase", **definition)
    assert calls.total() == 4
    assert response.status == 201
    purchase = response.json
    assert purchase == own.partner.get(f"/partners/purchase?id={purchase['id']}").json
    assert (purchase["storeName"], purchase["customer"]["email"]) == ("Lyon Bellecour", EMAIL)
    assert purchase["metadata"] == {"room": "12"}
    own.shop.solicit()
    assert own.outcome(purchase) == ("SENT", None)
    assert len(own.shop.provider.sent) == 1


def test_repeated_report_changes_nothing(own: Reporter) -> None:
    definition = own.shop.definition()
    first = own.post("purchase", **definition).json
    own.shop.solicit()
    with counted_calls() as calls:
        assert own.post("purchase", **definition).json == first
    assert calls.total() == 3
    own.shop.solicit()
    assert len(own.shop.provider.sent) == 1
    assert first["customer"]["purchaseCount"] == 1


def test_store_that_is_newer_than_cache_is_read_once(own: Reporter) -> None:
    target = {"type": "BRAND", "targetId": own.shop.brand_id, "enabled": True}
    own.shop.survey(targets=[target])
    own.post("purchase/preview", **own.shop.definition())  # caches the places and the surveys
    store = save(STORE, own.shop.account_id, store_definition(own.shop.brand_id, name="Croix"))
    with counted_calls() as calls:
        assert own.report(storeId=store.id)["storeName"] == "Croix"
        preview = own.post("purchase/preview", **own.shop.definition(storeId=store.id)).json
    assert preview["state"] == "PENDING"
    assert calls["dynamodb.Query"] == 1


def test_report_without_solicit_sends_nothing(own: Reporter) -> None:
    purchase = own.report(solicit=False)
    own.shop.solicit()
    assert own.outcome(purchase) == ("SKIPPED", "NOT_REQUESTED")
    assert not own.shop.provider.sent


def test_survey_waits_until_send_at(own: Reporter) -> None:
    send_at = clock.now() + timedelta(days=3)
    purchase = own.report(sendAt=format_timestamp(send_at))
    own.shop.solicit()
    tracker = own.tracker(purchase)
    assert (tracker["state"], tracker["reason"]) == ("PENDING", "SEND_AT")
    assert tracker["sendAt"] == format_timestamp(send_at)
    own.shop.advance(timedelta(days=3, seconds=-5))
    assert not own.shop.provider.sent
    own.shop.advance(timedelta(seconds=10))
    assert own.outcome(purchase) == ("SENT", None)


def test_update_keeps_replaces_or_clears_send_at(own: Reporter) -> None:
    definition = own.shop.definition()
    days = [format_timestamp(clock.now() + timedelta(days=number)) for number in range(5)]
    purchase = own.post("purchase", **definition, sendAt=days[3]).json
    own.shop.solicit()
    own.post("purchase", **definition)
    own.shop.solicit()
    assert own.tracker(purchase)["sendAt"] == days[3]
    own.post("purchase", **definition, sendAt=days[4])
    own.shop.solicit()
    assert own.tracker(purchase)["sendAt"] == days[4]
    own.post("purchase", **definition, metadata={"room": "12"})
    own.shop.solicit()
    assert own.tracker(purchase)["sendAt"] == days[4]
    assert "sendAt" not in own.reported(purchase)
    own.post("purchase", **definition, metadata={"room": "12"}, sendAt=None)
    own.shop.solicit()
    assert own.outcome(purchase) == ("SENT", None)


def test_send_at_is_kept_while_message_is_being_sent(
    own: Reporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = own.shop.definition()
    purchase = own.post("purchase", **definition).json
    send_at = format_timestamp(clock.now() + timedelta(days=2))

    def fail(_: object) -> str:
        assert own.post("purchase", **definition, sendAt=send_at).status == 201
        assert own.tracker(purchase)["sendAt"] == send_at
        raise MessageNotSent("Throttling")

    monkeypatch.setattr(send_survey, "send_invitation", fail)
    monkeypatch.setattr(send_survey, "MAX_PAUSE_S", 900)  # no second attempt in this invocation
    own.shop.solicit()
    monkeypatch.setattr(send_survey, "send_invitation", own.shop.provider.send)
    assert own.tracker(purchase)["sendAt"] == send_at
    own.shop.advance(timedelta(hours=47))
    assert (own.shop.provider.sent, own.outcome(purchase)) == ([], ("PENDING", "SEND_AT"))
    own.shop.advance(timedelta(hours=2))
    assert own.outcome(purchase) == ("SENT", None)


@pytest.mark.parametrize("request_number", range(2))
def test_survey_is_not_sent_before_send_at_whenever_update_arrives(
    own: Reporter, request_number: int
) -> None:
    definition = own.shop.definition()
    purchase = own.post("purchase", **definition).json
    send_at = format_timestamp(clock.now() + timedelta(days=2))
    update = partial(own.post, "purchase", **definition, sendAt=send_at)
    with before_request(request_number, update):
        own.shop.solicit()
    assert (own.shop.provider.sent, own.outcome(purchase)) == ([], ("PENDING", "SEND_AT"))


def test_survey_is_not_sent_if_update_becomes_visible_row_by_row(
    own: Reporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = own.shop.definition()
    purchase = own.post("purchase", **definition).json
    send_at = format_timestamp(clock.now() + timedelta(days=2))
    read_old_purchase_during(
        monkeypatch, lambda: own.post("purchase", **definition, sendAt=send_at)
    )
    own.shop.solicit()
    assert (own.shop.provider.sent, own.outcome(purchase)) == ([], ("PENDING", "SEND_AT"))


def test_survey_is_not_skipped_if_update_becomes_visible_row_by_row(
    own: Reporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.shop.survey(solicitationThreshold=3600)
    definition = own.shop.definition()
    earlier = format_timestamp(clock.now() - timedelta(hours=2))
    purchase = own.post("purchase", **{**definition, "date": earlier}).json
    read_old_purchase_during(monkeypatch, lambda: own.post("purchase", **definition))
    own.shop.solicit()
    assert own.outcome(purchase) == ("SENT", None)


def read_old_purchase_during(monkeypatch: pytest.MonkeyPatch, update: Callable[[], object]) -> None:
    """Let the next read of a solicitation return the purchase as it was before this update."""
    real = solicitations.fetch_with_purchase

    def read(rows: Rows, pointer: SolicitationPointer) -> Any:
        monkeypatch.setattr(solicitations, "fetch_with_purchase", real)
        rows.prefetch(purchase_key(pointer.account_id, pointer.solicitation_id))
        update()
        return real(rows, pointer)

    monkeypatch.setattr(solicitations, "fetch_with_purchase", read)


def test_update_is_decided_again_if_claim_ends_during_it(own: Reporter) -> None:
    definition = own.shop.definition()
    days = [format_timestamp(clock.now() + timedelta(days=number)) for number in range(5)]
    purchase = own.post("purchase", **definition, sendAt=days[4]).json
    own.shop.solicit()
    row, leased_until = SolicitationRow.get(purchase["id"]), SolicitationRow.leased_until
    row.update([leased_until.set(int(clock.now().timestamp()) + 60)])
    released = [leased_until.remove(), SolicitationRow.revision.add(1)]
    with before_request("TransactWriteItems", lambda: row.update(released)):
        own.post("purchase", **definition, sendAt=days[1])
    own.shop.advance(timedelta(days=1, seconds=10))
    assert own.outcome(purchase) == ("SENT", None)


def test_send_at_is_at_most_90_days_ahead(own: Reporter, monkeypatch: pytest.MonkeyPatch) -> None:
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now)
    own.report(sendAt=format_timestamp(now + MAX_DELAY))
    late = own.shop.definition(sendAt=format_timestamp(now + MAX_DELAY + timedelta(seconds=1)))
    assert own.post("purchase", **late).errors == [("/sendAt", "out_of_range")]


@pytest.mark.parametrize(
    ("change", "errors"),
    [
        ({"storeId": new_id()}, [("/storeId", "unknown_reference")]),
        ({"customer": None, "customerId": new_id()}, [("/customerId", "unknown_reference")]),
        ({"customerId": new_id()}, [("", "invalid_combination")]),
        ({"source": "Shop"}, [("/source", "not_allowed")]),
        ({"solicit": "x"}, [("/solicit", "wrong_type")]),
        ({"externalId": " "}, [("/externalId", "required")]),
        ({"total": 12}, [("/total", "unknown_key")]),
        ({"customer": {}}, [("/customer", "empty")]),
        ({"sendAt": "soon"}, [("/sendAt", "invalid_timestamp")]),
    ],
)  # fmt: skip
def test_invalid_purchase_is_rejected(
    own: Reporter, change: dict[str, Any], errors: list[tuple[str, str]]
) -> None:
    response = own.post("purchase", **own.shop.definition(**change))
    assert sorted(response.errors) == sorted(errors)


@pytest.mark.parametrize("field", ["date", "startDate", "endDate", "sendAt"])
def test_time_without_offset_is_rejected(own: Reporter, field: str) -> None:
    definition = own.shop.definition(**{field: "2026-11-20T10:00:00"})
    response = own.post("purchase", **definition)
    (error,) = response.json["errors"]
    assert (response.status, error["pointer"]) == (400, f"/{field}")
    assert "2026-11-20T10:00:00+01:00" in error["detail"]
    (row,) = own.post("purchase/batch", batch=[definition], solicit=False).json["items"]
    assert (row["status"], row["errors"][0]["pointer"]) == ("INVALID", f"/batch/0/{field}")


def test_store_and_customer_of_other_account_are_unknown(own: Reporter) -> None:
    other = open_shop()
    stranger = other.record()
    response = own.post("purchase", **own.shop.definition(storeId=other.store_id))
    assert response.errors == [("/storeId", "unknown_reference")]
    definition = own.shop.definition(customer=None, customerId=stranger.customer_id)
    assert own.post("purchase", **definition).errors == [("/customerId", "unknown_reference")]


def test_purchase_above_size_limit_is_rejected(own: Reporter) -> None:
    large = own.shop.definition(metadata={"a": "x" * 32 * 1024})
    assert own.post("purchase", **large).status == 413
    assert own.report(metadata={"a": "x" * 31 * 1024})


def test_batch_reports_result_of_each_row(own: Reporter) -> None:
    again = own.shop.definition()
    rows = [again, {"source": "Site"}, own.shop.definition(storeId=new_id()), "x", again]
    response = own.post("purchase/batch", batch=rows, solicit=True)
    assert response.status == 201
    items = response.json["items"]
    assert [item["index"] for item in items] == [0, 1, 2, 3, 4]
    statuses = ["RECORDED", "INVALID", "INVALID", "INVALID", "RECORDED"]
    assert [item["status"] for item in items] == statuses
    assert items[0]["id"] == items[4]["id"]
    assert items[2]["errors"][0]["pointer"] == "/batch/2/storeId"
    assert {error["pointer"] for error in items[1]["errors"]} == {
        "/batch/1/externalId",
        "/batch/1/storeId",
        "/batch/1/date",
    }
    assert (items[3]["errors"][0]["pointer"], items[3]["id"]) == ("/batch/3", None)
    own.shop.solicit()
    assert len(own.shop.provider.sent) == 1


@pytest.mark.parametrize(("rows", "status"), [(100, 201), (101, 400), (0, 400)])
def test_batch_has_1_to_100_rows(own: Reporter, rows: int, status: int) -> None:
    response = own.post("purchase/batch", batch=["x"] * rows, solicit=False)
    assert response.status == status


def test_batch_requires_choice_to_solicit(own: Reporter) -> None:
    response = own.post("purchase/batch", batch=[own.shop.definition()])
    assert response.errors == [("/solicit", "required")]


def test_row_of_batch_takes_three_requests(own: Reporter) -> None:
    own.report(customer={"email": "warm-up@example.test"})
    rows = [own.shop.definition(customer={"email": f"{n}@example.test"}) for n in range(4)]
    with counted_calls() as calls:
        own.post("purchase/batch", batch=rows, solicit=True)
    assert calls.total() == 3 * 4


def test_purchase_is_found_by_source_and_external_id(own: Reporter, foreign: Partner) -> None:
    purchase = own.report()
    key = {"source": "Site", "externalId": purchase["externalId"]}
    with counted_calls() as calls:
        found = own.post("purchase/find", **key)
    assert calls.total() == 2
    assert (found.status, found.json) == (201, purchase)
    assert own.post("purchase/find", **key | {"externalId": "unknown"}).status == 404
    assert foreign.post("/partners/purchase/find", key).status == 404


def test_purchases_are_listed_in_order_of_creation(own: Reporter, foreign: Partner) -> None:
    ids = []
    for number in range(5):
        own.shop.time.ahead += timedelta(seconds=1)
        ids.append(own.report(customer={"email": f"{number % 2}@example.test"})["id"])
    assert [i for page in own.pages("purchase", limit=2) for i in page] == ids
    assert own.pages("purchase")[0] == ids
    with counted_calls() as calls:
        first = own.post("purchase/list", limit=2).json
    assert calls.total() == 3
    customer = first["items"][0]["customer"]
    assert customer["email"] == "0@example.test"
    of_customer = own.pages("purchase", limit=1, customerId=customer["id"])
    assert [i for page in of_customer for i in page] == ids[::2]
    assert own.pages("purchase", storeIds=[new_id()]) == [[]]
    assert own.pages("purchase", limit=2, storeIds=[own.shop.store_id])[0] == ids[:2]
    empty = foreign.post("/partners/purchase/list", {"customerId": customer["id"]}).json
    assert empty["items"] == []
    assert foreign.post("/partners/purchase/list", {}).json["items"] == []


def test_cursor_belongs_to_its_filters(own: Reporter, foreign: Partner) -> None:
    for _ in range(2):
        own.report()
    cursor = own.post("purchase/list", limit=1).json["meta"]["cursor"]
    forged = [
        {"cursor": write_cursor(position, {})}
        for position in (("2026-11-20\ud80010:00:00.000Z", new_id()), ("2026", ""), (1, 2), ())
    ]
    for wanted in ({"cursor": "x"}, {"cursor": cursor, "storeIds": [own.shop.store_id]}, *forged):
        response = own.post("purchase/list", **wanted)
        assert response.json["code"] == "invalid_cursor"
        assert response.errors == [("/cursor", "invalid_cursor")]
    # A cursor contains only a time and an id, so a foreign one shows nothing.
    assert foreign.post("/partners/purchase/list", {"cursor": cursor}).json["items"] == []


def test_large_purchases_are_listed_on_several_pages(
    own: Reporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "_MAX_PAGE_BYTES", 5_000)
    ids = []
    for _ in range(4):
        own.shop.time.ahead += timedelta(seconds=1)
        ids.append(own.report(metadata={"a": "x" * 1_000})["id"])
    listed = own.pages("purchase", limit=10)
    assert len(listed) > 1
    assert [i for page in listed for i in page] == ids


def test_pending_survey_is_cancelled(own: Reporter) -> None:
    purchase = own.report()
    with counted_calls() as calls:
        tracker = own.cancel(purchase)
    assert calls.total() == 3
    assert (tracker["state"], tracker["reason"]) == ("SKIPPED", "CANCELLED")
    assert own.cancel(purchase) == tracker
    own.shop.solicit()
    own.post("purchase", **own.shop.definition(externalId=purchase["externalId"]))
    own.shop.solicit()
    assert own.outcome(purchase) == ("SKIPPED", "CANCELLED")
    assert not own.shop.provider.sent


def test_held_survey_is_cancelled_by_source_and_external_id(own: Reporter) -> None:
    purchase = own.report(sendAt=format_timestamp(clock.now() + timedelta(days=1)))
    own.shop.solicit()
    with counted_calls() as calls:
        response = own.post("purchase/cancel", source="Site", externalId=purchase["externalId"])
    assert calls.total() == 3
    assert (response.status, response.json["reason"]) == (201, "CANCELLED")
    own.shop.advance(timedelta(days=2))
    assert not own.shop.provider.sent


def test_parked_survey_is_pending_and_can_be_cancelled(own: Reporter) -> None:
    purchase = own.report()
    for _ in range(MAX_CLAIMS):
        error = RuntimeError("defect")
        solicitations.WORK.interrupt(purchase["id"], solicitations.PART, error, clock.now())
    assert own.outcome(purchase) == ("PENDING", None)
    assert own.cancel(purchase)["reason"] == "CANCELLED"


def test_sent_survey_is_not_changed_by_cancellation(own: Reporter) -> None:
    purchase = own.report()
    own.shop.solicit()
    sent = own.tracker(purchase)
    assert own.cancel(purchase) == sent
    assert sent["state"] == "SENT"


@pytest.mark.parametrize("request_number", range(5))
def test_survey_is_cancelled_or_sent_whenever_cancellation_arrives(
    own: Reporter, request_number: int
) -> None:
    purchase = own.report()
    with before_request(request_number, lambda: own.cancel(purchase)):
        own.shop.solicit()
    state = own.tracker(purchase)["state"]
    assert (state, len(own.shop.provider.sent)) in [("SKIPPED", 0), ("SENT", 1)]
    assert state == "SKIPPED" or request_number > 2


@pytest.mark.parametrize("error", [MessageNotSent("Throttling"), OutcomeUnknown("ReadTimeout")])
def test_survey_that_was_not_sent_is_not_tried_again_after_cancellation(
    own: Reporter, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    purchase = own.report()

    def fail(_: object) -> str:
        assert own.cancel(purchase)["state"] == "PENDING"
        raise error

    monkeypatch.setattr(send_survey, "send_invitation", fail)
    monkeypatch.setattr(send_survey, "MAX_PAUSE_S", 900)  # no second attempt in this invocation
    own.shop.solicit()
    monkeypatch.setattr(send_survey, "send_invitation", own.shop.provider.send)
    own.shop.advance(timedelta(hours=1))
    expected = "UNKNOWN" if isinstance(error, OutcomeUnknown) else "SKIPPED"
    assert own.tracker(purchase)["state"] == expected
    assert not own.shop.provider.sent


@pytest.mark.parametrize("request_number", range(3))
def test_cancellation_wins_over_work_that_arrives_during_it(
    own: Reporter, request_number: int
) -> None:
    purchase = own.report(sendAt=format_timestamp(clock.now() + timedelta(days=1)))
    update: Callable[[], object] = lambda: own.post(  # noqa: E731
        "purchase", **own.shop.definition(externalId=purchase["externalId"])
    )
    with before_request(request_number, update):
        own.cancel(purchase)
    own.shop.solicit()
    assert own.outcome(purchase) == ("SKIPPED", "CANCELLED")
    assert not own.shop.provider.sent


@pytest.mark.parametrize(
    "body", [{}, {"source": "Site"}, {"id": new_id(), "source": "Site", "externalId": "1"}]
)
def test_reference_to_purchase_is_id_or_source_and_external_id(
    own: Reporter, body: dict[str, str]
) -> None:
    assert own.post("purchase/cancel", **body).errors == [("", "invalid_combination")]


def test_purchase_of_other_account_cannot_be_cancelled_or_followed(
    own: Reporter, foreign: Partner
) -> None:
    purchase = own.report()
    key = {"source": "Site", "externalId": purchase["externalId"]}
    for body in ({"id": purchase["id"]}, key):
        assert foreign.post("/partners/purchase/cancel", body).status == 404
    path = f"/partners/survey-tracker?purchase={purchase['id']}"
    assert foreign.get(path).status == 404
    own.shop.solicit()
    assert own.outcome(purchase) == ("SENT", None)
