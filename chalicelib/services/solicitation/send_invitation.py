"""Build, render and send one survey invitation, by e-mail or by SMS."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import email_hash
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.plain_text import shortened, unbroken
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.invitation import SurveyInvitation
from chalicelib.domain.solicitation.links import unsubscribe_link
from chalicelib.domain.solicitation.mail_content import (
    MailContent,
    MailLinks,
    invitation_language,
    mail_content,
)
from chalicelib.domain.solicitation.sending_errors import MessageNotSent, MessageRejected
from chalicelib.domain.solicitation.sms_segments import TextSize, size_of
from chalicelib.domain.solicitation.tokens import MailReference, UnsubscribeToken
from chalicelib.domain.solicitation.words import message_words
from chalicelib.outbound.mail import Mail, send_mail
from chalicelib.outbound.text_messages import send_text_message
from chalicelib.services.solicitation.case import Case
from chalicelib.services.solicitation.contact_keys import valid_number
from chalicelib.services.solicitation.links import shortest_link, survey_links
from chalicelib.settings import settings
from chalicelib.storage.stage_values import public_base_url, stage_secret

if TYPE_CHECKING:
    from jinja2 import Environment

_MAX_PLACE: Final = 60


def build_invitation(
    case: Case, survey: SavedSurvey, channel: Channel, tracker_id: str
) -> SurveyInvitation:
    """Return the invitation to answer this survey. The case must have a customer and a store."""
    facts = case.facts
    assert facts.recipient  # noqa: S101 - `decide` sends nothing without a recipient and a store
    assert facts.store  # noqa: S101
    contact = facts.recipient.contact(channel)
    assert contact  # noqa: S101 - `decide` chooses only channels that the customer can receive
    return SurveyInvitation(
        solicitation=case.solicitation,
        channel=channel,
        contact_key=contact.key,
        survey=survey,
        customer=facts.recipient.customer,
        store=facts.store,
        brand=facts.brand,
        purchase=facts.purchase,
        tracker_id=tracker_id,
        visited_on=facts.purchase.date.astimezone(ZoneInfo(facts.time_zone)).date(),
    )


def send_invitation(invitation: SurveyInvitation) -> str:
    """Send the message of an invitation in one attempt. Return the provider's message id.

    One AWS request if the stage's secret and base URL and the account's settings are cached.

    Raises:
        MessageRejected: the message cannot be sent, or the provider rejected it.
        MessageNotSent: nothing was sent; the message can be sent later.
        OutcomeUnknown: the message may have been sent.
    """
    mail, number, text = None, "", ""
    try:
        if invitation.channel is Channel.EMAIL:
            mail = invitation_mail(invitation)
        else:
            number, text = _recipient_number(invitation), invitation_text(invitation)
            mail = _sandbox_mail(number, text) if settings().sandbox_email else None
    except Unavailable as error:
        raise MessageNotSent("database unavailable") from error
    return send_mail(mail) if mail else send_text_message(number, text, settings().sms_sender_id)


def invitation_mail(invitation: SurveyInvitation) -> Mail:
    """Return the e-mail of an invitation.

    The e-mail is sent from the survey's support address if the domain of this address is verified.
    Otherwise, it is sent from the stage's sender, and the support address receives the replies.

    Raises:
        MessageNotSent: the stage has no sender.
        MessageRejected: the customer has no e-mail address.
    """
    if not invitation.customer.email:
        raise MessageRejected("no address")
    content = mail_content(invitation, _mail_links(invitation))
    support = invitation.survey.support_email
    reference = MailReference(invitation.solicitation.account_id, invitation.purchase.id)
    is_verified = bool(support and support.dkim_verified and support.return_path_verified)
    return Mail(
        sender_name=content.place,
        sender=support.email if support and is_verified else _service_sender(),
        reply_to=support.email if support and not is_verified else "",
        to=settings().sandbox_email or invitation.customer.email,
        subject=content.subject,
        text=render_text(content),
        html=render_html(content),
        unsubscribe_link=content.links.unsubscribe,
        reference=reference.signed(stage_secret()),
        date=clock.now(),
        list_id=invitation.survey.id,
    )


def invitation_text(invitation: SurveyInvitation) -> str:
    """Return the text message of an invitation.

    Raises:
        MessageRejected: the text has more segments than the stage allows.
    """
    text = message_text(invitation)
    size = size_of(text)
    if size.segments > settings().sms_segments:
        raise MessageRejected(describe_size(size))
    return text


def message_text(invitation: SurveyInvitation) -> str:
    """Return the text message of an invitation, with any number of segments."""
    language = invitation_language(invitation.survey, invitation.customer.language)
    words = message_words(language)
    text = words.sms_reminder if invitation.solicitation.is_reminder else words.sms
    max_place = _MAX_PLACE - len(text) + len(words.sms)
    # GSM-7 has no character for an ellipsis. In UCS-2, the text would have more segments.
    place = shortened(invitation.place_name, max_place, ellipsis="...")
    link = shortest_link(invitation.survey.id, invitation.tracker_id)
    return text % {"place": place, "link": link}


def describe_size(size: TextSize) -> str:
    """Describe the size of a text message for operators: ``2 segments (UCS-2 because of ç)``."""
    because = f" because of {' '.join(size.ucs2_characters[:5])}" if size.ucs2_characters else ""
    return f"{size.segments} segment{'s'[: size.segments > 1]} ({size.encoding}{because})"


def _recipient_number(invitation: SurveyInvitation) -> str:
    account_id, stored = invitation.solicitation.account_id, invitation.customer.phone_number
    number = valid_number(account_id, stored)
    if number is None:
        raise MessageRejected("invalid phone number")
    return number


def _mail_links(invitation: SurveyInvitation) -> MailLinks:
    contact_hash = email_hash(invitation.solicitation.account_id, invitation.customer.email)
    assert contact_hash  # noqa: S101 - the caller checks the address
    store_id = invitation.store.id if invitation.store else None
    token = UnsubscribeToken(
        invitation.solicitation.account_id,
        contact_hash,
        Channel.EMAIL,
        invitation.survey.id,
        store_id,
    )
    page, shortest = survey_links(invitation.survey.id, invitation.tracker_id)
    return MailLinks(
        survey=page,
        short=shortest,
        unsubscribe=unsubscribe_link(public_base_url(), token, stage_secret()),
        is_own_page=not settings().survey_link_template,
    )


def _service_sender() -> str:
    if not settings().mail_sender:
        raise MessageNotSent("MAIL_SENDER is not set")
    return settings().mail_sender


def _sandbox_mail(number: str, text: str) -> Mail:
    return Mail(
        sender_name="SMS",
        sender=_service_sender(),
        to=settings().sandbox_email,
        subject=f"SMS to {number}",
        text=text,
        date=clock.now(),
    )


def render_html(mail: MailContent) -> str:
    """Return the HTML part of an e-mail."""
    return _environment().get_template("invitation.html").render(mail=mail)


def render_text(mail: MailContent) -> str:
    """Return the text part of an e-mail."""
    return _environment().get_template("invitation.txt").render(mail=mail)


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=select_autoescape(["html"]),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["unbroken"] = unbroken
    return environment
