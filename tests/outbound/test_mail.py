"""Tests of e-mails: MIME structure, headers, and header injection."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws

from chalicelib.aws_calls import counted_calls
from chalicelib.domain.solicitation.sending_errors import MessageNotSent, MessageRejected
from chalicelib.outbound.mail import Mail, mime, send_mail
from chalicelib.outbound.providers import forget_clients

MAIL = Mail(
    sender_name="Maison Lumen",
    sender="surveys@lumen.example.com",
    reply_to="avis@lumen.example.com",
    to="zoe@example.com",
    subject="Votre visite ?",
    text="Bonjour Zoé,\n",
    html="<p>Bonjour Zoé,</p>\n",
    unsubscribe_link="https://api.example.com/prod/public/unsubscribe?token=" + "t" * 200,
    reference="r" * 64,
    date=datetime(2026, 11, 20, 10, tzinfo=UTC),
    list_id="5e000000-0000-4000-8000-000000000001",
)
CONTROLS = "\r\n\x00\x85\u2028"
EXPECTED_HEADERS = {
    "X-Feedback-Solicitation",
    "List-Unsubscribe",
    "List-Unsubscribe-Post",
    "From",
    "To",
    "Reply-To",
    "Subject",
    "Date",
    "List-Id",
    "Auto-Submitted",
    "X-Auto-Response-Suppress",
    "MIME-Version",
    "Content-Type",
}

OPTIONAL_HEADERS = {
    "List-Id",
    "Reply-To",
    "List-Unsubscribe",
    "List-Unsubscribe-Post",
    "X-Feedback-Solicitation",
}


@pytest.fixture
def ses() -> Iterator[None]:
    with mock_aws():
        forget_clients()
        yield
    forget_clients()


def parsed(mail: Mail) -> EmailMessage:
    message = message_from_bytes(mime(mail), policy=default)
    assert isinstance(message, EmailMessage)
    return message


def test_mail_has_all_headers_and_both_parts() -> None:
    message = parsed(MAIL)
    assert dict(message.items()) | {"Content-Type": ""} == {
        "X-Feedback-Solicitation": MAIL.reference,
        "List-Unsubscribe": f"<{MAIL.unsubscribe_link}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "From": "Maison Lumen <surveys@lumen.example.com>",
        "To": "zoe@example.com",
        "Reply-To": "avis@lumen.example.com",
        "Subject": "Votre visite ?",
        "List-Id": "<5e000000-0000-4000-8000-000000000001.lumen.example.com>",
        "Date": "Fri, 20 Nov 2026 10:00:00 +0000",
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "All",
        "MIME-Version": "1.0",
        "Content-Type": "",
    }
    text, html = message.iter_parts()
    assert message.get_content_type() == "multipart/alternative"
    assert text.get_content_type() == "text/plain"
    assert text.get_content().splitlines() == MAIL.text.splitlines()
    assert html.get_content_type() == "text/html"
    assert html.get_content().splitlines() == MAIL.html.splitlines()


def test_optional_parts_are_omitted() -> None:
    message = parsed(
        replace(MAIL, reply_to="", unsubscribe_link="", html="", reference="", list_id="")
    )
    assert set(message.keys()) == {
        *(EXPECTED_HEADERS - OPTIONAL_HEADERS),
        "Content-Transfer-Encoding",
    }
    assert message.get_content_type() == "text/plain"


@given(name=st.text(max_size=150), subject=st.text(max_size=250), text=st.text(max_size=50))
def test_arbitrary_text_adds_no_header_or_address(name: str, subject: str, text: str) -> None:
    mail = replace(MAIL, sender_name=name, subject=subject, text=text.replace("\r", ""))
    content = mime(mail)
    assert content.isascii()
    assert all(len(line) <= 998 for line in content.split(b"\r\n"))
    message = message_from_bytes(content, policy=default)
    assert set(message.keys()) == EXPECTED_HEADERS
    assert len(message.items()) == len(EXPECTED_HEADERS)
    (sender,) = message["From"].addresses
    assert sender.addr_spec == MAIL.sender
    (recipient,) = message["To"].addresses
    assert recipient.addr_spec == MAIL.to


@given(name=st.text(alphabet="a b.,;:@<>()[]\"\\'=?é", max_size=150))
def test_sender_name_with_special_characters_is_one_name(name: str) -> None:
    (sender,) = parsed(replace(MAIL, sender_name=name))["From"].addresses
    assert sender.addr_spec == MAIL.sender
    words = name.replace("=?", "= ?").strip().replace('"', "'").replace("\\", "/")[:70].split()
    assert sender.display_name.split() == words


@pytest.mark.parametrize(
    "name",
    ["Hotel Bellevue, Restaurant & Spa (formerly Grand Hotel), Geneva, Switzerland", "a, " * 50],
)
def test_long_sender_name_with_comma_is_one_name(name: str) -> None:
    (sender,) = parsed(replace(MAIL, sender_name=name))["From"].addresses
    assert (sender.display_name, sender.addr_spec) == (name[:70].strip(), MAIL.sender)


@pytest.mark.parametrize(
    "hostile", ["\r\nBcc: x@evil.example", "\nBcc: x@evil.example", "\r", "\x00", "\u2028", "\x85"]
)
def test_line_breaks_in_headers_become_spaces(hostile: str) -> None:
    message = parsed(replace(MAIL, sender_name=f"Lumen{hostile}", subject=f"Visit{hostile}"))
    assert "Bcc" not in message
    assert message["Subject"] == f"Visit {hostile.strip(CONTROLS)}".strip()


@pytest.mark.parametrize(
    "encoded",
    [
        "=?utf-8?q?x=0D=0ABcc:_x@evil.example?=",
        "=?utf-8?b?DQpCY2M6IHhAZXZpbC5leGFtcGxl?=",
        "=?utf-8?q?=00?= é",
        "==?utf-8?q?=0D=0ABcc:_x@evil.example?=?=",
        "=\r?utf-8?q?=0D=0ABcc:_x@evil.example?=",
    ],
)
def test_encoded_words_in_headers_stay_text(encoded: str) -> None:
    message = parsed(replace(MAIL, sender_name=f"Lumen {encoded}", subject=f"Visit {encoded}"))
    assert set(message.keys()) == EXPECTED_HEADERS
    text = encoded.replace("\r", " ").replace("=?", "= ?")
    assert message["Subject"] == f"Visit {text}"
    (sender,) = message["From"].addresses
    assert (sender.display_name, sender.addr_spec) == (f"Lumen {text}", MAIL.sender)


@pytest.mark.parametrize(
    "address",
    [
        "=?utf-8?q?x=40evil.example=2C?=@example.com",
        '"=?utf-8?q?=0D=0ABcc=3A_x=40evil.example?="@example.com',
        "zoe@example.com\r\nBcc: x@evil.example",
        "zoe@example.com, x@evil.example",
        "zoe",
        "zoe@",
        "@example.com",
        "zoë@example.com",
        "",
        "a b@example.com",
        "zoe@exam\u2028ple.com",
    ],
)
def test_invalid_address_is_rejected(address: str) -> None:
    with pytest.raises(MessageRejected, match="invalid address"):
        mime(replace(MAIL, to=address))


@pytest.mark.parametrize("field", ["sender", "reply_to"])
def test_invalid_sender_or_reply_address_defers_mail(field: str) -> None:
    with pytest.raises(MessageNotSent, match="invalid sender or reply address"):
        mime(replace(MAIL, **{field: "zoë@example.com"}))


def test_mail_with_invalid_sender_is_not_sent() -> None:
    with (
        pytest.raises(MessageNotSent, match="invalid sender or reply address"),
        counted_calls() as calls,
    ):
        send_mail(replace(MAIL, sender="Lumen <surveys@example.com>"))
    assert calls == {}


def test_international_domain_is_converted_to_ascii() -> None:
    assert parsed(replace(MAIL, to="zoe@bücher.example"))["To"] == "zoe@xn--bcher-kva.example"


@pytest.mark.parametrize("link", ["https://x.example/a b", "https://x.example/\r\nBcc: a", "ftp:x"])
def test_invalid_unsubscribe_link_raises_value_error(link: str) -> None:
    with pytest.raises(ValueError, match="unsubscribe link"):
        mime(replace(MAIL, unsubscribe_link=link))


@pytest.mark.usefixtures("ses")
def test_mail_from_unverified_domain_is_rejected() -> None:
    with pytest.raises(MessageRejected, match="MessageRejected"):
        send_mail(MAIL)
