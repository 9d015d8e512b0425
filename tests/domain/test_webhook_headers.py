"""Which headers go out, and which custom ones are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.webhook_headers import UnfitHeader, require_fit_headers, webhook_headers

SYSTEM = {
    "Content-Type": "application/json",
    "User-Agent": "Service-Workflow-Webhook",
    "X-Service-Webhook-Timestamp": "1700000000",
    "X-Service-Webhook-Signature": "sha256=00",
    "X-Service-Webhook-Id": "execution",
}


def merged(custom: dict[str, str]) -> dict[str, str]:
    return webhook_headers(
        custom, execution_id="execution", timestamp=1_700_000_000, signature="sha256=00"
    )


@given(st.sampled_from(sorted(SYSTEM)), st.data())
def test_no_custom_header_replaces_a_systems_whatever_its_case(
    name: str, data: st.DataObject
) -> None:
    cased = "".join(data.draw(st.sampled_from([c.lower(), c.upper()])) for c in name)
    assert merged({cased: "theirs"}) == SYSTEM


def test_other_custom_headers_stand_beside() -> None:
    assert merged({"X-Own": "1"}) == {**SYSTEM, "X-Own": "1"}


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
    ],
)
def test_a_header_that_could_split_or_frame_the_request_is_refused(name: str, value: str) -> None:
    with pytest.raises(UnfitHeader) as caught:
        require_fit_headers({"X-Fine": "yes", name: value})
    assert caught.value.name == name


def test_a_name_twice_in_other_cases_is_refused() -> None:
    with pytest.raises(UnfitHeader, match="twice"):
        require_fit_headers({"X-A": "1", "x-a": "1"})


@pytest.mark.parametrize("value", ["", "a", "a b\tc", "Bearer ~!@#$%^&*()", "b" * 4096])
def test_ordinary_values_are_taken(value: str) -> None:
    require_fit_headers({"Authorization": value, "x_!#$%&'*+.^`|~": value})


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=8), max_size=3))
def test_what_is_taken_holds_no_line_break_anywhere(headers: dict[str, str]) -> None:
    try:
        require_fit_headers(headers)
    except UnfitHeader:
        return
    for name, value in headers.items():
        line = f"{name}: {value}"
        assert line.isascii()
        assert line.isprintable() or "\t" in value
        assert line.splitlines() == [line]
