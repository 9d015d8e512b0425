"""The channels through which the service sends surveys."""

from chalicelib.domain.schema import Choice


class Channel(Choice):
    """A channel of a message to a customer. A survey's sending channels have the same names."""

    EMAIL = "EMAIL"
    SMS = "SMS"
