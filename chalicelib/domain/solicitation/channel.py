"""The channels through which the service sends surveys."""

from enum import StrEnum


class Channel(StrEnum):
    """A channel of a message to a customer. The same names are in a survey's sending channels."""

    EMAIL = "EMAIL"
    SMS = "SMS"
