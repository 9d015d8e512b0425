"""Tests of validating custom webhook headers and merging them with system headers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.webhooks.headers import (
    TEST_HEADER,
    InvalidHeader,
    header_errors,
    merge_headers,
    normalize_header_name,
    validate_headers,
    webhook_headers,
)
from chalicelib.domain.webhooks.signature import sign, sign_standard

SYSTEM = {
    "Content-Type": "application/json",
    "User-Agent": "Service-Workflow-Webhook",
    "X-Service-Webhook-Timestamp": "1700000000",
    "X-Service-Webhook-Signature": sign("new", 1_700_000_000, b"{}"),
    "X-Service-Webhook-Id": "execution",
    "webhook-id": "execution",
    "webhook-timestamp": "1700000000",
    "webhook-signature": sign_standard(["new", "old"], "execution", 1_700_000_000, b"{}"),
}


def merged(custom: dict[str, str]) -> dict[str, str]:
    return webhook_headers(
        custom, b"{}", ["new", "old"], execution_id="execution", timestamp=1_700_000_000
    )


@given(st.sampled_from(sorted([*SYSTEM, TEST_HEADER])), st.data())
def test_custom_header_never_replaces_system_header(name: str, data: st.DataObject) -> None:
    variants = {"-": ["-", "_"]}
    written = "".join(
        data.draw(st.sampled_from(variants.get(c, [c.lower(), c.upper()]))) for c in name
    )
    assert merged({written: "theirs"}) == SYSTEM


def test_custom_headers_are_added_to_system_headers() -> None:
    assert merged({"X-Own": "1", "x_other": "2"}) == {**SYSTEM, "X-Own": "1", "x_other": "2"}


def test_system_header_overrides_equivalent_custom_header() -> None:
    assert merge_headers({"x_mark": "1", "X-Own": "2"}, {"X-Mark": "3"}) == {
        "X-Own": "2",
        "X-Mark": "3",
    }


@pytest.mark.parametrize(
    ("name", "other", "same"),
    [
        ("X-Own-Name", "x_own-NAME", True),
        ("X-Own-Name", "X-OwnName", False),
        ("X-Own", "X.Own", False),
    ],
)
def test_header_names_that_differ_in_case_or_dash_and_underscore_are_equivalent(
    name: str, other: str, same: bool
) -> None:
    assert (normalize_header_name(name) == normalize_header_name(other)) is same


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-A", "b\r\nX-B: c"),
        ("X-A", "b\nc"),
        ("X-A", "b\x00"),
        ("X-A", " b"),
        ("X-A", "b\t"),
        ("X-A", "é"),
        ("X-A", "b" * 4097),
        ("X-A\r\nX-B", "c"),
        ("X-A:", "b"),
        ("X A", "b"),
        ("Ünicode", "b"),
        ("", "b"),
        ("X" * 101, "b"),
        ("hOST", "a.example"),
        ("Content-length", "0"),
        ("transfer-encoding", "chunked"),
        ("Connection", "keep-alive"),
        ("Expect", "100-continue"),
        ("Content_Length", "0"),
        ("transfer_ENCODING", "chunked"),
    ],
)
def test_invalid_or_transport_header_is_rejected(name: str, value: str) -> None:
    headers = {"X-Fine": "yes", name: value}
    with pytest.raises(InvalidHeader):
        validate_headers(headers)
    assert [(invalid, code) for invalid, code, _ in header_errors(headers)] == [
        (name, "not_allowed")
    ]


@pytest.mark.parametrize("duplicate", ["x-a-b", "X_A_B", "x-a_B"])
def test_duplicate_custom_header_is_rejected(duplicate: str) -> None:
    with pytest.raises(InvalidHeader, match="Duplicate"):
        validate_headers({"X-A-B": "1", duplicate: "1"})


@pytest.mark.parametrize("value", ["", "a", "a b\tc", "Bearer ~!@#$%^&*()", "b" * 4096])
def test_valid_header_value_is_accepted(value: str) -> None:
    validate_headers({"Authorization": value, "x_!#$%&'*+.^`|~": value})


def test_header_name_over_100_characters_is_rejected() -> None:
    validate_headers({"X" * 100: "b"})
    with pytest.raises(InvalidHeader, match="1 to 100"):
        validate_headers({"X" * 101: "b"})


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=8), max_size=3))
def test_accepted_headers_contain_no_line_break(headers: dict[str, str]) -> None:
    try:
        validate_headers(headers)
    except InvalidHeader:
        return
    for name, value in headers.items():
        line = f"{name}: {value}"
        assert line.isascii()
        assert line.isprintable() or "\t" in value
        assert line.splitlines() == [line]
