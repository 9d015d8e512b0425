"""The channels through which the service sends surveys."""

from typing import Final

from chalicelib.domain.schema import Choice


class Channel(Choice):
    """A channel of a message to a customer. A survey's sending channels have the same names."""

    EMAIL = "EMAIL"
    SMS = "SMS"


OPTINS: Final = {Channel.EMAIL: "email_optin", Channel.SMS: "sms_optin"}
"""The field of a customer's opt-in for each channel."""
