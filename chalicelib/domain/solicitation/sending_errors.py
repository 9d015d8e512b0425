"""The three ways in which sending a message can fail.

The error determines the next state of the solicitation. No customer may receive a survey twice.

SendingError
├── MessageRejected   the provider rejected the message; the outcome is final
│   └── RecipientOptedOut   the provider knows that the recipient opted out
├── MessageNotSent    the message was not sent; it is sent later
│   └── RecipientNotVerified   the provider is in its sandbox; rejected after three days
└── OutcomeUnknown    the customer may have received the message; only an operator sends it again
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


class RecipientOptedOut(MessageRejected):
    """The provider sends no messages to the recipient, who opted out."""


class MessageNotSent(SendingError):
    """The message was not sent.

    The cause: throttling, an exhausted quota, a failed connection, an unavailable database, or an
    error of the configuration, such as an invalid sender.
    """


class RecipientNotVerified(MessageNotSent):
    """The provider is in its sandbox, and the recipient is not verified.

    The message counts as rejected after three days of deferrals.
    """


class OutcomeUnknown(SendingError):
    """The provider may have sent the message: a read time-out, a reset connection or a 5xx."""
