"""The partner view of an erasure, and the request to erase a customer."""

from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field, WithJsonSchema

from chalicelib.domain.erasure import Erasure, build_receipt
from chalicelib.domain.schema import Identifier, Input, Resource, Timestamp, UuidText
from chalicelib.domain.work import WorkState

_BY_KEY: Final = "API key "


class ErasureRequest(Input):
    """The customer to erase."""

    id: Identifier = Field(description="Identifier of the customer.")


class PartnerErasureState(StrEnum):
    """Whether an erasure has ended."""

    PENDING = "PENDING"
    DONE = "DONE"


class PartnerErasure(Resource):
    """The erasure of a customer."""

    id: UuidText = Field(description="Identifier of the erased customer.")
    state: PartnerErasureState = Field(description="`PENDING`, or `DONE` when all data is erased.")
    requested_at: Timestamp = Field(description="Time of the request.")
    completed_at: Timestamp | None = Field(description="Time at which all data was erased.")
    receipt: Annotated[dict[str, Any], WithJsonSchema({"type": "object"})] = Field(
        description="The receipt: the numbers of erased records by kind (`erased`), other customers"
        " with the same address (`otherCustomers`), the suppressed channels, and the copies that"
        " remain until they expire (`remainingCopies`)."
    )


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
    if not (erasure.operator or "").startswith(_BY_KEY):
        receipt["requestedBy"] = "operator"
    return PartnerErasure(
        id=customer_id,
        state=state,
        requested_at=erasure.erased_at,
        completed_at=erasure.ended_at,
        receipt={**receipt, "state": state.value},
    )
