"""Tests of creating and importing customers through the API: validation errors and responses."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from chalice.test import Client

from chalicelib.aws_calls import counted_calls
from chalicelib.domain.customers.platforms import IDENTIFIERS
from chalicelib.domain.ids import new_id, parse_id
from chalicelib.domain.language import LANGUAGE_CODES
from chalicelib.domain.schema import WHITE_SPACE
from chalicelib.web.json_body import MAX_CONTAINERS
from tests.services.customers.importing import all_customers, run_import
from tests.web.partner_client import ROOT, Partner, new_partner

CREATE = "/partners/customer"
BATCH = "/partners/customer/batch"
MEGABYTE = 1024 * 1024
NAUGHTY: list[str] = [
    *json.loads((Path(ROOT) / "tests" / "naughty-strings.json").read_text()),
    "a\x00b", "\x00", "\x01\x1f\x7f\x80\x9f", "\x1c\x1d\x1e\x1f", "\ufeffa\u200b\u2060",
    "مرحبا \u202eabc\u202c", "e\u0301 vs é", "Z\u0351\u036b\u0343a", "नमस्ते", "👩‍👩‍👧‍👦🏳️‍🌈",
    "\ufffe\uffff\U0010ffff", "\U00010000", 'quote " back \\ slash /', "</script>", "x\u2028y",
]  # fmt: skip
TEXTS = [
    "company", "firstName", "lastName", "displayName", "phoneNumber", "civility", *IDENTIFIERS
]  # fmt: skip


def create_customer(partner: Partner, body: Any) -> dict[str, Any]:
    """Create a customer from the body, check that GET returns the same customer, and return it."""
    response = partner.post(CREATE, body)
    assert response.status == 201, response.body
    assert partner.get(f"{CREATE}?id={response.json['id']}").json == response.json
    customer: dict[str, Any] = response.json
    return customer


def validation_errors(partner: Partner, body: Any) -> list[tuple[str, str]]:
    """Send an invalid customer and return the errors of the response.

    Check that a batch that contains this customer as a row gets the same errors.
    """
    errors = partner.post(CREATE, body).errors
    good = {"firstName": "Zoé"}
    assert partner.post(BATCH, {"batch": [good, body]}).errors == [
        (f"/batch/1{pointer}", code) for pointer, code in errors
    ]
    accepted = partner.post(f"{BATCH}?partial=true", {"batch": [body, good]}).json
    assert (accepted["rowCount"], [row["index"] for row in accepted["rejected"]]) == (1, [0])
    assert [(e["pointer"], e["code"]) for e in accepted["rejected"][0]["errors"]] == [
        (f"/batch/0{pointer}", code) for pointer, code in errors
    ]
    return errors


def test_created_customer_has_default_values(partner: Partner) -> None:
    body = {
        "firstName": " Zoé ",
        "lastName": "Martin",
        "email": "Zoe@Example.test",
        "phoneNumber": "06 12",
        "language": " fr ",
        "smsOptin": True,
        "metadata": {"card": "12"},
        "theForkId": "tf-1",
    }
    customer = create_customer(partner, body)
    timestamps = customer.pop("createdAt"), customer.pop("updatedAt")
    assert timestamps[0] == timestamps[1]
    assert parse_id(customer.pop("id"))
    assert {key: value for key, value in customer.items() if value is not None} == {
        "firstName": "Zoé",
        "lastName": "Martin",
        "displayName": "Zoé Martin",
        "email": "Zoe@Example.test",
        "phoneNumber": "06 12",
        "language": "fr",
        "emailBounced": False,
        "emailOptin": False,
        "smsOptin": True,
        "tags": [],
        "attributes": [],
        "feedbackCount": 0,
        "purchaseCount": 0,
        "dataSources": ["Import"],
        "metadata": {"import": {"card": "12"}},
        "theForkId": "tf-1",
    }


def test_create_with_existing_pair_creates_another_customer(partner: Partner) -> None:
    first, second = (create_customer(partner, {"email": "a@example.test"}) for _ in "12")
    assert first["id"] != second["id"]
    assert [c.id for c in all_customers(partner.account_id)] == [first["id"], second["id"]]


@pytest.mark.parametrize("key", [None, "k"], ids=["without key", "with key"])
def test_creating_customer_sends_two_aws_requests(partner: Partner, key: str | None) -> None:
    partner.post(CREATE, {"firstName": "Warm"}, {"Idempotency-Key": "warm"})
    headers = {"Idempotency-Key": key} if key else {}
    with counted_calls() as calls:
        partner.post(CREATE, {"email": "a@example.test"}, headers)
    assert calls == {"dynamodb.BatchGetItem": 1, "dynamodb.TransactWriteItems": 1}


# Bodies that are neither a customer nor a batch


@pytest.mark.parametrize("path", [CREATE, BATCH])
@pytest.mark.parametrize(
    "body",
    [b"", b" ", b"{", b"{'a': 1}", b'{"firstName": "Zo"}x', b"NaN", b'{"firstName": Infinity}',
     b'\xef\xbb\xbf{"firstName": "Z"}', b'{"batch": [' + b"[" * 200_000,
     b'{"firstName": "Zo\xe9"}', '{"firstName": "Zo\ufffd"}'.encode(),
     b'{"firstName": "Zo\xed\xa0\x80"}'],
)  # fmt: skip
def test_invalid_json_is_rejected_as_malformed(known: Partner, path: str, body: bytes) -> None:
    assert known.post(path, body).errors == [("", "malformed")]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (CREATE, b'{"email": "a@example.test", "email": "b@example.test"}'),
        (CREATE, b'{"firstName": "a", "metadata": {"a": "1", "b": "2", "a": "1"}}'),
        (CREATE, b'{"firstName": "a", "\\u0066irstName": "a"}'),
        (BATCH, b'{"batch": [{"firstName": "a"}, {"firstName": "b", "firstName": "c"}]}'),
        (f"{BATCH}?partial=true", b'{"batch": [{"firstName": "b", "firstName": "c"}]}'),
    ],
)
def test_duplicate_property_of_a_json_object_is_rejected(
    known: Partner, path: str, body: bytes
) -> None:
    assert known.post(path, body).errors == [("", "duplicate")]


def test_detail_of_duplicate_property_names_it(known: Partner) -> None:
    (error,) = known.post(CREATE, b'{"firstName": "a", "firstName": "b"}').json["errors"]
    assert error["detail"] == "Duplicate property 'firstName' in an object."
    assert known.post(CREATE, b'{"\\ud800": "a", "\\ud800": "b"}').errors == [("", "duplicate")]


def test_escaped_replacement_character_is_accepted(known: Partner) -> None:
    response = known.post(CREATE, rb'{"firstName": "Zo\ufffd"}')
    assert (response.status, response.json["firstName"]) == (201, "Zo\ufffd")


@pytest.mark.parametrize("body", [None, 7, "text", True, [], [{"firstName": "Zoé"}]], ids=repr)
def test_body_or_row_that_is_not_json_object_is_rejected(known: Partner, body: Any) -> None:
    for path in (CREATE, BATCH):
        assert known.post(path, body).errors == [("", "wrong_type")]
    assert known.post(BATCH, {"batch": [body]}).errors == [("/batch/0", "wrong_type")]


@pytest.mark.parametrize(
    ("body", "input_error"),
    [
        ({}, ("/batch", "required")),
        ({"batch": None}, ("/batch", "required")),
        ({"batch": []}, ("/batch", "too_few")),
        ({"batch": {}}, ("/batch", "wrong_type")),
        ({"batch": "[]"}, ("/batch", "wrong_type")),
        ({"batch": [{"firstName": "Z"}], "partial": True}, ("/partial", "unknown_key")),
    ],
    ids=repr,
)
def test_batch_that_is_not_list_of_rows_is_rejected(
    known: Partner, body: Any, input_error: tuple[str, str]
) -> None:
    assert known.post(BATCH, body).errors == [input_error]


def test_response_lists_errors_of_batch_and_of_its_rows(known: Partner) -> None:
    response = known.post(BATCH, {"batch": [{"email": "x"}, {"foo": 1}, {}], "x": 1})
    assert sorted(response.errors) == [
        ("/batch/0/email", "invalid_email"),
        ("/batch/1/foo", "unknown_key"),
        ("/batch/2", "empty"),
        ("/x", "unknown_key"),
    ]
    partial = known.post(f"{BATCH}?partial=true", {"batch": [{"email": "x"}], "x": 1})
    assert partial.errors == [("/x", "unknown_key")]


@pytest.mark.parametrize(
    "body",
    [
        {}, {"firstName": None}, {"firstName": ""}, {"email": " \t\n", "language": " "},
        {"metadata": {}}, {"metadata": {"a": None}}, {"metadata": {"a": " "}}, dict.fromkeys(TEXTS),
    ],
    ids=repr,
)  # fmt: skip
def test_empty_customer_is_rejected(known: Partner, body: Any) -> None:
    assert validation_errors(known, body) == [("", "empty")]


def test_metadata_names_that_are_equal_after_trimming_are_rejected(known: Partner) -> None:
    body = {"metadata": {"card": "1", " card\t": "2"}}
    assert validation_errors(known, body) == [("/metadata", "duplicate")]
    assert create_customer(known, {"metadata": {"card": "1", " card": ""}})["metadata"] == {
        "import": {"card": "1"}
    }


def test_repeated_request_with_empty_metadata_is_treated_as_same_request(known: Partner) -> None:
    headers = {"Idempotency-Key": new_id()}
    bodies: list[Any] = [
        {"firstName": "Zoé"},
        {"firstName": "Zoé", "metadata": {}},
        {"firstName": "Zoé", "metadata": {"a": " ", "b": None}},
    ]
    created = [known.post(CREATE, body, headers) for body in bodies]
    assert {response.status for response in created} == {201}
    assert len({response.json["id"] for response in created}) == 1


def test_null_and_blank_values_are_not_stored(known: Partner) -> None:
    body = dict.fromkeys([*TEXTS, "description", "email", "language", "metadata", "emailOptin"])
    customer = create_customer(known, {**body, "smsOptin": False, "email": " ", "lastName": ""})
    always_set = {"id", "createdAt", "updatedAt", "dataSources"}
    assert not any(value for key, value in customer.items() if key not in always_set)
    assert create_customer(known, {"metadata": {"a": None, "b": "c"}})["metadata"] == {
        "import": {"b": "c"}
    }


@pytest.mark.parametrize(
    ("body", "input_error"),
    [
        ({"fristName": "Zoé"}, ("/fristName", "unknown_key")),
        ({"fristName": None, "lastName": "M"}, ("/fristName", "unknown_key")),
        ({"first_name": "Zoé"}, ("/first_name", "unknown_key")),
        ({"id": "7"}, ("/id", "unknown_key")),
        ({"a/b~c": 1}, ("/a~1b~0c", "unknown_key")),
        ({"": 1}, ("/", "unknown_key")),
        *(({name: 7}, (f"/{name}", "wrong_type")) for name in [*TEXTS, "description", "email"]),
        ({"firstName": ["Zoé"]}, ("/firstName", "wrong_type")),
        ({"firstName": {}}, ("/firstName", "wrong_type")),
        ({"emailOptin": "true"}, ("/emailOptin", "wrong_type")),
        ({"smsOptin": 1}, ("/smsOptin", "wrong_type")),
        ({"language": "xx"}, ("/language", "not_allowed")),
        ({"language": "FR"}, ("/language", "not_allowed")),
        ({"language": 7}, ("/language", "not_allowed")),
        ({"metadata": []}, ("/metadata", "wrong_type")),
        ({"metadata": "a"}, ("/metadata", "wrong_type")),
        ({"metadata": {"a": {"b": "c"}}}, ("/metadata/a", "wrong_type")),
        ({"metadata": {"a": ["b"]}}, ("/metadata/a", "wrong_type")),
        ({"metadata": {"a": 1}}, ("/metadata/a", "wrong_type")),
        ({"metadata": {"": "x"}}, ("/metadata/", "required")),
        ({"metadata": {"a/b": True}}, ("/metadata/a~1b", "wrong_type")),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_invalid_field_is_reported_with_pointer_and_code(
    known: Partner, body: Any, input_error: tuple[str, str]
) -> None:
    assert validation_errors(known, body) == [input_error]


def test_response_lists_all_errors_of_customer(known: Partner) -> None:
    body = {"email": "nobody", "language": "xx", "firstName": 1, "metadata": {"a": 1}, "x": 1}
    assert sorted(validation_errors(known, body)) == [
        ("/email", "invalid_email"),
        ("/firstName", "wrong_type"),
        ("/language", "not_allowed"),
        ("/metadata/a", "wrong_type"),
        ("/x", "unknown_key"),
    ]


@pytest.mark.parametrize(
    "email",
    ["nobody", "@example.test", "a@", "a b@example.test", "a@b@c.test", "Zoé <zoe@example.test>",
     "a@example..test", ".a@example.test", "a@-example.test", "a\x00@example.test", "a@ex\nample"],
)  # fmt: skip
def test_invalid_email_is_rejected(known: Partner, email: str) -> None:
    assert validation_errors(known, {"email": email}) == [("/email", "invalid_email")]


@pytest.mark.parametrize(
    "email",
    ["a@example.test", "A.B+c@EXAMPLE.com", "a@localhost", "zoé@exämple.test", '"a b"@example.test',
     "a@[192.0.2.1]", "a@example.invalid"],
)  # fmt: skip
def test_email_is_returned_unchanged(known: Partner, email: str) -> None:
    assert create_customer(known, {"email": f" {email}\n"})["email"] == email


def test_every_language_is_accepted(known: Partner) -> None:
    rows = [{"language": code} for code in LANGUAGE_CODES]
    assert known.post(BATCH, {"batch": rows}).json["rowCount"] == len(LANGUAGE_CODES)


# Limits: the largest accepted size and the smallest rejected size


@pytest.mark.parametrize("name", TEXTS)
def test_text_over_255_characters_is_rejected(known: Partner, name: str) -> None:
    longest = "\U0001f469" * 255
    assert create_customer(known, {name: f" {longest} "})[name] == longest
    assert validation_errors(known, {name: "x" * 256}) == [(f"/{name}", "too_long")]


def test_description_over_2000_characters_is_rejected(known: Partner) -> None:
    assert create_customer(known, {"description": "é" * 2_000})["description"] == "é" * 2_000
    assert validation_errors(known, {"description": "é" * 2_001}) == [("/description", "too_long")]


def test_email_over_255_characters_is_rejected(known: Partner) -> None:
    # The limit is 255 characters, but valid email syntax allows at most 254.
    domain = ".".join(["d" * 60] * 3) + ".test"
    longest = "a" * (254 - len(domain) - 1) + "@" + domain
    assert create_customer(known, {"email": longest})["email"] == longest
    assert validation_errors(known, {"email": "a" + longest}) == [("/email", "invalid_email")]
    assert validation_errors(known, {"email": "aa" + longest}) == [("/email", "too_long")]


def test_metadata_with_too_many_or_too_long_fields_is_rejected(known: Partner) -> None:
    def metadata(keys: int = 2, key: int = 3, value: int = 1) -> dict[str, Any]:
        return {"metadata": {f"{n:0{key}}": "v" * value for n in range(keys)}}

    for largest in (metadata(keys=50), metadata(key=255), metadata(value=500)):
        assert create_customer(known, largest)["metadata"]["import"] == largest["metadata"]
    assert validation_errors(known, metadata(keys=51)) == [("/metadata", "too_many")]
    assert validation_errors(known, metadata(keys=1, value=501)) == [("/metadata/000", "too_long")]
    assert validation_errors(known, metadata(keys=1, key=256)) == [
        ("/metadata/" + "0" * 256, "too_long")
    ]


def customer_of_size(partner: Partner, size: int) -> dict[str, Any]:
    """Return a request body whose created customer has ``size`` bytes as JSON."""
    metadata = {f"{n:02}": "x" * 300 + "€" * 200 for n in range(33)}
    small = create_customer(partner, {"metadata": metadata, "description": "x", "civility": "x"})
    compact = json.dumps(small, ensure_ascii=False, separators=(",", ":"))
    missing = size - len(compact.encode())
    in_description = min(missing, 1_900)
    in_civility = missing - in_description
    assert 0 <= in_civility <= 250
    return {
        "metadata": metadata,
        "description": "x" * (1 + in_description),
        "civility": "x" * (1 + in_civility),
    }


def test_customer_over_32_kilobytes_is_rejected(known: Partner) -> None:
    largest, larger = (customer_of_size(known, 32 * 1024 + extra_bytes) for extra_bytes in (0, 1))
    create_customer(known, largest)
    response = known.post(CREATE, larger)
    assert (response.status, response.json["title"]) == (413, "Content Too Large")
    assert response.json["code"] == "record_too_large"
    assert known.post(BATCH, {"batch": [largest]}).status == 201
    assert known.post(BATCH, {"batch": [largest, larger]}).errors == [
        ("/batch/1", "record_too_large")
    ]


def test_customer_over_61000_escaped_bytes_is_rejected(known: Partner) -> None:
    def of_size(size: int) -> dict[str, Any]:
        metadata = {f"{n:02}": "Ж" * 500 for n in range(19)} | {"a": "x" * 500, "b": "x" * 500}
        body: dict[str, Any] = {"metadata": metadata, "description": "x"}
        created = create_customer(known, body)
        compact = json.dumps(created, ensure_ascii=False, separators=(",", ":"))
        missing = size - len(json.dumps(compact)) + 2
        return body | {"description": "x" * (1 + missing)}

    largest, larger = (of_size(61_000 + extra_bytes) for extra_bytes in (0, 1))
    create_customer(known, largest)
    assert known.post(CREATE, larger).status == 413
    assert known.post(BATCH, {"batch": [largest]}).status == 201
    assert known.post(BATCH, {"batch": [largest, larger]}).errors == [
        ("/batch/1", "record_too_large")
    ]


@pytest.mark.parametrize("path", [CREATE, BATCH])
def test_body_over_4_megabytes_is_rejected(known: Partner, path: str) -> None:
    customer = {"firstName": "Zoé"}
    body = json.dumps(customer if path == CREATE else {"batch": [customer]}).encode()
    assert known.post(path, body.ljust(4 * MEGABYTE)).status == 201
    response = known.post(path, body.ljust(4 * MEGABYTE + 1))
    assert (response.status, response.json["title"]) == (413, "Content Too Large")
    assert response.json["code"] == "too_large"
    assert "errors" not in response.json


def test_batch_over_10000_rows_is_rejected(known: Partner) -> None:
    row = {"email": "a@example.test"}
    assert known.post(BATCH, {"batch": [row] * 10_000}).json["rowCount"] == 10_000
    assert known.post(BATCH, {"batch": [row] * 10_001}).errors == [("/batch", "too_many")]
    assert known.post(f"{BATCH}?partial=true", {"batch": [row] * 10_001}).status == 400


def test_validation_stops_after_1000_errors(known: Partner) -> None:
    response = known.post(BATCH, {"batch": [{"x": 1, "email": "nobody"}] * 700})
    assert (response.status, response.json["faultCount"]) == (400, 1_000)
    assert len(response.errors) == 1_000
    assert response.errors[-1][0].startswith("/batch/499/")
    response = known.post(CREATE, {f"x{n}": n for n in range(1_001)})
    assert (len(response.errors), response.json["faultCount"]) == (1_000, 1_000)


def test_partial_batch_response_lists_every_rejected_row(known: Partner) -> None:
    rows = [{"x": 1, "email": "nobody"}] * 1_200
    rejected = known.post(f"{BATCH}?partial=true", {"batch": rows}).json["rejected"]
    assert [row["index"] for row in rejected] == list(range(1_200))
    assert {len(row["errors"]) for row in rejected} == {1, 2}


# Media type, query parameters and idempotency keys


@pytest.mark.parametrize("path", [CREATE, BATCH])
@pytest.mark.parametrize(
    "media_type",
    [
        "text/plain",
        "application/xml",
        "",
        None,
        "multipart/form-data; boundary=x",
        "application/json; charset=iso-8859-1",
        'application/json; version=1; Charset = "utf-16"',
        "application/json;charset=",
    ],
)
def test_media_type_other_than_json_is_rejected(
    known: Partner, path: str, media_type: str | None
) -> None:
    response = known.post(path, b'{"firstName": "Z"}', {"Content-Type": media_type})  # type: ignore[dict-item]
    assert (response.status, response.json["title"]) == (415, "Unsupported Media Type")


@pytest.mark.parametrize("path", [CREATE, BATCH, "/partners/customer/list"])
@pytest.mark.parametrize("encoding", ["gzip", "identity"])
@pytest.mark.parametrize("body", [b"{}", b""])
def test_request_with_content_encoding_is_rejected(
    known: Partner, path: str, encoding: str, body: bytes
) -> None:
    assert known.post(path, body, {"Content-Encoding": encoding}).status == 415


@pytest.mark.parametrize("media_type", ["application/json; charset=utf-8", "Application/JSON;x=y"])
def test_media_type_parameters_are_ignored(known: Partner, media_type: str) -> None:
    body = {"firstName": "Zoé"}
    assert known.post(CREATE, body, {"Content-Type": media_type}).status == 201


@pytest.mark.parametrize(
    ("partial", "status"),
    [("true", 201), ("false", 400), ("True", 400), ("1", 400), ("", 400), ("yes", 400)],
)
def test_partial_parameter_must_be_true_or_false(known: Partner, partial: str, status: int) -> None:
    response = known.post(f"{BATCH}?partial={partial}", {"batch": [{"firstName": "Z"}, {}]})
    assert response.status == status
    if partial == "false":
        assert response.errors == [("/batch/1", "empty")]
    elif status == 400:
        assert ("?partial", "wrong_type") in response.errors


@pytest.mark.parametrize("path", [CREATE, BATCH])
@pytest.mark.parametrize("key", ["", "k" * 256, "clé", "a\tb", "a\nb", "\x7f", "鍵"])
def test_invalid_idempotency_key_is_rejected(known: Partner, path: str, key: str) -> None:
    body = {"firstName": "Z"} if path == CREATE else {"batch": [{"firstName": "Z"}]}
    response = known.post(path, body, {"Idempotency-Key": key})
    assert response.errors == [("Idempotency-Key", "invalid")]


INVALID_KEY = {"Idempotency-Key": "k" * 256}


def test_response_lists_errors_of_idempotency_key_and_body(known: Partner) -> None:
    response = known.post(CREATE, {"email": "x", "tpe": 1}, INVALID_KEY)
    assert response.errors == [
        ("Idempotency-Key", "invalid"),
        ("/email", "invalid_email"),
        ("/tpe", "unknown_key"),
    ]
    assert response.json["faultCount"] == 3
    assert known.post(CREATE, b"{", INVALID_KEY).errors == [
        ("Idempotency-Key", "invalid"),
        ("", "malformed"),
    ]


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"batch": [{"firstName": "Z"}, {"email": "x"}]}, [("/batch/1/email", "invalid_email")]),
        ({"batch": [{"firstName": "Z"}]}, []),
        ({"rows": []}, [("/batch", "required"), ("/rows", "unknown_key")]),
        (b"", [("", "malformed")]),
    ],
)
def test_response_lists_errors_of_query_idempotency_key_and_rows(
    known: Partner, body: Any, errors: list[tuple[str, str]]
) -> None:
    response = known.post(f"{BATCH}?partial=yes", body, INVALID_KEY)
    assert response.errors == [
        ("?partial", "wrong_type"),
        ("Idempotency-Key", "invalid"),
        *errors,
    ]


def test_error_count_includes_unlisted_errors_and_idempotency_key_error(known: Partner) -> None:
    response = known.post(BATCH, {"batch": [{}] * 1_500}, INVALID_KEY)
    assert (len(response.errors), response.json["faultCount"]) == (1_000, 1_001)


@pytest.mark.parametrize("path", [CREATE, f"{BATCH}?partial=yes"])
def test_media_type_and_size_are_checked_before_other_errors(known: Partner, path: str) -> None:
    text = known.post(path, b"{", INVALID_KEY | {"Content-Type": "text/plain"})
    large = known.post(path, b"[" * (4 * 1024 * 1024 + 1), INVALID_KEY)
    assert (text.status, large.status) == (415, 413)


@pytest.mark.parametrize("path", [CREATE, BATCH])
@pytest.mark.parametrize("key", ["k", "K", "k" * 255, ' ~!"#'], ids=len)
def test_same_idempotency_key_and_input_create_one_record(
    partner: Partner, path: str, key: str
) -> None:
    def body(**fields: Any) -> Any:
        customer = {"firstName": "Zoé", "email": "a@example.test"} | fields
        return customer if path == CREATE else {"batch": [customer]}

    headers = {"Idempotency-Key": key}
    first = partner.post(path, body(), headers)
    assert first.status == 201
    repeated = partner.post(path, json.dumps(body(), indent=3, sort_keys=True).encode(), headers)
    assert (repeated.status, repeated.json) == (201, first.json)
    response = partner.post(path, body(firstName="Zoe"), headers)
    assert (response.status, response.json["title"]) == (422, "Unprocessable Content")
    assert partner.post(path, body(), {"Idempotency-Key": f"other {key}"[:255]}).json != first.json


def test_request_with_same_normalized_input_returns_first_response(partner: Partner) -> None:
    headers = {"Idempotency-Key": "k"}
    first = partner.post(CREATE, {"firstName": "Zoé"}, headers)
    assert partner.post(CREATE, {"firstName": " Zoé", "email": None}, headers).json == first.json
    batch = partner.post(BATCH, {"batch": [{"firstName": "Zoé"}]}, headers)
    repeated = partner.post(BATCH, {"batch": [{"firstName": " Zoé", "email": None}]}, headers)
    assert (repeated.status, repeated.json) == (201, batch.json)


def test_idempotency_key_is_scoped_to_account_and_endpoint(
    client: Client, partner: Partner
) -> None:
    headers = {"Idempotency-Key": "k"}
    first = partner.post(CREATE, {"firstName": "Zoé"}, headers)
    other = new_partner(client).post(CREATE, {"firstName": "Zoé"}, headers)
    batch = partner.post(BATCH, {"batch": [{"firstName": "Zoé"}]}, headers)
    assert (first.status, other.status, batch.status) == (201, 201, 201)
    assert len({first.json["id"], other.json["id"], batch.json["id"]}) == 3


def test_deeply_nested_rows_cause_no_server_error(known: Partner) -> None:
    for depth in range(700, 1_000, 7):
        body = b'{"batch": [' + b"[" * depth + b"]" * depth + b"]}"
        response = known.post(f"{BATCH}?partial=true", body, {"Idempotency-Key": new_id()})
        assert response.status in (201, 400)


def test_import_progress_is_returned_by_import_id(client: Client, partner: Partner) -> None:
    batch = partner.post(BATCH, {"batch": [{"firstName": "Zoé"}, {"firstName": "Zoé"}]}).json
    path = f"{BATCH}?id={batch['id']}"
    assert partner.get(path).json["status"] == batch["status"] == "QUEUED"
    run_import(partner.account_id, batch["id"])
    progress = partner.get(path.upper().replace(BATCH.upper() + "?ID", BATCH + "?id")).json
    assert progress["completedAt"]
    assert (progress["status"], progress["rowCount"], progress["created"]) == ("COMPLETED", 2, 2)
    assert new_partner(client).get(path).status == 404
    assert partner.get(f"{BATCH}?id={new_id()}").status == 404
    assert partner.get(BATCH).errors == [("?id", "required")]
    assert partner.get(f"{BATCH}?id=7").errors == [("?id", "invalid_uuid")]


# Unicode texts


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ('{"firstName": "a\\ud800"}', "/firstName"),
        ('{"description": "\\udc00\\ud800"}', "/description"),
        ('{"metadata": {"k": "\\udfff"}}', "/metadata/k"),
        ('{"email": "\\ud800@example.test"}', "/email"),
    ],
)
def test_lone_surrogate_is_rejected(known: Partner, body: str, pointer: str) -> None:
    assert known.post(CREATE, body.encode()).errors == [(pointer, "not_unicode")]
    batch = f'{{"batch": [{body}]}}'.encode()
    assert known.post(BATCH, batch).errors == [(f"/batch/0{pointer}", "not_unicode")]
    assert known.post(BATCH, batch, {"Idempotency-Key": new_id()}).status == 400


@pytest.mark.parametrize("body", ['{"\\ud800": 1}', '{"metadata": {"\\ud800": "v"}}'])
def test_lone_surrogate_in_field_name_is_rejected(known: Partner, body: str) -> None:
    ((pointer, code),) = known.post(CREATE, body.encode()).errors
    assert (code, pointer.isprintable()) == ("not_unicode", True)
    batch = f'{{"batch": [{body}]}}'.encode()
    assert known.post(BATCH, batch).errors == [(f"/batch/0{pointer}", code)]


def trimmed(text: str) -> str:
    return text.strip(WHITE_SPACE)


def naughty_bodies() -> list[dict[str, Any]]:
    """Return request bodies that contain every string of `NAUGHTY`.

    Each string is a text field, a metadata value and a metadata name, as far as its length allows.
    """
    names = [name for name in TEXTS if name != "lastName"]
    short = [text for text in NAUGHTY if len(trimmed(text)) <= 255]
    groups = [
        dict(zip(names, short[start : start + len(names)], strict=False))
        for start in range(0, len(short), len(names))
    ]
    groups += [{"description": text} for text in NAUGHTY if len(trimmed(text)) > 255]
    bodies = []
    for number, texts in enumerate(groups):
        metadata = {f"value {name}": text for name, text in texts.items() if len(text) <= 500}
        unique = {trimmed(text): text for text in texts.values() if 0 < len(trimmed(text)) <= 255}
        metadata |= dict.fromkeys(unique.values(), "key")
        bodies.append({**texts, "lastName": str(number), "metadata": metadata})
    return bodies


def is_stored_unchanged(body: dict[str, Any], customer: dict[str, Any]) -> bool:
    # An empty value counts as absent.
    expected = {name: trimmed(text) or None for name, text in body.items() if name != "metadata"}
    expected_metadata = {trimmed(k): trimmed(v) for k, v in body["metadata"].items() if trimmed(v)}
    # The service fills an absent display name from the names.
    if not expected.get("displayName", "given"):
        expected["displayName"] = customer["displayName"]
    return customer["metadata"] == {"import": expected_metadata} and expected == {
        name: customer[name] for name in expected
    }


def test_naughty_strings_in_created_customer_are_stored_unchanged(partner: Partner) -> None:
    for body in naughty_bodies():
        assert is_stored_unchanged(body, create_customer(partner, body)), body


def test_naughty_strings_in_imported_rows_are_stored_unchanged(partner: Partner) -> None:
    bodies = naughty_bodies()
    batch = partner.post(BATCH, {"batch": bodies}).json
    assert (batch["rowCount"], batch["rejected"]) == (len(bodies), [])
    assert run_import(partner.account_id, batch["id"]).created == len(bodies)
    for body, customer in zip(bodies, all_customers(partner.account_id), strict=True):
        assert is_stored_unchanged(body, partner.get(f"{CREATE}?id={customer.id}").json), body


def test_customer_body_with_over_40000_values_is_rejected(known: Partner) -> None:
    body = b'{"email":[' + b"1," * 40_001 + b"1]}"
    assert known.post(CREATE, body).errors == [("", "too_many")]


def test_batch_with_over_100000_arrays_is_rejected_before_parsing(known: Partner) -> None:
    for count, errors in ((100_001, [("/batch/0", "wrong_type")]), (100_002, [("", "too_many")])):
        body = b'{"batch":[[' + b",".join([b"[]"] * count) + b"]]}"
        assert known.post(BATCH, body).errors == errors


def test_brackets_in_strings_do_not_count_as_arrays(known: Partner) -> None:
    row = {"metadata": {f"{n}": '{[\\"' * 100 for n in range(50)}}
    assert known.post(BATCH, {"batch": [row] * 11}).status == 201


def test_batch_with_unterminated_string_is_rejected_within_a_second(known: Partner) -> None:
    start = time.process_time()
    for end in (b"", b"\\"):
        body = b"[" + b"[]," * (MAX_CONTAINERS - 1) + b'"' + b'\\"[,' * 100_000 + end
        assert known.post(BATCH, body).errors == [("", "malformed")]
        assert known.post(BATCH, b"[[],[]," + body).errors == [("", "too_many")]
    assert time.process_time() - start < 1


def test_response_with_10000_rejected_rows_is_smaller_than_6_mb(known: Partner) -> None:
    body = json.dumps({"batch": [{"\U0001f600" * 60: 1}] * 10_000}, ensure_ascii=False)
    response = known.post(f"{BATCH}?partial=true", body.encode())
    assert response.status == 201
    assert len(json.dumps(response.body)) < 6_000_000
    rejected = response.json["rejected"]
    assert (rejected[999]["errors"][0]["pointer"]) == "/batch/999/" + "\U0001f600" * 60
    assert (rejected[1_000]["errors"][0]["pointer"]) == "/batch/1000"


def test_property_name_in_pointer_is_cut_off_after_300_characters(known: Partner) -> None:
    assert known.post(CREATE, {"k" * 1_000_000: 1}).errors == [("/" + "k" * 300, "unknown_key")]
