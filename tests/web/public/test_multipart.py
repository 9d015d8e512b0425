"""Tests of multipart bodies: every encoding that clients use, and malformed bodies."""

import json
import time
from collections.abc import Sequence
from typing import Any

import pytest
from chalice.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.errors import InvalidInput
from chalicelib.web.public.multipart import MAX_PARTS, parse_parts
from chalicelib.web.public.submission_body import PostedForm
from tests.web.partner_client import Response
from tests.web.public.respondent import BOUNDARY, PublicClient, multipart
from tests.web.public.stored import stored_feedback
from tests.web.seeded_account import SUBMIT_CONTACT, SUBMIT_SURVEY, SeededAccount, seed_account

CLIENT = PublicClient()
NOWHERE = "ffffffff-ffff-4fff-8fff-ffffffffffff"
TYPE = f"multipart/form-data; boundary={BOUNDARY}"


def submit(seeded: SeededAccount, *parts: tuple[str, str]) -> Response:
    return CLIENT.submit(SUBMIT_CONTACT, [("id", seeded.contact_form_id), *parts])


def encodings(what: str, note: str) -> dict[str, Sequence[tuple[str, str]]]:
    """Return the multipart parts of the same two answers, in each supported encoding."""
    items = [{"id": what, "values": ["Food"]}, {"id": note, "values": ["Très bien\r\n☃"]}]
    first, second = (json.dumps(item) for item in items)
    return {
        "one JSON array": [("fields", json.dumps(items, ensure_ascii=False))],
        "one JSON object per part": [("fields", first), ("fields", second)],
        "one JSON object per fields[] part": [("fields[]", first), ("fields[]", second)],
        "one JSON array per part": [("fields", f"[{first}]"), ("fields", f"[{second}]")],
        "indexed text parts": [
            ("fields[0][id]", what),
            ("fields[0][values][0]", "Food"),
            ("fields[1][id]", note),
            ("fields[1][values][0]", "Très bien\r\n☃"),
        ],
        "indexed text parts, unordered with gaps": [
            ("fields[7][values][]", "Très bien\r\n☃"),
            ("fields[7][id]", note),
            ("fields[2][values]", "Food"),
            ("fields[2][id]", what),
        ],
    }


@pytest.mark.parametrize("encoding", encodings("", ""))
@pytest.mark.parametrize("in_base64", [True, False], ids=["base64", "plain"])
def test_every_multipart_encoding_is_accepted(
    client: Client, encoding: str, in_base64: bool
) -> None:
    seeded = seed_account()
    parts = encodings(seeded.fields["what"], seeded.fields["note"])[encoding]
    user = PublicClient(base64=in_base64)
    response = user.submit(SUBMIT_CONTACT, [("id", seeded.contact_form_id), *parts])
    assert response.status == 204, response.body
    (feedback,) = stored_feedback(seeded.contact_form_id)
    assert [a.values for a in feedback.answers] == [["Food"], ["Très bien\r\n☃"]]


FILE_PART = (
    "--{boundary}\r\n"
    'Content-Disposition: form-data; name="{name}"; filename="{filename}"\r\n'
    "Content-Type: {media_type}\r\n\r\n{content}\r\n--{boundary}--\r\n"
)


def file_part(name: str, filename: str, media_type: str, content: str) -> bytes:
    return FILE_PART.format(
        boundary=BOUNDARY, name=name, filename=filename, media_type=media_type, content=content
    ).encode()


@pytest.mark.parametrize("name", ["fields", "fields[]"])
def test_answers_as_json_document_with_file_name_are_accepted(name: str) -> None:
    body = file_part(name, "blob", "application/json; charset=utf-8", "[]")
    assert parse_parts(body, TYPE) == [(name, "[]")]


@pytest.mark.parametrize("filename", ["", "photo.jpg"])
def test_file_input_without_file_is_ignored(filename: str) -> None:
    assert parse_parts(file_part("photo", filename, "application/octet-stream", ""), TYPE) == []


@pytest.mark.parametrize(
    ("name", "media_type"),
    [("photo", "image/jpeg"), ("fields", "text/plain"), ("id", "application/json")],
)
def test_other_file_is_rejected(name: str, media_type: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse_parts(file_part(name, "x", media_type, "[]"), TYPE)
    assert [(e.pointer, e.code) for e in raised.value.errors] == [(f"/{name}", "wrong_type")]


def test_values_are_sorted_by_bracketed_number() -> None:
    parts = [
        ("id", "7b0f0d1c-8d5e-4d6b-9a57-2f1a4c0f9e11"),
        ("fields[0][values][10]", "c"),
        ("fields[0][values][2]", "b"),
        ("fields[0][values][0]", "a"),
        ("fields[0][id]", "7b0f0d1c-8d5e-4d6b-9a57-2f1a4c0f9e12"),
    ]
    submission = PostedForm.of(parts, is_survey=False).submission
    assert submission
    assert submission.fields[0].values == ["a", "b", "c"]


def test_large_bracketed_number_is_accepted(seeded: SeededAccount) -> None:
    response = submit(
        seeded,
        ("fields[999999999][id]", seeded.fields["what"]),
        ("fields[999999999][values][999999999]", "Food"),
    )
    assert response.status == 204


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
        (
            [("more", "x"), ("store", "y")],
            [("/more", "unknown_key"), ("/store", "invalid_uuid")],
        ),
        ([("store", "x")], [("/store", "invalid_uuid")]),
        ([("fields", "x")], [("/fields", "malformed")]),
        ([("fields", "[" * 100_000)], [("/fields", "malformed")]),
        ([("fields", '[{"values": ["a"], "values": ["b"]}]')], [("/fields", "duplicate")]),
        ([("fields", "1")], [("/fields/0", "wrong_type")]),
        ([("fields", "null")], [("/fields/0", "wrong_type")]),
        ([("fields", "{}")], [("/fields/0/id", "required")]),
        ([("fields", '[{"id": "x"}]')], [("/fields/0/id", "invalid_uuid")]),
        ([("fields[0][values][0]", "x")], [("/fields/0/id", "required")]),
        ([("fields", "[]"), ("fields[0][id]", "x")], [("/fields", "invalid_combination")]),
    ],
)
def test_invalid_part_is_rejected(
    seeded: SeededAccount, parts: Sequence[tuple[str, str]], errors: list[tuple[str, str]]
) -> None:
    assert submit(seeded, *parts).errors == errors


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
def test_invalid_answer_in_fields_is_rejected(
    seeded: SeededAccount, value: dict[str, Any], input_error: tuple[str, str]
) -> None:
    item = {"id": seeded.fields["what"], **value}
    assert submit(seeded, ("fields", json.dumps([item]))).errors == [input_error]


def test_too_many_answers_are_rejected(seeded: SeededAccount) -> None:
    item = {"id": seeded.fields["what"], "values": ["Food"]}
    response = submit(seeded, ("fields", json.dumps([item] * 1001)))
    assert response.errors == [("/fields", "too_many")]


@pytest.mark.parametrize("empty_value", ["", " ", "null"])
def test_empty_part_is_treated_as_absent(seeded: SeededAccount, empty_value: str) -> None:
    fields = ("fields", json.dumps(seeded.answers()))
    response = submit(seeded, ("store", empty_value), ("brand", empty_value), fields)
    assert response.status == 204


def test_submission_without_form_id_is_rejected(seeded: SeededAccount) -> None:
    response = CLIENT.submit(SUBMIT_SURVEY, [("fields", "[]")])
    assert response.errors == [("/id", "required")]


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 415),
        ("application/x-www-form-urlencoded", 415),
        ("", 415),
        ("multipart/mixed; boundary=x", 415),
        (f"{TYPE}; charset=iso-8859-1", 415),
        (f"{TYPE}; charset=UTF-8", 204),
        ("multipart/form-data", 400),
        ("multipart/form-data; boundary=", 400),
        (f"multipart/form-data; boundary={'x' * 300}", 400),
        ("multipart/form-data; boundary=other", 400),
        ("multipart/form-data; boundary=☃", 400),
        (f"Multipart/Form-Data; charset=utf-8; Boundary={BOUNDARY}", 204),
        (f'multipart/form-data; boundary="{BOUNDARY}"', 204),
    ],
)
def test_content_type_must_be_multipart_in_utf_8_with_valid_boundary(
    seeded: SeededAccount, content_type: str, status: int
) -> None:
    body = multipart([("id", seeded.contact_form_id), ("fields", json.dumps(seeded.answers()))])
    response = CLIENT.submit(SUBMIT_CONTACT, body, content_type=content_type)
    assert response.status == status
    assert response.headers["access-control-allow-origin"] == "*"


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
        (part(f'{NAMED}; filename="a.txt"') + END, ("/store", "wrong_type")),
        (part(f'{NAMED}; filename=""') + END, ("/store", "wrong_type")),
        (part(f"{NAMED}; filename*=UTF-8''a.txt") + END, ("/store", "wrong_type")),
        (part(NAMED, b"\xff\xfe") + END, ("/store", "not_unicode")),
        (part(NAMED, b"\xc3") + END, ("/store", "not_unicode")),
        (part(f"{NAMED}\r\nContent-Transfer-Encoding: base64") + END, ("/store", "malformed")),
        (part("\r\n".join([NAMED] * 9)) + END, ("", "malformed")),
        (part(f"{NAMED}; x={'y' * 2000}") + END, ("", "malformed")),
        (part("no header at all") + END, ("", "malformed")),
        (part(NAMED) * (MAX_PARTS + 1) + END, ("", "too_many")),
    ],
)
def test_malformed_body_is_rejected(
    seeded: SeededAccount, body: bytes, input_error: tuple[str, str]
) -> None:
    assert CLIENT.submit(SUBMIT_CONTACT, body).errors == [input_error]


def test_truncated_body_is_rejected(seeded: SeededAccount) -> None:
    complete_body = multipart(
        [("id", seeded.contact_form_id), ("fields", json.dumps(seeded.answers()))]
    )
    end = complete_body.rindex(b"--")
    for length in range(end + 1):
        assert CLIENT.submit(SUBMIT_CONTACT, complete_body[:length]).status == 400, length
    assert CLIENT.submit(SUBMIT_CONTACT, complete_body[: end + 2]).status == 204


def test_standard_part_headers_are_accepted() -> None:
    part_headers = f"{NAMED}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 1"
    body = part(f"{part_headers}\r\nContent-Transfer-Encoding: 8bit") + END
    assert parse_parts(body, TYPE) == [("store", "x")]


@pytest.mark.parametrize("invalid_base64", ["☃", "%%%", "YQ", "====", "\ud800"])
def test_malformed_base64_is_rejected(seeded: SeededAccount, invalid_base64: str) -> None:
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
            "body": invalid_base64,
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


@settings(max_examples=150)
@given(st.lists(_WORDS | st.binary(max_size=8), max_size=40).map(b"".join))
def test_random_body_gets_4xx_response(seeded: SeededAccount, body: bytes) -> None:
    assert CLIENT.submit(SUBMIT_CONTACT, body).status in (400, 404, 413)


@settings(max_examples=150)
@given(st.data())
def test_mutated_body_gets_no_5xx_response(seeded: SeededAccount, data: st.DataObject) -> None:
    encoding = data.draw(st.sampled_from(sorted(encodings("", ""))))
    parts = encodings(seeded.fields["what"], seeded.fields["note"])[encoding]
    body = bytearray(multipart([("id", seeded.contact_form_id), *parts]))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(body)))
        end = data.draw(st.integers(start, min(len(body), start + 30)))
        body[start:end] = data.draw(_WORDS | st.binary(max_size=8))
    response = CLIENT.submit(SUBMIT_CONTACT, bytes(body))
    assert response.status in (204, 400, 404)


def test_replacement_character_in_answer_is_stored_unchanged(fresh: SeededAccount) -> None:
    fields = json.dumps(fresh.answers(note="\ufffd"), ensure_ascii=False)
    parts = [("id", fresh.contact_form_id), ("fields", fields)]
    assert CLIENT.submit(SUBMIT_CONTACT, parts).status == 204
    assert stored_feedback(fresh.contact_form_id)[0].answers[1].values == ["\ufffd"]


def test_request_with_content_encoding_is_rejected(seeded: SeededAccount) -> None:
    parts = [("id", seeded.contact_form_id), ("fields", json.dumps(seeded.answers()))]
    assert CLIENT.submit(SUBMIT_CONTACT, parts, {"content-encoding": "gzip"}).status == 415


@pytest.mark.parametrize("position", [0, 1, 2])
def test_part_without_content_has_empty_value(position: int) -> None:
    headers = 'Content-Disposition: form-data; name="homepage"'
    only_headers = f"--{BOUNDARY}\r\n{headers}\r\n".encode()
    parts = [
        part('Content-Disposition: form-data; name="id"'),
        # The content ends with an empty line.
        part('Content-Disposition: form-data; name="note"', b"a\r\n\r\n"),
    ]
    parts.insert(position, only_headers + b"\r\n")
    named = [("id", "x"), ("note", "a\r\n\r\n")]
    named.insert(position, ("homepage", ""))
    assert parse_parts(b"".join(parts) + f"--{BOUNDARY}--\r\n".encode(), TYPE) == named


def test_body_with_thousands_of_empty_parts_is_rejected_within_a_second() -> None:
    start = time.process_time()
    with pytest.raises(InvalidInput):
        parse_parts(f"--{BOUNDARY}\r\nx\r\n\r\n".encode() * 8_000, TYPE)
    with pytest.raises(InvalidInput):
        parse_parts((f"--{BOUNDARY}\r\n" * 9_000 + f"a\r\n\r\n--{BOUNDARY}").encode(), TYPE)
    with pytest.raises(InvalidInput):
        parse_parts((f"x--{BOUNDARY}\r\n" * 9_000 + f"\r\nx\r\n\r\n--{BOUNDARY}").encode(), TYPE)
    assert time.process_time() - start < 1
