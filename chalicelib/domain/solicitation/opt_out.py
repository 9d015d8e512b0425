"""The request to respect a person's wish to receive no messages."""

from typing import Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from chalicelib.domain.customers.find import CustomerAddress
from chalicelib.domain.schema import Resource
from chalicelib.domain.solicitation.channel import Channel


class OneAddress(CustomerAddress):
    """An e-mail address or a phone number."""

    @model_validator(mode="after")
    def _require_one(self) -> Self:
        if self.email and self.phone_number:
            raise PydanticCustomError("invalid_combination", "Provide either email or phoneNumber.")
        return self

    @property
    def channel(self) -> Channel:
        """The channel of the address."""
        return Channel.EMAIL if self.email else Channel.SMS

    @property
    def address(self) -> str:
        """The e-mail address or the phone number."""
        return self.email or self.phone_number or ""


class OptOut(OneAddress):
    """An address that receives no more messages: an e-mail address or a phone number."""

    channels: list[Channel] | None = Field(
        default=None,
        min_length=1,
        max_length=len(Channel),
        description="The channels: `EMAIL` for an e-mail address, `SMS` for a phone number. This is"
        " also the default.",
    )

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        if set(self.channels or ()) - {self.channel}:
            detail = "An e-mail address has only the channel EMAIL, a phone number only SMS."
            raise PydanticCustomError("invalid_combination", detail)
        return self


class OptedOut(Resource):
    """The channels through which an address receives no more messages."""

    channels: tuple[Channel, ...] = Field(description="The suppressed channels.")
