"""Send text messages (SMS) through SNS."""

from typing import Any

from chalicelib.outbound.providers import provider_client, sending_errors


def send_text_message(phone_number: str, text: str, sender_id: str = "") -> str:
    """Send a text message in one attempt and return its SNS message id. One AWS request.

    Args:
        phone_number: the recipient in the format E.164.
        sender_id: the name or number that the recipient sees as the sender, in countries that
            support one; ``""`` for the default of the AWS account.

    Raises:
        MessageRejected: SNS rejected the message.
        MessageNotSent: nothing was sent; the message can be sent later.
        OutcomeUnknown: the message may have been sent.
    """
    attributes = {"AWS.SNS.SMS.SMSType": _string("Transactional")}
    if sender_id:
        attributes["AWS.SNS.SMS.SenderID"] = _string(sender_id)
    with sending_errors(phone_number):
        response = provider_client("sns").publish(
            PhoneNumber=phone_number, Message=text, MessageAttributes=attributes
        )
        return str(response["MessageId"])


def _string(value: str) -> dict[str, Any]:
    return {"DataType": "String", "StringValue": value}
