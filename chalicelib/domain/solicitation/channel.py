"""The channels through which the service sends surveys."""

from collections.abc import Iterable
from typing import Final

from chalicelib.domain.schema import Choice


class Channel(Choice):
    """A channel of a message to a customer. A survey's sending channels have the same names."""

    EMAIL = "EMAIL"
    SMS = "SMS"


OPTINS: Final = {Channel.EMAIL: "email_optin", Channel.SMS: "sms_optin"}
"""The field of a customer's opt-in for each channel."""


def optins_off(channels: Iterable[Channel]) -> dict[str, bool]:
    """Return the values of a customer's fields that turn the opt-ins of these channels off."""
    return {OPTINS[channel]: False for channel in channels}
