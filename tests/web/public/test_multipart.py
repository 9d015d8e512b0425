"""Multipart bodies: every shape that clients write, and every kind of broken one."""

import contextlib
import json
from collections.abc import Sequence
from typing import Any

import pytest
from chalice.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.feedback.submission import ContactFormSubmission
from chalicelib.web.public.multipart import MAX_PARTS, parse_parts
from chalicelib.web.public.submission_body import submission_in
from tests.web.conftest import Answer
from tests.web.opened import SUBMIT_CONTACT, SUBMIT_SURVEY, Opened, open_account
from tests.web.public.respondent import BOUNDARY, EndUser, multipart
from tests.web.public.test_submissions import kept

USER = EndUser()
NOWHERE = "ffffffff-ffff-4fff-8fff-ffffffffffff"
TYPE = f"multipart/form-data; boundary={BOUNDARY}"


@pytest.fixture(scope="module")
def opened(client: Client) -> Opened:
    return open_account()


def submit(opened: Opened, *parts: tuple[str, str]) -> Answer:
    return USER.submit(SUBMIT_CONTACT, [("id", opened.contact_form_id), *parts])


def shapes(what: str, note: str) -> dict[str, Sequence[tuple[str, str]]]:
    """Two answers, written in each way."""
    items = [{"id": what, "values": ["Food"]}, {"id": note, "values": ["Très bien\r\n☃"]}]
    one, other = (json.dumps(item) for item in items)
    return {
        "one JSON array": [("fields", json.dumps(items, ensure_ascii=False))],
        "a JSON object each": [("fields", one), ("fields", other)],
        "a JSON object each, named as an array": [("fields[]", one), ("fields[]", other)],
        "a JSON array each": [("fields", f"[{one}]"), ("fields", f"[{other}]")],
        "numbered texts": [
            ("fields[0][id]", what),
            ("fields[0][values][0]", "Food"),
            ("fields[1][id]", note),
            ("fields[1][values][0]", "Très bien\r\n☃"),
        ],
        "texts in any order, with gaps": [
            ("fields[7][values][]", "Très bien\r\n☃"),
            ("fields[7][id]", note),
            ("fields[2][values]", "Food"),
            ("fields[2][id]", what),
        ],
    }


@pytest.mark.parametrize("shape", shapes("", ""))
@pytest.mark.parametrize("in_base64", [True, False], ids=["base64", "plain"])
def test_every_shape_means_the_same(client: Client, shape: str, in_base64: bool) -> None:
    opened = open_account()
    parts = shapes(opened.fields["what"], opened.fields["note"])[shape]
    user = EndUser(base64=in_base64)
    answer = user.submit(SUBMIT_CONTACT, [("id", opened.contact_form_id), *parts])
    assert answer.status == 204, answer.body
    (feedback,) = kept(opened.contact_form_id)
    assert [a.values for a in feedback.answers] == [["Food"], ["Très bien\r\n☃"]]


def test_numbered_values_stand_in_the_order_of_their_numbers() -> None:
    parts = [
        ("id", "7b0f0d1c-8d5e-4d6b-9a57-2f1a4c0f9e11"),
        ("fields[0][values][10]", "c"),
        ("fields[0][values][2]", "b"),
        ("fields[0][values][0]", "a"),
        ("fields[0][id]", "7b0f0d1c-8d5e-4d6b-9a57-2f1a4c0f9e12"),
    ]
    body = submission_in(parts, ContactFormSubmission)
    assert body.submission.fields[0].values == ["a", "b", "c"]


def test_a_huge_number_costs_no_more_than_a_small_one(opened: Opened) -> None:
    answer = submit(
        opened,
        ("fields[999999999][id]", opened.fields["what"]),
        ("fields[999999999][values][999999999]", "Food"),
    )
    assert answer.status == 204


@pytest.mark.parametrize(
    ("parts", "errors"),
    [
        ([("more", "x")], [("/more", "unknown_key")]),
        ([("tracker", "x")], [("/tracker", "unknown_key")]),
        ([("Fields", "[]")], [("/Fields", "unknown_key")]),
        ([("fields[0]", "x")], [("/fields[0]", "unknown_key")]),
        ([("fields[0][more]", "x")], [("/fields[0][more]", "unknown_key")]),
        ([("fields[0][id][0]", "x")], [("/fields[0][id][0]", "unknown_key")]),
        ([("fields[-1][id]", "x")], [("/fields[-1][id]", "unknown_key")]),
        ([("fields[1e9][id]", "x")], [("/fields[1e9][id]", "unknown_key")]),
        ([("fields[9999999999][id]", "x")], [("/fields[9999999999][id]", "unknown_key")]),
        ([("store", NOWHERE), ("store", "y")], [("/store", "duplicate")]),
        ([("fields[0][id]", NOWHERE), ("fields[0][id]", "x")], [("/fields[0][id]", "duplicate")]),
        ([("more", "x"), ("store", "y")], [("/more", "unknown_key"), ("/store", "invalid_uuid")]),
        ([("store", "x")], [("/store", "invalid_uuid")]),
        ([("fields", "x")], [("/fields", "malformed")]),
        ([("fields", "[" * 100_000)], [("/fields", "malformed")]),
        ([("fields", "1")], [("/fields/0", "wrong_type")]),
        ([("fields", "null")], [("/fields/0", "wrong_type")]),
        ([("fields", "{}")], [("/fields/0/id", "required")]),
        ([("fields", '[{"id": "x"}]')], [("/fields/0/id", "invalid_uuid")]),
        ([("fields[0][values][0]", "x")], [("/fields/0/id", "required")]),
        ([("fields", "[]"), ("fields[0][id]", "x")], [("/fields", "not_allowed")]),
    ],
)
def test_parts_that_mean_nothing_are_named(
    opened: Opened, parts: Sequence[tuple[str, str]], errors: list[tuple[str, str]]
) -> None:
    assert submit(opened, *parts).errors == errors


@pytest.mark.parametrize(
    ("value", "input_error"),
    [
        ({"values": 7}, ("/fields/0/values", "wrong_type")),
        ({"values": ["\ud800"]}, ("/fields/0/values/0", "not_unicode")),
        ({"values": [7]}, ("/fields/0/values/0", "wrong_type")),
        ({"values": ["x"] * 1001}, ("/fields/0/values", "too_many")),
        ({"more": 1}, ("/fields/0/more", "unknown_key")),
    ],
)
def test_items_that_break_a_rule_are_named(
    opened: Opened, value: dict[str, Any], input_error: tuple[str, str]
) -> None:
    item = {"id": opened.fields["what"], **value}
    assert submit(opened, ("fields", json.dumps([item]))).errors == [input_error]


def test_the_number_of_answers_has_an_end(opened: Opened) -> None:
    item = {"id": opened.fields["what"], "values": ["Food"]}
    answer = submit(opened, ("fields", json.dumps([item] * 1001)))
    assert answer.errors == [("/fields", "too_many")]


@pytest.mark.parametrize("nothing", ["", " ", "null"])
def test_an_empty_part_is_not_given(opened: Opened, nothing: str) -> None:
    fields = ("fields", json.dumps(opened.answered()))
    answer = submit(opened, ("store", nothing), ("brand", nothing), fields)
    assert answer.status == 204


def test_the_id_is_required(opened: Opened) -> None:
    answer = USER.submit(SUBMIT_SURVEY, [("fields", "[]")])
    assert answer.errors == [("/id", "required")]


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 415),
        ("application/x-www-form-urlencoded", 415),
        ("", 415),
        ("multipart/mixed; boundary=x", 415),
        ("multipart/form-data", 400),
        ("multipart/form-data; boundary=", 400),
        (f"multipart/form-data; boundary={'x' * 300}", 400),
        ("multipart/form-data; boundary=other", 400),
        ("multipart/form-data; boundary=☃", 400),
        (f"Multipart/Form-Data; charset=utf-8; Boundary={BOUNDARY}", 204),
        (f'multipart/form-data; boundary="{BOUNDARY}"', 204),
    ],
)
def test_the_content_type_decides(opened: Opened, content_type: str, status: int) -> None:
    body = multipart([("id", opened.contact_form_id), ("fields", json.dumps(opened.answered()))])
    answer = USER.submit(SUBMIT_CONTACT, body, content_type=content_type)
    assert answer.status == status
    assert answer.headers["access-control-allow-origin"] == "*"


def part(headers: str, content: bytes = b"x") -> bytes:
    return f"--{BOUNDARY}\r\n{headers}\r\n\r\n".encode() + content + b"\r\n"


END = f"--{BOUNDARY}--\r\n".encode()
NAMED = 'Content-Disposition: form-data; name="store"'


@pytest.mark.parametrize(
    ("body", "input_error"),
    [
        (b"", ("", "malformed")),
        (b"x", ("", "malformed")),
        (b'{"id": "x"}', ("", "malformed")),
        (END, ("/id", "required")),
        (part("Content-Type: text/plain") + END, ("", "malformed")),
        (part("Content-Disposition: form-data") + END, ("", "malformed")),
        (part('Content-Disposition: attachment; name="store"') + END, ("", "malformed")),
        (part(f'{NAMED}; filename="a.txt"') + END, ("/store", "not_allowed")),
        (part(f'{NAMED}; filename=""') + END, ("/store", "not_allowed")),
        (part(f"{NAMED}; filename*=UTF-8''a.txt") + END, ("/store", "not_allowed")),
        (part(NAMED, b"\xff\xfe") + END, ("/store", "not_unicode")),
        (part(NAMED, b"\xc3") + END, ("/store", "not_unicode")),
        (part(f"{NAMED}\r\nContent-Transfer-Encoding: base64") + END, ("/store", "malformed")),
        (part("\r\n".join([NAMED] * 9)) + END, ("", "malformed")),
        (part(f"{NAMED}; x={'y' * 2000}") + END, ("", "malformed")),
        (part("no header at all") + END, ("", "malformed")),
        (part(NAMED) * (MAX_PARTS + 1) + END, ("", "too_many")),
    ],
)
def test_broken_bodies_are_refused(
    opened: Opened, body: bytes, input_error: tuple[str, str]
) -> None:
    assert USER.submit(SUBMIT_CONTACT, body).errors == [input_error]


def test_a_body_cut_anywhere_is_refused(opened: Opened) -> None:
    whole = multipart([("id", opened.contact_form_id), ("fields", json.dumps(opened.answered()))])
    end = whole.rindex(b"--")
    for length in range(end + 1):
        assert USER.submit(SUBMIT_CONTACT, whole[:length]).status == 400, length
    assert USER.submit(SUBMIT_CONTACT, whole[: end + 2]).status == 204


def test_headers_that_a_part_may_have_change_nothing() -> None:
    usual = f"{NAMED}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 1"
    body = part(f"{usual}\r\nContent-Transfer-Encoding: 8bit") + END
    assert parse_parts(body, TYPE) == [("store", "x")]


@pytest.mark.parametrize("broken", ["☃", "%%%", "YQ", "====", "\ud800"])
def test_what_the_gateway_cannot_have_sent_is_refused_too(opened: Opened, broken: str) -> None:
    from app import app

    for in_base64 in (True, False):
        event = {
            "headers": {"content-type": TYPE},
            "multiValueQueryStringParameters": None,
            "pathParameters": None,
            "stageVariables": None,
            "requestContext": {
                "httpMethod": "POST",
                "resourcePath": SUBMIT_CONTACT,
                "path": SUBMIT_CONTACT,
            },
            "body": broken,
            "isBase64Encoded": in_base64,
        }
        assert app(event, None)["statusCode"] == 400


_WORDS = st.sampled_from(
    [
        b"--", BOUNDARY.encode(), b"\r\n", b"\r", b"\n", b'"', b";", b"=", b": ", b"\x00", b"\xff",
        b"Content-Disposition: form-data; ", b'name="id"', b'name="fields"',
        b'name="fields[0][id]"',
        b'name="fields[0][values][]"', b'filename="x"', b"Content-Type: text/plain", b"[", b"]",
        b"{}", b'{"id": "7b0f0d1c-8d5e-4d6b-9a57-2f1a4c0f9e11", "values": ["1"]}', END, b"\\",
    ]
)  # fmt: skip


@settings(max_examples=400)
@given(st.lists(_WORDS | st.binary(max_size=8), max_size=40).map(b"".join))
def test_no_body_meets_a_bug(opened: Opened, body: bytes) -> None:
    assert USER.submit(SUBMIT_CONTACT, body).status in (400, 404, 413)


@settings(max_examples=300)
@given(st.data())
def test_no_changed_body_meets_a_bug(opened: Opened, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(sorted(shapes("", ""))))
    parts = shapes(opened.fields["what"], opened.fields["note"])[shape]
    body = bytearray(multipart([("id", opened.contact_form_id), *parts]))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(body)))
        end = data.draw(st.integers(start, min(len(body), start + 30)))
        body[start:end] = data.draw(_WORDS | st.binary(max_size=8))
    answer = USER.submit(SUBMIT_CONTACT, bytes(body))
    assert answer.status in (204, 400, 404)


_NAMES = st.sampled_from(
    ["id", "store", "brand", "fields", "fields[]", "homepage", "fields[0][id]", "fields[1][values]"]
) | st.text(max_size=12)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "values", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=300)
@given(st.lists(st.tuples(_NAMES, st.text(max_size=12) | _JSON.map(json.dumps)), max_size=8))
def test_no_parts_meet_a_bug(opened: Opened, parts: list[tuple[str, str]]) -> None:
    with contextlib.suppress(InvalidInput):
        submission_in(parts, ContactFormSubmission)
