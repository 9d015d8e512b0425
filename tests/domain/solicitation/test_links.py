"""Tests of the links of invitations: survey links, short links and unsubscribe links."""

from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.links import (
    DEFAULT_SURVEY_LINK,
    parse_short_tracker,
    short_link,
    short_tracker,
    survey_link,
    unsubscribe_link,
    with_parameters,
)
from chalicelib.domain.solicitation.tokens import MAX_TOKEN, UnsubscribeToken
from tests.domain.solicitation.factories import ACCOUNT, BASE_URL, TRACKER

SURVEY = "50f70000-0000-4000-8000-000000000001"
SECRET = b"s" * 32
TOKEN = UnsubscribeToken(ACCOUNT, "c" * 64, Channel.EMAIL, TRACKER, None)


@pytest.mark.parametrize(
    ("template", "answer", "expected"),
    [
        (
            DEFAULT_SURVEY_LINK,
            None,
            f"{BASE_URL}/public/survey/page?survey={SURVEY}&tracker={TRACKER}",
        ),
        (
            DEFAULT_SURVEY_LINK,
            ("a b&c", "10"),
            f"{BASE_URL}/public/survey/page?survey={SURVEY}&tracker={TRACKER}&a.a+b%26c=10",
        ),
        ("https://x.example/{tracker}", ("q", "1"), f"https://x.example/{TRACKER}?a.q=1"),
        (
            "https://x.example/#/{survey}",
            ("q", "1"),
            f"https://x.example/?a.q=1#/{SURVEY}",
        ),
    ],
)
def test_survey_link_fills_template_and_adds_answer(
    template: str, answer: tuple[str, str] | None, expected: str
) -> None:
    link = survey_link(template, base_url=BASE_URL, survey_id=SURVEY, tracker_id=TRACKER)
    assert with_parameters(link, "a.", dict([answer]) if answer else {}) == expected


@given(st.text(min_size=1), st.text(min_size=1))
def test_preselected_answer_is_encoded_in_query_string(key: str, value: str) -> None:
    link = with_parameters(f"{BASE_URL}/public/survey/page?survey={SURVEY}", "a.", {key: [value]})
    assert (f"a.{key}", value) in parse_qsl(urlsplit(link).query, keep_blank_values=True)


@given(st.uuids().map(str))
def test_short_tracker_has_22_characters_and_can_be_decoded(tracker: str) -> None:
    short = short_tracker(tracker)
    assert len(short) == 22
    assert parse_short_tracker(short) == tracker
    assert short_link(BASE_URL, tracker) == f"{BASE_URL}/s/{short}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A" * 21,
        "A" * 23,
        "A" * 21 + "B",  # not canonical: the last bits are unused
        "A" * 20 + "=A",
        "A" * 21 + "+",
        "A" * 20 + "é" + "A",
        str(UUID(int=0)),
    ],
)
def test_invalid_short_tracker_is_rejected(text: str) -> None:
    assert parse_short_tracker(text) is None


@pytest.mark.parametrize("channel", Channel)
def test_signed_unsubscribe_token_can_be_parsed(channel: Channel) -> None:
    token = UnsubscribeToken(ACCOUNT, "c" * 64, channel, survey_id=TRACKER, store_id=ACCOUNT)
    signed = token.signed(SECRET)
    assert UnsubscribeToken.parse(signed, SECRET) == token
    assert len(signed) <= MAX_TOKEN
    assert unsubscribe_link(BASE_URL, token, SECRET) == (
        f"{BASE_URL}/public/unsubscribe?token={signed}"
    )


@pytest.mark.parametrize("position", range(0, len(TOKEN.signed(SECRET)) - 1, 7))
def test_changed_unsubscribe_token_is_rejected(position: int) -> None:
    signed = TOKEN.signed(SECRET)
    other = "A" if signed[position] != "A" else "B"
    changed = signed[:position] + other + signed[position + 1 :]
    assert UnsubscribeToken.parse(changed, SECRET) is None


@pytest.mark.parametrize("text", ["", "x", "é" * 40, "A" * 200, "A" * (MAX_TOKEN + 1), "\x00"])
def test_text_that_is_no_token_is_rejected(text: str) -> None:
    assert UnsubscribeToken.parse(text, SECRET) is None


def test_token_signed_with_another_secret_is_rejected() -> None:
    assert UnsubscribeToken.parse(TOKEN.signed(SECRET), b"t" * 32) is None
