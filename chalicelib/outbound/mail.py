"""Send e-mails through SES.

The API is `SendRawEmail` of version 1, because it sends every header unchanged.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from typing import Final

from chalicelib.domain.solicitation.mail_domain import ascii_domain
from chalicelib.domain.solicitation.sending_errors import MessageNotSent, MessageRejected
from chalicelib.domain.solicitation.tokens import MAIL_REFERENCE_HEADER
from chalicelib.outbound.providers import provider_client, sending_errors

# Other characters would need 8-bit transport. Not every mail server supports it.
_POLICY: Final = SMTP.clone(cte_type="7bit")
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_URL: Final = re.compile(r"https?://[!-;=?-~]+")
_MAX_NAME: Final = 70
"""The maximum length of a sender's name.

The standard library folds a longer name in quotes and drops the quotes. A comma in the name would
then separate two addresses.
"""
_UNESCAPED: Final = str.maketrans('"\\', "'/")
"""Replacements for the characters that need another character to escape them in a quoted name."""


@dataclass(frozen=True, kw_only=True)
class Mail:
    """One e-mail to one recipient.

    Attributes:
        sender_name: the name that the recipient sees as the sender.
        sender: the address of the sender; SES must have verified it or its domain.
        reply_to: the address that receives replies; ``""`` for the sender.
        unsubscribe_link: unsubscribes the recipient after one POST request (RFC 8058); ``""`` if
            there is none.
        reference: the signed reference to the solicitation, which bounces and complaints return;
            ``""`` if there is none.
        list_id: identifies the survey for mailbox providers, together with the sender's domain
            (RFC 2919); ``""`` if there is none.
        attachment: the name and the content of an attached HTML file, or None.
    """

    sender_name: str
    sender: str
    to: str
    subject: str
    text: str
    date: datetime
    reply_to: str = ""
    html: str = ""
    unsubscribe_link: str = ""
    reference: str = ""
    list_id: str = ""
    attachment: tuple[str, str] | None = None


def send_mail(mail: Mail) -> str:
    """Send an e-mail in one attempt and return its SES message id. One AWS request.

    Raises:
        MessageRejected: the recipient's address is invalid, or SES rejected the message.
        MessageNotSent: nothing was sent; the message can be sent later.
        OutcomeUnknown: the message may have been sent.
    """
    sender, recipient = _configured_address(mail.sender), _address(mail.to)
    content = mime(mail)
    with sending_errors(recipient.addr_spec):
        response = provider_client("ses").send_raw_email(
            Source=sender.addr_spec,
            Destinations=[recipient.addr_spec],
            RawMessage={"Data": content},
        )
        return str(response["MessageId"])


def mime(mail: Mail) -> bytes:
    """Return the message with a text part and an HTML part, or only with a text part.

    Raises:
        MessageRejected: the recipient's address is invalid.
        MessageNotSent: the address of the sender or for replies is invalid.
        ValueError: the unsubscribe link contains characters that a header must not contain.
    """
    message = EmailMessage(policy=_POLICY)
    sender = _configured_address(mail.sender, mail.sender_name)
    message["From"] = sender
    message["To"] = _address(mail.to)
    if mail.reply_to:
        message["Reply-To"] = _configured_address(mail.reply_to)
    message["Subject"] = _header_text(mail.subject)
    message["Date"] = mail.date
    if mail.list_id:
        message["List-Id"] = f"<{mail.list_id}.{sender.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    message["X-Auto-Response-Suppress"] = "All"
    message.set_content(mail.text)
    if mail.html:
        message.add_alternative(mail.html, subtype="html")
    if mail.attachment:
        name, content = mail.attachment
        message.add_attachment(content, subtype="html", filename=name, cte="base64")
    # The reference comes first, because SES truncates headers.
    reference = f"{MAIL_REFERENCE_HEADER}: {mail.reference}\r\n" if mail.reference else ""
    first_headers = reference + _unsubscribe_headers(mail.unsubscribe_link)
    return first_headers.encode("ascii") + message.as_bytes()


def _unsubscribe_headers(link: str) -> str:
    """Return the headers of RFC 8058. The standard library would encode and break a long link."""
    if not link:
        return ""
    if not _URL.fullmatch(link):
        raise ValueError("Invalid unsubscribe link.")
    return f"List-Unsubscribe: <{link}>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"


def _header_text(text: str) -> str:
    """Return the text as one line without encoded words (RFC 2047).

    The standard library would decode an encoded word, which can contain a line break and a header.
    """
    return _CONTROLS.sub(" ", text).replace("=?", "= ?").strip()


def _configured_address(address: str, name: str = "") -> Address:
    """Return the sender or the reply address. Operators configure both.

    If the address is invalid, the message is deferred until an operator corrects it.
    """
    try:
        return _address(address, name)
    except MessageRejected as error:
        raise MessageNotSent("invalid sender or reply address") from error


def _address(address: str, name: str = "") -> Address:
    """Return an address for a header. Convert an international domain to ASCII."""
    local, _, domain = address.rpartition("@")
    try:
        parsed = Address(
            display_name=_header_text(name).translate(_UNESCAPED)[:_MAX_NAME].rstrip(),
            addr_spec=f"{local}@{ascii_domain(domain)}",
        )
    except (MessageError, ValueError, IndexError) as error:
        raise MessageRejected("invalid address") from error
    if not parsed.addr_spec.isascii() or not parsed.domain:
        raise MessageRejected("invalid address")
    return parsed
