"""Tests of submissions: validation, trackers and idempotency keys."""

import json
import random
import string
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from admin.services.definitions.kinds import BRAND, STORE, save
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.feedback.feedback import feedback_id_of
from chalicelib.domain.ids import new_id
from chalicelib.outbound import queues
from chalicelib.services.caching import clear_caches
from chalicelib.services.feedback import limit_submissions
from chalicelib.settings import Settings
from chalicelib.storage import feedback, trackers
from chalicelib.storage.feedback import FeedbackRow
from tests.aws.faults import before_request
from tests.domain.forms.factories import field, select
from tests.web.definitions import brand_definition, store_definition
from tests.web.partner_client import Response
from tests.web.public.respondent import PublicClient, multipart
from tests.web.public.stored import stored_feedback
from tests.web.seeded_account import (
    REVIEW_PAGE,
    SUBMIT_CONTACT,
    SUBMIT_SURVEY,
    SURVEY,
    SeededAccount,
    seed_account,
)

CLIENT = PublicClient()


def submit_contact(seeded: SeededAccount, fields: Any = None, **parts: Any) -> Response:
    headers = parts.pop("headers", None)
    submitted = seeded.answers() if fields is None else fields
    return CLIENT.submit_fields(SUBMIT_CONTACT, seeded.contact_form_id, submitted, headers, **parts)


def submit_survey(seeded: SeededAccount, fields: Any = None, **parts: Any) -> Response:
    headers = parts.pop("headers", None)
    survey_id = parts.pop("survey_id", seeded.survey_id)
    submitted = seeded.answers() if fields is None else fields
    return CLIENT.submit_fields(SUBMIT_SURVEY, survey_id, submitted, headers, **parts)


def submit_private(
    seeded: SeededAccount, tracker: str, fields: Any = None, **parts: Any
) -> Response:
    return submit_survey(
        seeded, fields, survey_id=seeded.private_survey_id, tracker=tracker, **parts
    )


def test_contact_form_submission_is_stored(fresh: SeededAccount) -> None:
    response = submit_contact(fresh, fresh.answers(note=" Merci ", nps="9"), store=fresh.store_id)
    assert (response.status, response.body) == (204, "")
    assert "content-type" not in response.headers
    assert response.headers["access-control-allow-origin"] == "*"
    (feedback,) = stored_feedback(fresh.contact_form_id)
    assert feedback.account_id == fresh.account_id
    assert {a.key: a.values for a in feedback.answers} == {
        "what": ["Food"], "note": ["Merci"], "nps": ["9"]
    }  # fmt: skip
    assert (feedback.kind, feedback.source, feedback.rating) == ("CONTACT_FORM", "Site", 9)
    assert (feedback.brand_id, feedback.store_id) == (fresh.brand_id, fresh.store_id)
    assert feedback.context_id == fresh.store_id


def test_items_of_values_in_public_view_are_accepted(fresh: SeededAccount) -> None:
    kinds = ("CSAT_SMILEY", "CSAT_STAR", "NPS", "RATING", "CHECKBOX")
    labelled = field("again", "BINARY", values=["Yes", "No"])
    fresh.contact_form(fields=[labelled, *(field(kind.lower(), kind) for kind in kinds)])
    view = CLIENT.get(f"/public/contact-form?id={fresh.contact_form_id}").json

    answers = [{"id": each["id"], "values": [each["values"][-1]]} for each in view["fields"]]
    assert submit_contact(fresh, answers).status == 204
    (stored,) = stored_feedback(fresh.contact_form_id)
    assert {a.key: a.values for a in stored.answers} == {
        "again": ["unsatisfied"], "csat_smiley": ["5"], "csat_star": ["5"],
        "nps": ["10"], "rating": ["10"], "checkbox": ["false"],
    }  # fmt: skip


def test_version_of_form_is_stored_and_checked(fresh: SeededAccount) -> None:
    assert submit_contact(fresh, version="a" * 32).status == 204
    (feedback,) = stored_feedback(fresh.contact_form_id)
    assert feedback.displayed_version == "a" * 32
    for invalid in ("a" * 31, "a" * 33, "A" * 32, "version"):
        assert submit_contact(fresh, version=invalid).errors == [("/version", "invalid")]
    assert submit_survey(fresh, version="").status == 201


def test_public_survey_submission_is_stored(fresh: SeededAccount) -> None:
    response = submit_survey(fresh, fresh.answers(nps="8"), store=fresh.store_id)
    assert (response.status, response.json) == (201, {"redirectTo": REVIEW_PAGE})
    (feedback,) = stored_feedback(fresh.survey_id)
    assert (feedback.source, feedback.store_id) == ("Survey", fresh.store_id)
    assert (feedback.context_id, feedback.tracker_id) == (fresh.store_id, None)


def test_private_survey_submission_uses_tracker(fresh: SeededAccount) -> None:
    tracker = fresh.tracker()
    response = submit_private(fresh, tracker.upper(), fresh.answers(nps="10"))
    assert (response.status, response.json) == (201, {"redirectTo": REVIEW_PAGE})
    (feedback,) = stored_feedback(fresh.private_survey_id)
    assert (feedback.tracker_id, feedback.context_id) == (tracker, tracker)
    assert (feedback.customer_id, feedback.store_id) == (fresh.customer_id, fresh.store_id)
    assert feedback.purchase_id
    used = trackers.find(tracker)
    assert used
    assert used.used_at == feedback.created_at


@pytest.mark.parametrize(
    ("place", "context"), [("store", "store_id"), ("brand", "brand_id"), ("", "survey_id")]
)
def test_context_id_of_survey_feedback_is_store_or_brand_or_survey_id(
    fresh: SeededAccount, place: str, context: str
) -> None:
    fresh.survey(targets=[])
    parts = {place: getattr(fresh, f"{place}_id")} if place else {}
    assert submit_survey(fresh, **parts).status == 201
    assert stored_feedback(fresh.survey_id)[0].context_id == getattr(fresh, context)


@pytest.mark.parametrize(
    ("post_redirect", "threshold", "nps", "redirects"),
    [
        (True, 8, "8", True),
        (True, 8, "7", False),
        (True, 8, None, False),
        (True, 0, "0", True),
        (True, 0, None, True),
        (True, 10, "10", True),
        (False, None, "10", False),
    ],
)
def test_submission_with_rating_at_or_above_threshold_returns_redirect_url(
    fresh: SeededAccount,
    post_redirect: bool,
    threshold: int | None,
    nps: str | None,
    redirects: bool,
) -> None:
    fresh.survey(
        postRedirect=post_redirect,
        **({} if threshold is None else {"postRedirectThreshold": threshold}),
    )
    fields = fresh.answers(nps=nps) if nps else fresh.answers()
    response = submit_survey(fresh, fields, store=fresh.store_id)
    assert response.json == {"redirectTo": REVIEW_PAGE if redirects else ""}


def test_redirect_is_empty_if_brand_has_no_target(fresh: SeededAccount) -> None:
    brand = save(BRAND, fresh.account_id, brand_definition())
    clear_caches()
    response = submit_survey(fresh, fresh.answers(nps="10"), brand=brand.id)
    assert response.json == {"redirectTo": ""}


def test_survey_with_single_target_uses_review_page_and_brand_of_target(
    fresh: SeededAccount,
) -> None:
    response = submit_survey(fresh, fresh.answers(nps="10"))
    assert response.json == {"redirectTo": REVIEW_PAGE}
    (feedback,) = stored_feedback(fresh.survey_id)
    assert (feedback.brand_id, feedback.store_id) == (fresh.brand_id, None)
    assert feedback.context_id == fresh.brand_id


@pytest.mark.parametrize("submit", [submit_contact, submit_survey])
def test_store_of_another_brand_is_rejected(
    fresh: SeededAccount, submit: Callable[..., Response]
) -> None:
    brand = save(BRAND, fresh.account_id, brand_definition())
    clear_caches()
    response = submit(fresh, store=fresh.store_id, brand=brand.id)
    assert [pointer for pointer, _ in response.errors] == ["/brand"]
    assert submit(fresh, store=fresh.store_id, brand=fresh.brand_id).status in (201, 204)


@pytest.mark.parametrize("submit", [submit_contact, submit_survey])
@pytest.mark.parametrize("name", ["store", "brand"])
def test_unknown_store_or_brand_is_rejected(
    seeded: SeededAccount, submit: Callable[..., Response], name: str
) -> None:
    other = seed_account()
    for place in (new_id(), getattr(other, f"{name}_id")):
        response = submit(seeded, **{name: place})
        assert response.errors == [(f"/{name}", "unknown_reference")]


def test_contact_form_accepts_only_its_brand_and_stores(fresh: SeededAccount) -> None:
    brand = save(BRAND, fresh.account_id, brand_definition())
    store = save(STORE, fresh.account_id, store_definition(brand.id))
    clear_caches()
    response = submit_contact(fresh, store=store.id, brand=brand.id)
    assert response.errors == [("/store", "unknown_reference"), ("/brand", "unknown_reference")]
    assert submit_contact(fresh, brand=fresh.brand_id).status == 204
    assert submit_survey(fresh, store=store.id).status == 201


@pytest.mark.parametrize("submit", [submit_contact, submit_survey])
def test_response_lists_every_answer_error(
    seeded: SeededAccount, submit: Callable[..., Response]
) -> None:
    fields = [
        {"id": seeded.fields["mail"], "values": ["nobody"]},
        {"id": seeded.fields["nps"], "values": ["11"]},
        {"id": new_id(), "values": ["x"]},
    ]
    assert submit(seeded, fields).errors == [
        ("/fields", "required"),
        ("/fields/0/values/0", "invalid_email"),
        ("/fields/1/values/0", "not_allowed"),
        ("/fields/2", "unknown_reference"),
    ]
    assert submit(seeded, []).errors == [("/fields", "required")]


@pytest.mark.parametrize("submit", [submit_contact, submit_survey])
def test_response_lists_errors_of_places_and_answers_together(
    seeded: SeededAccount, submit: Callable[..., Response]
) -> None:
    fields = [{"id": seeded.fields["mail"], "values": ["nobody"]}]
    assert submit(seeded, fields, store=new_id(), brand=new_id()).errors == [
        ("/store", "unknown_reference"),
        ("/brand", "unknown_reference"),
        ("/fields", "required"),
        ("/fields/0/values/0", "invalid_email"),
    ]


def test_unknown_form_is_not_found(seeded: SeededAccount) -> None:
    for path, form_id in ((SUBMIT_CONTACT, seeded.survey_id), (SUBMIT_SURVEY, new_id())):
        assert CLIENT.submit_fields(path, form_id, []).status == 404


def test_disabled_form_rejects_submission(fresh: SeededAccount) -> None:
    tracker = fresh.tracker()
    fresh.contact_form(enabled=False)
    fresh.survey(enabled=False)
    fresh.survey(fresh.private_survey_id, enabled=False)
    responses = submit_contact(fresh), submit_survey(fresh), submit_private(fresh, tracker)
    assert [response.status for response in responses] == [409, 409, 409]
    assert stored_feedback(fresh.private_survey_id) == []
    used = trackers.find(tracker)
    assert used
    assert used.used_at is None


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"store": new_id()},
        {"brand": new_id()},
        {"store": "7"},
        {"brand": "7"},
        {"store": "7", "tracker": "null"},
        {"unknown": "x"},
        {"headers": {"idempotency-key": "é"}},
    ],
)
def test_private_survey_rejects_submission_without_tracker(
    seeded: SeededAccount, parts: Any
) -> None:
    assert submit_survey(seeded, [], survey_id=seeded.private_survey_id, **parts).status == 403


def test_private_survey_rejects_used_idempotency_key_without_tracker(
    fresh: SeededAccount,
) -> None:
    assert submit_private(fresh, fresh.tracker(), headers=KEY).status == 201
    assert submit_survey(fresh, survey_id=fresh.private_survey_id, headers=KEY).status == 403


def test_malformed_submission_with_tracker_or_to_public_survey_lists_errors(
    seeded: SeededAccount,
) -> None:
    assert submit_survey(seeded, store="7").errors == [("/store", "invalid_uuid")]
    assert submit_survey(seeded, survey_id=new_id(), store="7").errors == [
        ("/store", "invalid_uuid")
    ]
    assert submit_private(seeded, "7", store="7").errors == [
        ("/tracker", "invalid_uuid"),
        ("/store", "invalid_uuid"),
    ]


def test_unknown_tracker_is_not_found(seeded: SeededAccount) -> None:
    of_another = seeded.tracker(seeded.survey_id)
    responses = [submit_private(seeded, tracker) for tracker in (new_id(), of_another)]
    assert [response.status for response in responses] == [404, 404]


def test_public_survey_accepts_tracker_once(seeded: SeededAccount) -> None:
    tracker = seeded.tracker(seeded.survey_id)
    assert submit_survey(seeded, tracker=tracker).status == 201
    assert submit_survey(seeded, tracker=tracker).status == 409


def test_used_tracker_is_rejected(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    assert submit_private(seeded, tracker).status == 201
    assert submit_private(seeded, tracker).status == 409
    path = f"{SURVEY}?survey={seeded.private_survey_id}&tracker={tracker}"
    assert CLIENT.get(path).status == 409


def test_invalid_submission_leaves_tracker_unused(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    assert submit_private(seeded, tracker, []).status == 400
    assert submit_private(seeded, tracker).status == 201


KEY = {"idempotency-key": "k1"}


@pytest.mark.parametrize("kind", ["contact form", "public survey", "private survey"])
def test_repeated_idempotency_key_returns_first_response(fresh: SeededAccount, kind: str) -> None:
    tracker = fresh.tracker()
    submit, form_id = {
        "contact form": (submit_contact, fresh.contact_form_id),
        "public survey": (submit_survey, fresh.survey_id),
        "private survey": (
            lambda seeded, fields, **parts: submit_private(seeded, tracker, fields, **parts),
            fresh.private_survey_id,
        ),
    }[kind]
    fields = fresh.answers(nps="9")
    first = submit(fresh, fields, headers=KEY, store=fresh.store_id)
    second = submit(fresh, fields, headers=KEY, store=fresh.store_id)
    assert (second.status, second.body) == (first.status, first.body)
    assert first.status in (201, 204)
    other = submit(fresh, fresh.answers(nps="8"), headers=KEY, store=fresh.store_id)
    assert other.status == 422
    assert len(stored_feedback(form_id)) == 1
    without_key = submit(fresh, fields, store=fresh.store_id)
    assert without_key.status == (409 if kind == "private survey" else first.status)


def test_retry_with_same_idempotency_key_succeeds_on_disabled_form(fresh: SeededAccount) -> None:
    tracker = fresh.tracker()
    first = submit_private(fresh, tracker, headers=KEY), submit_contact(fresh, headers=KEY)
    fresh.survey(fresh.private_survey_id, enabled=False)
    fresh.contact_form(enabled=False)
    second = submit_private(fresh, tracker, headers=KEY), submit_contact(fresh, headers=KEY)
    assert [a.status for a in first] == [a.status for a in second] == [201, 204]
    assert submit_contact(fresh, headers={"idempotency-key": "k2"}).status == 409


def test_concurrent_duplicate_submission_returns_first_response(
    fresh: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulate a second request that looks up the key before the first request stores feedback."""
    first = submit_survey(fresh, headers=KEY, store=fresh.store_id)
    find = feedback.find
    for store, status in ((fresh.store_id, 201), ("", 422)):
        stale_reads = iter([None])
        monkeypatch.setattr(feedback, "find", lambda id_, stale=stale_reads: next(stale, find(id_)))
        second = submit_survey(fresh, headers=KEY, store=store)
        assert second.status == status
        assert (second.body == first.body) == (status == 201)
    assert len(stored_feedback(fresh.survey_id)) == 1


def test_concurrent_duplicate_submission_with_tracker_returns_first_response(
    fresh: SeededAccount,
) -> None:
    """Simulate a read that returns the used tracker, but not yet the feedback that used it."""
    tracker = fresh.tracker()
    first = submit_private(fresh, tracker, headers=KEY)
    row = FeedbackRow.get(feedback_id_of(tracker))
    row.delete()
    with before_request(1, row.save):
        second = submit_private(fresh, tracker, headers=KEY)
    assert (second.status, second.body) == (first.status, first.body) == (201, first.body)


def test_idempotency_key_is_scoped_to_form_and_operation(fresh: SeededAccount) -> None:
    assert submit_contact(fresh, headers=KEY).status == 204
    assert submit_survey(fresh, headers=KEY).status == 201
    assert submit_contact(seed_account(), headers=KEY).status == 204


@pytest.mark.parametrize("key", ["", "k" * 256, "clé", "a\nb"])
def test_invalid_idempotency_key_is_rejected(seeded: SeededAccount, key: str) -> None:
    response = submit_contact(seeded, headers={"idempotency-key": key})
    assert response.errors == [("Idempotency-Key", "invalid")]


def test_idempotency_key_in_part_has_same_effect_as_in_header(fresh: SeededAccount) -> None:
    first = submit_survey(fresh, idempotencyKey="k1", store=fresh.store_id)
    with counted_calls() as calls:
        again = submit_survey(fresh, headers=KEY, store=fresh.store_id)
    assert (first.status, again.status, again.body) == (201, 201, first.body)
    assert calls.total() == 1
    other = fresh.answers(note="Different")
    assert submit_survey(fresh, other, idempotencyKey="k1", store=fresh.store_id).status == 422


def test_idempotency_key_in_header_takes_precedence(fresh: SeededAccount) -> None:
    other = fresh.answers(note="Different")
    assert submit_contact(fresh, headers=KEY).status == 204
    assert submit_contact(fresh, other, idempotencyKey="k1").status == 422
    assert (
        submit_contact(fresh, other, headers={"idempotency-key": "k2"}, idempotencyKey="k1").status
        == 204
    )


@pytest.mark.parametrize("key", ["é", "x" * 256])
def test_invalid_idempotency_key_in_part_is_rejected(seeded: SeededAccount, key: str) -> None:
    response = submit_contact(seeded, idempotencyKey=key)
    assert response.errors == [("/idempotencyKey", "invalid")]


@pytest.mark.parametrize("path", [SUBMIT_CONTACT, SUBMIT_SURVEY])
def test_response_lists_errors_of_idempotency_key_and_parts(
    seeded: SeededAccount, path: str
) -> None:
    parts = [("id", "x"), ("store", "y"), ("colour", "red"), ("fields", '[{"values": [1]}]')]
    assert CLIENT.submit(path, parts, {"idempotency-key": ""}).errors == [
        ("Idempotency-Key", "invalid"),
        ("/colour", "unknown_key"),
        ("/id", "invalid_uuid"),
        ("/store", "invalid_uuid"),
        ("/fields/0/id", "required"),
        ("/fields/0/values/0", "wrong_type"),
    ]


def test_response_lists_errors_of_idempotency_key_and_malformed_body(seeded: SeededAccount) -> None:
    response = CLIENT.submit(SUBMIT_CONTACT, b"x", {"idempotency-key": ""})
    assert response.errors == [("Idempotency-Key", "invalid"), ("", "malformed")]


@pytest.mark.parametrize("honeypot_value", ["https://spam.example", "x"])
def test_submission_with_honeypot_is_discarded(fresh: SeededAccount, honeypot_value: str) -> None:
    fields = fresh.answers(nps="9")
    assert submit_contact(fresh, fields, homepage=honeypot_value).status == 204
    response = submit_survey(fresh, fields, homepage=honeypot_value, store=fresh.store_id)
    assert (response.status, response.json) == (201, {"redirectTo": REVIEW_PAGE})
    assert stored_feedback(fresh.contact_form_id) == stored_feedback(fresh.survey_id) == []


def test_null_as_honeypot_and_idempotency_key_is_treated_as_absent(fresh: SeededAccount) -> None:
    for note in ("first", "second"):
        fields = fresh.answers(note=note)
        assert submit_contact(fresh, fields, homepage="null", idempotencyKey="null").status == 204
    assert len(stored_feedback(fresh.contact_form_id)) == 2


def test_submission_with_tracker_or_blank_honeypot_is_stored(fresh: SeededAccount) -> None:
    assert submit_private(fresh, fresh.tracker(), homepage="x").status == 201
    assert submit_contact(fresh, homepage=" ").status == 204
    assert (
        len(stored_feedback(fresh.private_survey_id))
        == len(stored_feedback(fresh.contact_form_id))
        == 1
    )


def test_submission_succeeds_when_queue_is_unavailable(
    fresh: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_queue(_service: str) -> Any:
        raise EndpointConnectionError(endpoint_url="https://sqs")

    monkeypatch.setattr(queues, "aws_client", no_queue)
    assert submit_contact(fresh).status == 204
    assert submit_private(fresh, fresh.tracker()).status == 201
    assert len(stored_feedback(fresh.contact_form_id)) == 1


def test_feedback_stores_respondent_language(fresh: SeededAccount) -> None:
    fresh.contact_form(autoTranslate=True, translations={"fr": {"header": {"title": "Bonjour"}}})
    assert submit_contact(fresh, headers={"accept-language": "fr-FR"}).status == 204
    assert [feedback.language for feedback in stored_feedback(fresh.contact_form_id)] == ["fr"]


def test_submission_over_256_kilobytes_is_rejected(fresh: SeededAccount) -> None:
    def body(note: str) -> bytes:
        listed = [note[start : start + 10_000] for start in range(0, len(note), 10_000)]
        encoded_fields = json.dumps([{"id": fresh.fields["note"], "values": listed}])
        return multipart([("id", fresh.contact_form_id), ("fields", encoded_fields)])

    many = select("many", kind="MULTI_SELECT", id=fresh.fields["note"], allowCustomValue=True)
    fresh.contact_form(fields=[many])
    characters = random.Random(1).choices(string.ascii_letters + string.digits, k=256 * 1024)
    note = "".join(characters)
    largest = body(note[: 256 * 1024 - len(body(note))])
    assert len(largest) == 256 * 1024
    assert CLIENT.submit(SUBMIT_CONTACT, largest).status == 204
    assert CLIENT.submit(SUBMIT_CONTACT, largest + b"x").status == 413


@pytest.mark.parametrize(
    ("limited", "cost"),
    [
        (False, {"dynamodb.BatchGetItem": 1, "dynamodb.PutItem": 1, "sqs.SendMessageBatch": 1}),
        (True, {"dynamodb.UpdateItem": 1, "dynamodb.PutItem": 1, "sqs.SendMessageBatch": 1}),
    ],
)
def test_submission_sends_at_most_four_aws_requests(
    fresh: SeededAccount, monkeypatch: pytest.MonkeyPatch, limited: bool, cost: dict[str, int]
) -> None:
    submit_contact(fresh)
    settings = Settings("test", "eu-west-1", submissions=5 if limited else 0)
    monkeypatch.setattr(limit_submissions, "settings", lambda: settings)
    for headers, lookup in (({}, {}), (KEY, {"dynamodb.BatchGetItem": 1})):
        with counted_calls() as calls:
            assert submit_contact(fresh, headers=headers).status == 204
        assert calls == Counter(cost) + Counter(lookup)


def test_submission_with_tracker_sends_three_aws_requests(fresh: SeededAccount) -> None:
    trackers = [fresh.tracker() for _ in range(3)]
    submit_private(fresh, trackers[0])
    for headers, tracker in (({}, trackers[1]), (KEY, trackers[2])):
        with counted_calls() as calls:
            assert submit_private(fresh, tracker, headers=headers).status == 201
        assert dict(calls) == {
            "dynamodb.BatchGetItem": 1,
            "dynamodb.TransactWriteItems": 1,
            "sqs.SendMessageBatch": 1,
        }


@pytest.mark.parametrize(
    ("answers", "errors"),
    [
        ([{"id": "ID", "values": ["x" * 10_001]}], [("/fields/0/values/0", "too_long")]),
        ([{"id": "ID", "values": [1] * 900}] * 13, [("/fields", "too_many")]),
        ([{"id": "ID", "values": ["x"] * 910}] * 11, [("/fields", "too_many")]),
        ([{f"{n}": 1 for n in range(1_100)}] * 10, [("/fields", "too_many")]),
        ([1] * 1_001, [("/fields", "too_many")]),
    ],
)
def test_too_many_or_too_long_values_are_rejected(
    seeded: SeededAccount, answers: list[Any], errors: list[tuple[str, str]]
) -> None:
    encoded = json.loads(json.dumps(answers).replace("ID", seeded.fields["note"]))
    response = CLIENT.submit_fields(SUBMIT_CONTACT, seeded.contact_form_id, encoded)
    assert response.errors == errors


def test_validation_of_answers_stops_after_1000_errors(fresh: SeededAccount) -> None:
    many = select("many", kind="MULTI_SELECT", id=fresh.fields["note"])
    other = select("other", kind="MULTI_SELECT", id=fresh.fields["mail"])
    fresh.contact_form(fields=[many, other])
    for values in (["x"] * 600, [1] * 600):
        answers = [{"id": fresh.fields[key], "values": values} for key in ("note", "mail")]
        response = CLIENT.submit_fields(SUBMIT_CONTACT, fresh.contact_form_id, answers)
        assert (len(response.errors), response.json["faultCount"]) == (1_000, 1_000)
