"""A stub of a message provider. A test sets how the stub reacts to messages."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from chalicelib.domain.solicitation.invitation import SurveyInvitation

Reaction = Callable[[SurveyInvitation], object] | BaseException


@dataclass
class Provider:
    """Accept messages, or react to the next messages in the given order.

    Attributes:
        reactions: exceptions to raise instead of sending, or functions to call before sending.
        sent: the messages that reached the customer.
        fails_after_sending: whether an exception is raised after the message reached the customer.
    """

    reactions: list[Reaction] = field(default_factory=list)
    sent: list[SurveyInvitation] = field(default_factory=list)
    fails_after_sending: bool = False

    def send(self, invitation: SurveyInvitation) -> str:
        reaction = self.reactions.pop(0) if self.reactions else None
        if isinstance(reaction, BaseException) and not self.fails_after_sending:
            raise reaction
        if callable(reaction):
            reaction(invitation)
        self.sent.append(invitation)
        if isinstance(reaction, BaseException):
            raise reaction
        return f"message-{invitation.solicitation.id}-{len(self.sent)}"

    def recipients(self) -> Iterator[str]:
        """Yield the customer of each sent message."""
        return (invitation.customer.id for invitation in self.sent)
