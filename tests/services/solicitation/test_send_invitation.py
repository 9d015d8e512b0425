"""Tests of invitation messages: sender, recipient, links, sandbox, maximum number of segments."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from email import message_from_string
from email.policy import default
from typing import Any

import boto3
import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.ses.models import ses_backends
from moto.sns.models import sns_backends

from chalicelib.aws_calls import counted_calls
from chalicelib.domain.customers.addresses import email_hash
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.invitation import SurveyInvitation
from chalicelib.domain.solicitation.links import short_tracker
from chalicelib.domain.solicitation.sending_errors import MessageNotSent, MessageRejected
from chalicelib.domain.solicitation.sms_segments import size_of
from chalicelib.domain.solicitation.solicitation import reminder_id
from chalicelib.domain.solicitation.tokens import MailReference, UnsubscribeToken
from chalicelib.outbound import providers
from chalicelib.services.solicitation import links
from chalicelib.services.solicitation import send_invitation as service
from chalicelib.services.solicitation.send_invitation import (
    invitation_mail,
    invitation_text,
    send_invitation,
)
from chalicelib.settings import Settings
from chalicelib.storage.stage_values import stage_secret
from tests.domain.forms.factories import STORE
from tests.domain.solicitation.factories import ACCOUNT, BASE_URL, TRACKER, invitation

pytestmark = pytest.mark.usefixtures("account")
PHONE = {"phone_number": "+33 6 12 34 56 78"}
SUPPORT = {"email": "help@shop.example"}
Configure = Callable[..., None]


@pytest.fixture(autouse=True)
def fresh_clients() -> Iterator[None]:
    providers.forget_clients()
    yield
    providers.forget_clients()


@pytest.fixture
def configure(monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Return a function that changes settings of the stage."""

    def change(**changes: Any) -> None:
        changed = replace(
            Settings("test", "eu-west-1", mail_sender="surveys@feedback.example"), **changes
        )
        for module in (service, links):
            monkeypatch.setattr(module, "settings", lambda: changed)

    for module in (service, links):
        monkeypatch.setattr(module, "public_base_url", lambda: BASE_URL)
    change()
    return change


def text_message(**properties: Any) -> SurveyInvitation:
    return invitation(channel=Channel.SMS, customer=PHONE, **properties)


def test_mail_is_sent_from_service_with_support_address_as_reply_to(configure: Configure) -> None:
    mail = invitation_mail(with_states(dkim=False, return_path=True))
    assert (mail.sender, mail.reply_to) == ("surveys@feedback.example", "help@shop.example")
    assert (mail.sender_name, mail.to) == ("Maison Lumen", "zoe@example.com")
    assert invitation_mail(invitation()).reply_to == ""


def test_mail_contains_signed_reference_to_solicitation(configure: Configure) -> None:
    sent = invitation()
    reference = MailReference.parse(invitation_mail(sent).reference, stage_secret())
    assert reference == MailReference(sent.solicitation.account_id, sent.solicitation.id)


def test_reminder_is_marked_in_mail_and_text_message(configure: Configure) -> None:
    def reminder(sent: SurveyInvitation) -> SurveyInvitation:
        record_id = reminder_id(sent.solicitation.id)
        return replace(sent, solicitation=replace(sent.solicitation, id=record_id))

    first = invitation(language="fr", customer={"language": "fr"})
    mail, reminded = invitation_mail(first), invitation_mail(reminder(first))
    assert reminded.subject == f"Rappel\u00a0: {mail.subject}"
    assert "Il est encore temps." in reminded.text
    assert "Il est encore temps." in reminded.html
    assert "Il est encore temps." not in mail.text + mail.html
    assert reminded.reference == mail.reference
    sent = text_message()
    assert sent.brand
    long = replace(sent, brand=sent.brand.model_copy(update={"name": "a" * 61}))
    text = invitation_text(reminder(long))
    assert text.startswith("Reminder: aaa")
    assert len(text) == len(invitation_text(long))


def with_states(*, dkim: bool, return_path: bool) -> SurveyInvitation:
    """Return an invitation whose survey has a support address with these checked states."""
    sent = invitation(supportEmail=SUPPORT)
    assert sent.survey.support_email
    states = {"dkim_verified": dkim, "return_path_verified": return_path}
    address = sent.survey.support_email.model_copy(update=states)
    return replace(sent, survey=sent.survey.model_copy(update={"support_email": address}))


@pytest.mark.parametrize("dkim", [False, True])
def test_only_verified_support_address_sends(configure: Configure, dkim: bool) -> None:
    mail = invitation_mail(with_states(dkim=True, return_path=True))
    assert (mail.sender, mail.reply_to) == ("help@shop.example", "")
    mail = invitation_mail(with_states(dkim=dkim, return_path=not dkim))
    assert mail.sender == "surveys@feedback.example"


def test_unsubscribe_link_contains_contact(configure: Configure) -> None:
    sent = invitation(customer={"email": "Zoe@Example.com"})
    mail = invitation_mail(sent)
    link, _, token = mail.unsubscribe_link.partition("?token=")
    assert link == f"{BASE_URL}/public/unsubscribe"
    contact_hash = email_hash(ACCOUNT, "zoe@example.com")
    assert contact_hash
    assert UnsubscribeToken.parse(token, stage_secret()) == UnsubscribeToken(
        ACCOUNT, contact_hash, Channel.EMAIL, sent.survey.id, STORE
    )
    assert mail.unsubscribe_link in mail.text


def test_survey_link_comes_from_template(configure: Configure) -> None:
    sent = invitation()
    short = f"{BASE_URL}/s/{short_tracker(TRACKER)}"
    assert short in invitation_mail(sent).text
    assert f">{short}</a>" in invitation_mail(sent).html
    assert short in invitation_text(text_message())
    configure(survey_link_template="https://shop.example/{survey}/{tracker}")
    own = f"https://shop.example/{sent.survey.id}/{TRACKER}"
    assert own in invitation_mail(sent).text
    assert own in invitation_text(text_message())


def test_mail_is_sent_in_one_aws_request(configure: Configure) -> None:
    boto3.client("ses").verify_domain_identity(Domain="feedback.example")
    invitation_mail(invitation())
    with counted_calls() as calls:
        message_id = send_invitation(invitation())
    assert calls == {"ses.SendRawEmail": 1}
    sent = ses_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"].sent_messages[-1]
    assert (sent.id, set(sent.destinations)) == (message_id, {"zoe@example.com"})


def test_text_message_is_sent_in_one_aws_request(configure: Configure) -> None:
    configure(sms_sender_id="LUMEN")
    send_invitation(text_message())
    with counted_calls() as calls:
        message_id = send_invitation(text_message())
    assert calls == {"sns.Publish": 1}
    number, text = sns_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"].sms_messages[message_id][:2]
    assert number == "+33612345678"
    assert text == invitation_text(text_message())


def test_sandbox_receives_mails_and_text_messages(configure: Configure) -> None:
    boto3.client("ses").verify_domain_identity(Domain="feedback.example")
    configure(sandbox_email="me@example.com")
    for sent in (invitation(), text_message()):
        send_invitation(sent)
        message = ses_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"].sent_messages[-1]
        assert set(message.destinations) == {"me@example.com"}
    parsed = message_from_string(message.raw_data, policy=default)
    assert parsed["Subject"] == "SMS to +33612345678"
    assert parsed.get_content().strip() == invitation_text(text_message())


@pytest.mark.parametrize(
    ("place", "segments", "reason"),
    [
        ("Lumen", 1, ""),
        ("Façon", 2, ""),
        ("Façon", 1, "2 segments (UCS-2 because of ç)"),
    ],
)
def test_text_message_with_too_many_segments_is_rejected(
    configure: Configure, place: str, segments: int, reason: str
) -> None:
    configure(sms_segments=segments)
    sent = text_message()
    assert sent.brand
    sent = replace(sent, brand=sent.brand.model_copy(update={"name": place}))
    if not reason:
        assert invitation_text(sent).startswith(place)
        return
    with pytest.raises(MessageRejected) as error:
        invitation_text(sent)
    assert error.value.reason == reason


@pytest.mark.parametrize(("place", "shown"), [("a" * 60, "a" * 60), ("a" * 61, "a" * 57 + "...")])
def test_long_name_of_place_does_not_change_encoding_of_text_message(
    configure: Configure, place: str, shown: str
) -> None:
    sent = text_message()
    assert sent.brand
    text = invitation_text(replace(sent, brand=sent.brand.model_copy(update={"name": place})))
    assert text.startswith(f"{shown}:")
    assert size_of(text).encoding == "GSM-7"


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (invitation(customer={"email": None}), "no address"),
        (invitation(customer={"email": "zoë@example.com"}), "invalid address"),
        (text_message(), None),
        (invitation(channel=Channel.SMS, customer={"phone_number": "12"}), "invalid phone number"),
        (invitation(channel=Channel.SMS), "invalid phone number"),
    ],
)
def test_invalid_recipient_is_rejected(
    configure: Configure, sent: SurveyInvitation, reason: str | None
) -> None:
    if reason is None:
        assert send_invitation(sent)
        return
    with pytest.raises(MessageRejected, match=reason):
        send_invitation(sent)


def test_mail_without_sender_is_not_sent(configure: Configure) -> None:
    configure(mail_sender="")
    with pytest.raises(MessageNotSent, match="MAIL_SENDER"):
        send_invitation(invitation())


def test_message_is_not_sent_while_stage_values_are_unavailable(
    configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> str:
        raise Unavailable("throttled")

    monkeypatch.setattr(links, "public_base_url", fail)
    with counted_calls() as calls:
        for sent in (invitation(), text_message()):
            with pytest.raises(MessageNotSent, match="database unavailable"):
                send_invitation(sent)
    assert not {"ses.SendRawEmail", "sns.Publish"} & set(calls)
