"""The channels through which the service sends surveys."""

from enum import StrEnum


class Channel(StrEnum):
    """A channel of a message to a customer. A survey's sending channels have the same names."""

    EMAIL = "EMAIL"
    SMS = "SMS"
