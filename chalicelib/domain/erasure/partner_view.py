"""The partner view of an erasure, and the request to erase a customer."""

from enum import StrEnum
from typing import Final

from pydantic import Field

from chalicelib.domain.erasure.erasure import Erasure, build_receipt
from chalicelib.domain.schema import Identifier, Input, Resource, Timestamp, UuidText
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.work import WorkState

_BY_KEY: Final = "API key "


class ErasureRequest(Input):
    """The customer to erase."""

    id: Identifier = Field(description="Identifier of the customer.")


class PartnerErasureState(StrEnum):
    """Whether an erasure has ended."""

    PENDING = "PENDING"
    DONE = "DONE"


class OtherCustomers(Resource):
    """Customers with the same e-mail address or phone number, which the erasure keeps."""

    count: int = Field(description="Number of these customers.", examples=[1])
    ids: list[UuidText] = Field(
        description="Identifiers of these customers, until the erasure ends."
    )


class RemainingCopy(Resource):
    """A copy of the erased data that remains until it expires."""

    copy_name: str = Field(
        alias="copy", description="What contains the data.", examples=["backups of the tables"]
    )
    retention_days: int = Field(
        description="Number of days after the end of the erasure until the copy expires.",
        examples=[35],
    )
    expires_at: Timestamp | None = Field(
        description="Time at which the copy expires; null until the erasure ends.",
        examples=["2026-12-25T10:05:00.000Z"],
    )


class ErasureReceipt(Resource):
    """The receipt of an erasure."""

    erasure_id: str = Field(
        description="Identifier of the erasure, which is not a UUID.", examples=["466086f40224e644"]
    )
    account_id: UuidText = Field(description="Identifier of the account.")
    state: PartnerErasureState = Field(description="The state of the erasure.", examples=["DONE"])
    erased_at: Timestamp = Field(description="Time of the request.")
    requested_by: str = Field(
        description="The API key that requested the erasure, or `operator`.",
        examples=["API key fk_2678b19cd77f22fa5327cf42"],
    )
    ended_at: Timestamp | None = Field(
        description="Time at which all data was erased.", examples=["2026-11-20T10:05:00.000Z"]
    )
    erased: dict[str, int] = Field(
        description="Numbers of erased records by kind.",
        examples=[{"customers": 1, "purchases": 2, "feedback": 1}],
    )
    other_customers: OtherCustomers
    suppressed_channels: list[Channel] = Field(
        description="The channels through which the person receives no more messages."
    )
    remaining_copies: list[RemainingCopy] = Field(
        description="The copies that remain until they expire."
    )


class PartnerErasure(Resource):
    """The erasure of a customer."""

    id: UuidText = Field(description="Identifier of the erased customer.")
    state: PartnerErasureState = Field(
        description="`PENDING`, or `DONE` when all data is erased.", examples=["DONE"]
    )
    requested_at: Timestamp = Field(description="Time of the request.")
    completed_at: Timestamp | None = Field(
        description="Time at which all data was erased.", examples=["2026-11-20T10:05:00.000Z"]
    )
    receipt: ErasureReceipt = Field(description="What was erased, and what remains until when.")


def requested_by(api_key: str) -> str:
    """Return the name of the requester of an erasure, for the receipt."""
    return f"{_BY_KEY}{api_key}"


def partner_erasure(customer_id: str, erasure: Erasure) -> PartnerErasure:
    """Return the partner view of an erasure.

    Parked work is pending for partners, and partners do not see the identities of operators.
    """
    is_done = erasure.state is WorkState.DONE
    state = PartnerErasureState.DONE if is_done else PartnerErasureState.PENDING
    receipt = build_receipt(erasure)
    if not erasure.operator.startswith(_BY_KEY):
        receipt["requestedBy"] = "operator"
    return PartnerErasure(
        id=customer_id,
        state=state,
        requested_at=erasure.erased_at,
        completed_at=erasure.ended_at,
        receipt=ErasureReceipt.model_validate({**receipt, "state": state}),
    )
