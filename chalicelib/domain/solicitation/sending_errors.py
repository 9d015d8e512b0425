"""The three ways in which sending a message can fail.

The distinction decides what happens to the solicitation: no customer may receive a survey twice.

SendingError
├── MessageRejected   the provider rejected the message; the outcome is final
├── MessageNotSent    nothing left the process; the message is sent later
└── OutcomeUnknown    the customer may have received the message; it is never sent again
"""


class SendingError(Exception):
    """Base class of the errors of sending.

    Attributes:
        reason: a short text for operators, without personal data.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class MessageRejected(SendingError):
    """The provider rejected the message, for example because the address is invalid."""


class MessageNotSent(SendingError):
    """Nothing was sent: throttling, an exhausted quota, or no connection to the provider."""


class OutcomeUnknown(SendingError):
    """The provider may have sent the message: a read time-out, a reset connection or a 5xx."""
