"""Tests of the preview of the survey about a purchase."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.storage.stage_values import stage_secret
from tests.services.erasure.erasing import erase
from tests.services.solicitation.soliciting import CUSTOMER, open_shop
from tests.web.partner.reporter import Reporter

EMAIL = CUSTOMER["email"]
DAY = timedelta(days=1)
_READS = {"BatchGetItem", "GetItem", "GetSecretValue", "Query"}


def preview(own: Reporter, **fields: Any) -> dict[str, Any]:
    """Return the preview of a purchase. Check that nothing is written."""
    with counted_calls() as calls:
        response = own.post("purchase/preview", **own.shop.definition(**fields))
    assert response.status == 201, response.body
    assert {name.rpartition(".")[2] for name in calls} <= _READS, calls
    shown: dict[str, Any] = response.json
    return shown


def test_preview_shows_survey_channel_and_time(own: Reporter) -> None:
    shown = preview(own)
    assert abs(clock.now() - datetime.fromisoformat(shown.pop("sendAt"))) < timedelta(minutes=1)
    assert shown == {
        "state": "PENDING",
        "surveyId": own.shop.survey_id,
        "channel": "EMAIL",
        "reason": None,
        "explanation": "a survey will be sent through EMAIL",
    }


def test_preview_reads_what_recording_and_decision_read(own: Reporter) -> None:
    stage_secret()
    preview(own)
    for requests in (2, 3):
        with counted_calls() as calls:
            preview(own)
        assert calls.total() == requests
        own.report()


def test_preview_shows_time_after_all_holds(own: Reporter) -> None:
    send_at = format_timestamp(clock.now() + 2 * DAY)
    date = format_timestamp(clock.now() + DAY)
    shown = preview(own, date=date, sendAt=send_at)
    assert (shown["state"], shown["sendAt"], shown["reason"]) == ("PENDING", send_at, "SEND_AT")
    words = f"after {send_at}: the partner chose this time"
    assert shown["explanation"] == f"a survey will be sent through EMAIL {words}"


def test_preview_does_not_look_further_ahead_than_366_days(own: Reporter) -> None:
    for days, survey_id in ((366, own.shop.survey_id), (367, None)):
        date = clock.now() + days * DAY - timedelta(minutes=1)
        shown = preview(own, date=format_timestamp(date))
        assert (shown["surveyId"], shown["reason"]) == (survey_id, "FUTURE_PURCHASE")
    last = preview(own, date="9999-12-31T23:59:59Z")
    assert last["explanation"].startswith("the survey waits until 9999-12-31")


def without_consent(own: Reporter) -> dict[str, Any]:
    return {"customer": {"email": EMAIL}}


def unsubscribed(own: Reporter) -> dict[str, Any]:
    own.shop.suppress(EMAIL, SuppressionReason.UNSUBSCRIBED)
    return {}


def bounced(own: Reporter) -> dict[str, Any]:
    own.shop.suppress(EMAIL, SuppressionReason.BOUNCED)
    return {}


def solicited_before(own: Reporter) -> dict[str, Any]:
    own.report()
    own.shop.solicit()
    return {}


def not_requested(own: Reporter) -> dict[str, Any]:
    return {"solicit": False}


def too_old(own: Reporter) -> dict[str, Any]:
    own.shop.survey(solicitationThreshold=3600)
    return {"date": format_timestamp(clock.now() - DAY)}


def disabled(own: Reporter) -> dict[str, Any]:
    own.shop.survey(enabled=False)
    return {}


def without_customer(own: Reporter) -> dict[str, Any]:
    return {"customer": None}


def with_existing_customer(own: Reporter) -> dict[str, Any]:
    customer = own.partner.post("/partners/customer", {"email": EMAIL}).json["id"]
    return {"customer": None, "customerId": customer}


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (without_consent, "NO_CONSENT"),
        (unsubscribed, "SUPPRESSED"),
        (bounced, "BOUNCED"),
        (solicited_before, "ALREADY_SOLICITED"),
        (not_requested, "NOT_REQUESTED"),
        (too_old, "TOO_OLD"),
        (disabled, "DISABLED"),
        (without_customer, "NO_CUSTOMER"),
        (with_existing_customer, "NO_CONSENT"),
    ],
)
def test_preview_shows_reason_of_the_decision_that_follows(
    own: Reporter, prepare: Any, reason: str
) -> None:
    fields = prepare(own)
    shown = preview(own, **fields)
    assert (shown["state"], shown["reason"]) == ("SKIPPED", reason)
    assert (shown["surveyId"], shown["channel"], shown["sendAt"]) == (None, None, None)
    assert shown["explanation"].startswith("no survey: ")
    purchase = own.report(**fields)
    own.shop.solicit()
    assert own.outcome(purchase) == ("SKIPPED", reason)


def test_preview_turns_optin_of_existing_customer_on(own: Reporter) -> None:
    own.partner.post("/partners/customer", {"email": EMAIL})
    assert preview(own, customer={"email": EMAIL})["reason"] == "NO_CONSENT"
    assert preview(own)["state"] == "PENDING"


def test_preview_does_not_confirm_address_of_erased_person(own: Reporter) -> None:
    erase(own.shop.account_id, own.report()["customer"]["id"])
    shown = preview(own)
    assert (shown["state"], shown["reason"]) == ("SKIPPED", "SUPPRESSED")
    assert shown["explanation"] == "no survey: the recipient unsubscribed or complained"


def test_preview_of_recorded_purchase_shows_its_outcome(own: Reporter) -> None:
    key = {"externalId": new_id()}
    purchase = own.report(**key)
    own.shop.solicit()
    shown = preview(own, **key)
    assert (shown["state"], shown["channel"], shown["reason"]) == ("SENT", "EMAIL", None)
    assert shown["sendAt"] == own.tracker(purchase)["sentAt"]
    waiting = {"externalId": new_id(), "customer": {"email": "new@example.test"}}
    own.cancel(own.report(**waiting))
    assert preview(own, **waiting)["reason"] == "CANCELLED"


def test_preview_rejects_what_report_rejects(own: Reporter) -> None:
    other = open_shop()
    stranger = other.record()
    for change, pointer in (
        ({"storeId": other.store_id}, "/storeId"),
        ({"customer": None, "customerId": stranger.customer_id}, "/customerId"),
    ):
        response = own.post("purchase/preview", **own.shop.definition(**change))
        assert response.errors == [(pointer, "unknown_reference")]
    large = own.shop.definition(metadata={"a": "x" * 32 * 1024})
    assert own.post("purchase/preview", **large).status == 413
