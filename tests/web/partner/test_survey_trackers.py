"""Tests of survey trackers, their list, and links for the partner's own channel."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any

import pytest
from chalice.test import Client

from admin.services.accounts.manage import read_stats
from admin.services.accounts.settings import change_account_settings
from admin.services.recount.recount import recount
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.feedback.submission import SurveySubmission
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.links import parse_short_tracker
from chalicelib.domain.solicitation.sending_errors import MessageRejected, OutcomeUnknown
from chalicelib.services.caching import clear_caches
from chalicelib.services.feedback.submit import SubmissionMetadata, submit_feedback
from chalicelib.storage import trackers
from chalicelib.storage.stage_values import stage_secret
from tests.aws.faults import before_request
from tests.services.customers.importing import accept_batch
from tests.services.erasure.erasing import erase, finish
from tests.services.queues import IMPORT_QUEUE
from tests.services.solicitation.soliciting import CUSTOMER, DAY_S
from tests.web.partner.reporter import Reporter
from tests.web.partner_client import Partner

OTHER_CHANNEL = {"emailOptin": False}
"""A customer who receives no message."""


def test_tracker_of_sent_survey_hides_id_until_it_is_answered(own: Reporter) -> None:
    purchase = own.report()
    own.shop.solicit()
    with counted_calls() as calls:
        tracker = own.tracker(purchase)
    assert calls.total() == 2
    assert tracker["sentAt"]
    assert tracker == {
        "purchaseId": purchase["id"],
        "customerId": purchase["customer"]["id"],
        "surveyId": own.shop.survey_id,
        "storeId": own.shop.store_id,
        "state": "SENT",
        "reason": None,
        "channel": "EMAIL",
        "sendAt": None,
        "sentAt": tracker["sentAt"],
        "remindedAt": None,
        "answeredAt": None,
        "feedbackId": None,
        "id": None,
        "link": None,
        "labels": {},
    }


def test_surveys_are_listed_by_creation_state_and_customer(own: Reporter, foreign: Partner) -> None:
    purchases = []
    for number in range(5):
        own.shop.time.ahead += timedelta(seconds=1)
        customer = {"email": f"{number % 2}@example.test", "emailOptin": number < 2}
        purchases.append(own.report(customer=customer))
        own.shop.solicit()
    ids = [purchase["id"] for purchase in purchases]
    assert [i for page in own.pages("survey-tracker", limit=2) for i in page] == ids
    with counted_calls() as calls:
        response = own.post("survey-tracker/list")
    assert calls.total() == 3
    assert response.json["items"] == [own.tracker(purchase) for purchase in purchases]
    assert [i for page in own.pages("survey-tracker", limit=1, state="SENT") for i in page] == (
        ids[:2]
    )
    customer_id = purchases[0]["customer"]["id"]
    assert [i for p in own.pages("survey-tracker", limit=1, customerId=customer_id) for i in p] == (
        ids[::2]
    )
    for body in ({}, {"customerId": customer_id, "limit": 1}):
        of_stranger = foreign.post("/partners/survey-tracker/list", body).json
        meta = {"itemCount": 0, "cursor": None, "hasMore": False}
        assert of_stranger == {"items": [], "meta": meta}
    invalid = own.post("survey-tracker/list", state="PARKED", limit=101)
    assert sorted(invalid.errors) == [("/limit", "out_of_range"), ("/state", "not_allowed")]


def test_link_replaces_message_and_is_answered(own: Reporter, client: Client) -> None:
    own.shop.survey(publiclyAvailable=False)
    purchase = own.report()
    tracker = own.link(purchase)
    own.shop.solicit()
    assert not own.shop.provider.sent
    assert (tracker["state"], tracker["channel"], tracker["reason"]) == ("SENT", "LINK", None)
    assert tracker["sentAt"]
    assert (tracker["surveyId"], tracker["id"]) == (own.shop.survey_id, None)
    assert own.link(purchase) == own.tracker(purchase) == tracker
    opened = client.http.get("/s/" + tracker["link"].rpartition("/")[2])
    query = opened.headers["Location"].partition("?")[2]
    shown = client.http.get(f"/public/survey?survey={own.shop.survey_id}&{query}").json_body
    assert (shown["sendMode"], shown["order"]) == ("LINK", purchase["externalId"])
    tracker_id = query.partition("tracker=")[2]
    parts = {"id": own.shop.survey_id, "tracker": tracker_id}
    body = "".join(
        f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in parts.items()
    )
    submitted = client.http.post(
        "/public/survey/submit",
        headers={"Content-Type": "multipart/form-data; boundary=x"},
        body=f"{body}--x--\r\n".encode(),
    )
    assert submitted.status_code == 201
    answered = own.link(purchase)
    assert (answered["id"], answered["link"]) == (tracker_id, None)
    assert answered["answeredAt"]
    assert answered["feedbackId"]


def test_first_labels_of_link_are_those_of_its_feedback(own: Reporter) -> None:
    own.shop.survey(labels={"table": {"maxDigits": 3}, "campaign": {"values": ["spring"]}})
    purchase = own.report()
    other = {"table": "1000", "x": ""}
    invalid = own.post("survey-tracker", purchaseId=purchase["id"], labels=other)
    assert invalid.errors == [("/labels/table", "not_allowed"), ("/labels/x", "unknown_key")]
    assert own.tracker(purchase)["state"] == "PENDING"
    for table in ("12", "13"):
        response = own.post("survey-tracker", purchaseId=purchase["id"], labels={"table": table})
        assert (response.status, response.json["labels"]) == (201, {"table": "12"})
    (listed,) = own.post("survey-tracker/list").json["items"]
    assert listed["labels"] == {"table": "12"}
    submission = SurveySubmission(
        id=own.shop.survey_id,
        tracker=parse_short_tracker(listed["link"].rpartition("/")[2]),
        labels={"table": "13", "campaign": "spring"},
    )
    feedback = submit_feedback(submission, SubmissionMetadata())
    assert feedback.labels == {"table": "12", "campaign": "spring"}
    assert feedback.anonymized().labels == {}


def test_requests_of_link_stay_within_budget(own: Reporter) -> None:
    stage_secret()  # a warm function has it
    own.link(own.report(customer={"email": "warm-up@example.test"}))
    purchase = own.report()
    for _ in range(2):
        with counted_calls() as calls:
            own.link(purchase)
        assert calls.total() == 4


def test_link_is_shown_while_survey_can_be_answered(own: Reporter) -> None:
    purchase = own.report()
    link = own.link(purchase)["link"]
    for closed in ({"enabled": False}, {"closesAt": "2000-01-01T00:00:00Z"}):
        own.shop.survey(**closed)
        assert own.tracker(purchase)["link"] is None
    own.shop.survey()
    assert own.tracker(purchase)["link"] == link
    (listed,) = own.post("survey-tracker/list").json["items"]
    assert listed["link"] == link


def _suppress(own: Reporter, reason: SuppressionReason) -> None:
    own.shop.suppress(CUSTOMER["email"], reason)  # type: ignore[arg-type]


def _send_nothing(own: Reporter) -> None:
    own.shop.survey(sendingChannels=["LINK"], publiclyAvailable=True)


@pytest.mark.parametrize(
    ("prepare", "fields", "reason"),
    [
        (lambda _: None, {"solicit": False}, "NOT_REQUESTED"),
        (lambda _: None, {"customer": {"firstName": "Zoé"}}, "NO_CHANNEL"),
        (lambda _: None, {"customer": {**CUSTOMER, **OTHER_CHANNEL}}, "NO_CONSENT"),
        (lambda own: _suppress(own, SuppressionReason.UNSUBSCRIBED), {}, "SUPPRESSED"),
        (lambda own: _suppress(own, SuppressionReason.BOUNCED), {}, "BOUNCED"),
        (lambda _: None, {"customer": None}, "NO_CUSTOMER"),
        (lambda own: _send_nothing(own), {}, "NO_CHANNEL"),
    ],
)  # fmt: skip
def test_skipped_survey_can_get_link(
    own: Reporter, prepare: Callable[[Reporter], None], fields: dict[str, Any], reason: str
) -> None:
    prepare(own)
    purchase = own.report(**fields)
    own.shop.solicit()
    assert own.outcome(purchase) == ("SKIPPED", reason)
    tracker = own.link(purchase)
    assert tracker["link"]
    assert own.link(purchase) == tracker
    stats = read_stats(own.shop.account_id)
    assert (stats["surveys_sent"], stats["surveys_skipped"]) == (1, 0)
    assert list(recount(own.shop.account_id, fix=False)) == []


@pytest.mark.parametrize(
    ("prepare", "fields", "reason"),
    [
        (lambda own: own.shop.survey(targets=[]), {}, "NO_SURVEY"),
        (lambda own: own.shop.survey(enabled=False), {}, "DISABLED"),
        (lambda own: own.shop.survey(solicitationThreshold=30), {}, "TOO_OLD"),
        (lambda own: own.link(own.report()), {}, "ALREADY_SOLICITED"),
        (lambda own: _suppress(own, SuppressionReason.ERASED), {}, "ERASED"),
        (lambda _: None, {"date": "2999-01-01T00:00:00Z"}, "FUTURE_PURCHASE"),
        (lambda _: None, {"sendAt": "+1 day"}, "SEND_AT"),
        (lambda own: _close(own), {}, "SENDING_HOURS"),
    ],
)  # fmt: skip
def test_rules_of_messages_apply_to_links(
    own: Reporter, prepare: Callable[[Reporter], None], fields: dict[str, Any], reason: str
) -> None:
    prepare(own)
    if "sendAt" in fields:
        fields = {"sendAt": format_timestamp(clock.now() + timedelta(days=1))}
    purchase = own.report(**fields)
    before = own.tracker(purchase)
    assert own.no_link(purchase) == reason
    assert own.tracker(purchase) == before
    own.shop.solicit()
    assert own.no_link(purchase) == reason
    assert own.tracker(purchase)["reason"] == reason
    assert not own.shop.provider.sent


def _close(own: Reporter) -> None:
    """Open the sending hours three hours ahead, for an hour."""
    start = clock.now() + timedelta(hours=3)
    hours = {"start": f"{start:%H:00}", "end": f"{start:%H:59}"}
    change_account_settings(own.shop.account_id, {"sendingHours": hours}, "operator")
    clear_caches()


def test_message_and_cancellation_exclude_link(own: Reporter) -> None:
    own.shop.survey(resolicitationDelay=0)
    for reaction, reason in [
        (None, "SENT"),
        (MessageRejected("x"), "REJECTED"),
        (OutcomeUnknown("x"), "UNKNOWN"),
    ]:
        own.shop.provider.reactions = [reaction] if reaction else []
        purchase = own.report()
        own.shop.solicit()
        assert own.no_link(purchase) == reason
    for solicit in (True, False):
        purchase = own.report(solicit=solicit)
        own.cancel(purchase)
        assert own.no_link(purchase) == "CANCELLED"


def test_link_is_not_possible_while_message_is_being_sent(own: Reporter) -> None:
    purchase = own.report()
    reasons = []
    own.shop.provider.reactions = [lambda _: reasons.append(own.no_link(purchase))]
    own.shop.solicit()
    assert reasons == ["SENDING"]
    assert own.outcome(purchase) == ("SENT", None)


def test_link_counts_as_survey_for_next_purchases(own: Reporter) -> None:
    own.link(own.report())
    later = own.report()
    own.shop.solicit()
    assert own.outcome(later) == ("SKIPPED", "ALREADY_SOLICITED")
    own.shop.advance(timedelta(seconds=30 * DAY_S))
    last = own.report()
    own.shop.solicit()
    assert own.outcome(last) == ("SENT", None)


@pytest.mark.parametrize("request_number", [1, 2, 3])
@pytest.mark.parametrize("loses_response", [False, True])
def test_survey_is_sent_or_linked_whenever_request_arrives(
    own: Reporter, request_number: int, loses_response: bool
) -> None:
    purchase = own.report()
    links = []

    def link() -> None:
        response = own.post("survey-tracker", purchaseId=purchase["id"])
        links.append(response.status == 201)

    with before_request(request_number, link, loses_response=loses_response):
        own.shop.solicit()
    tracker = own.tracker(purchase)
    assert tracker["state"] == "SENT"
    assert (links, len(own.shop.provider.sent)) == (
        ([True], 0) if tracker["channel"] == "LINK" else ([False], 1)
    )
    assert read_stats(own.shop.account_id)["surveys_sent"] == 1


def import_row(own: Reporter, purchase: dict[str, Any]) -> None:
    """Import a batch with a row that fills a field of the customer."""
    row = {"email": purchase["customer"]["email"], "company": "Lumen"}
    accept_batch(own.shop.account_id, {"batch": [row]})
    assert IMPORT_QUEUE.deliver(IMPORT_QUEUE.queued_messages(own.shop.account_id)) == []


CHANGES: dict[str, Callable[[Reporter, dict[str, Any]], object]] = {
    "send": lambda own, _: own.shop.solicit(),
    "link": lambda own, purchase: own.link(purchase),
    "cancel": lambda own, purchase: own.cancel(purchase),
    "update": lambda own, purchase: own.report(
        externalId=purchase["externalId"], metadata={"room": "12"}
    ),
    "erase": lambda own, purchase: erase(own.shop.account_id, purchase["customer"]["id"]),
    "import": import_row,
    "other link": lambda own, _: own.link(own.report()),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("request_number", [1, 2, 3])
def test_change_during_link_request_is_respected(
    own: Reporter, change: str, request_number: int
) -> None:
    purchase = own.report()
    with before_request(request_number, lambda: CHANGES[change](own, purchase)):
        response = own.post("survey-tracker", purchaseId=purchase["id"])
    tracker = own.tracker(purchase)
    match change:
        case "send":
            assert (response.status, tracker["channel"], len(own.shop.provider.sent)) == (
                409,
                "EMAIL",
                1,
            )
        case "link" | "update":
            assert (response.status, response.json) == (201, tracker)
        case "import":
            assert (response.status, response.json) == (201, tracker)
            assert own.reported(purchase)["customer"]["company"] == "Lumen"
        case "cancel":
            assert (response.status, tracker["reason"]) == (409, "CANCELLED")
        case "erase":
            assert (response.status, tracker["reason"]) == (409, "ERASED")
        case "other link":
            assert (response.status, tracker["state"]) == (409, "PENDING")
    own.shop.solicit()
    assert len(own.shop.provider.sent) == (change == "send")


def test_link_and_import_are_both_applied_whenever_link_is_requested(own: Reporter) -> None:
    links: list[dict[str, Any]] = []

    def link(purchase: dict[str, Any]) -> None:
        links.append(own.link(purchase))

    for number in count():
        purchase = own.report(customer={"email": f"{number}@example.test"})
        with before_request(number, partial(link, purchase)):
            import_row(own, purchase)
        assert own.reported(purchase)["customer"]["company"] == "Lumen"
        if len(links) == number:
            break
        assert own.tracker(purchase) == links[-1]
    assert number > 3


def test_erasure_ends_link_whenever_link_is_requested(own: Reporter) -> None:
    purchases, statuses = [], []

    def link(purchase_id: str) -> None:
        statuses.append(own.post("survey-tracker", purchaseId=purchase_id).status)

    for number in count():
        customer = {"email": f"{number}@example.test", "emailOptin": True}
        purchase = own.report(customer=customer)
        with before_request(number, partial(link, purchase["id"])):
            erase(own.shop.account_id, purchase["customer"]["id"])
        if len(statuses) == number:
            break
        purchases.append(purchase)
    own.shop.solicit()
    for purchase, status in zip(purchases, statuses, strict=True):
        customer_id = purchase["customer"]["id"]
        finish(own.shop.account_id, customer_id, own.shop.time)
        tracker = own.tracker(purchase)
        assert (tracker["link"], tracker["customerId"]) == (None, None)
        assert not list(trackers.of_customer(own.shop.account_id, customer_id))
        expected = ("SENT", "LINK", None) if status == 201 else ("SKIPPED", None, "ERASED")
        assert (tracker["state"], tracker["channel"], tracker["reason"]) == expected
    assert {201, 409} == set(statuses)
    assert not own.shop.provider.sent


@pytest.mark.parametrize("solicit", [True, False])
def test_erased_person_gets_no_link(own: Reporter, solicit: bool) -> None:
    purchase = own.report(solicit=solicit)
    erase(own.shop.account_id, purchase["customer"]["id"])
    assert own.outcome(purchase) == ("SKIPPED", "ERASED")
    assert own.no_link(purchase) == "ERASED"


def test_erasure_deletes_tracker_of_link(own: Reporter) -> None:
    purchase = own.report()
    own.link(purchase)
    erase(own.shop.account_id, purchase["customer"]["id"])
    tracker = own.tracker(purchase)
    assert (tracker["state"], tracker["link"], tracker["customerId"]) == ("SENT", None, None)
    assert not list(trackers.of_customer(own.shop.account_id, purchase["customer"]["id"]))


def test_link_of_other_account_is_not_found(own: Reporter, foreign: Partner) -> None:
    purchase = own.report()
    body = {"purchaseId": purchase["id"]}
    assert foreign.post("/partners/survey-tracker", body).status == 404
    assert own.post("survey-tracker", purchaseId=new_id()).status == 404
    assert sorted(own.post("survey-tracker", purchase=purchase["id"]).errors) == [
        ("/purchase", "unknown_key"),
        ("/purchaseId", "required"),
    ]
