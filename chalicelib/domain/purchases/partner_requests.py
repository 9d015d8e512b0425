"""Requests of partners about purchases, and their responses."""

from enum import StrEnum
from typing import Annotated, Any, Final, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from chalicelib.domain.customers.import_batch import RowInputError
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.list_cursor import CursorMeta, CursorRequest
from chalicelib.domain.purchases.definition import PurchaseDefinition
from chalicelib.domain.purchases.purchase import Purchase, purchase_id
from chalicelib.domain.schema import (
    Identifier,
    Input,
    ItemsDescribedAs,
    OmittedWhenNone,
    Resource,
    UuidText,
)

MAX_PURCHASES: Final = 100
"""Maximum number of purchases in a batch."""


class PurchaseReport(PurchaseDefinition):
    """A purchase in a request. Its source and external id identify it within the account."""

    solicit: bool = Field(
        default=True,
        description="Whether to send a survey about a new purchase. The default is `true`.",
    )


class PurchaseBatch(Input):
    """A batch of purchases. Each row is validated and recorded separately."""

    batch: Annotated[list[Any], ItemsDescribedAs(PurchaseDefinition)] = Field(
        min_length=1,
        max_length=MAX_PURCHASES,
        description="The purchases, in the order in which they are recorded.",
    )
    solicit: bool = Field(description="Whether to send surveys about new purchases.")


class RowStatus(StrEnum):
    """The result of recording a row of a batch."""

    RECORDED = "RECORDED"
    INVALID = "INVALID"
    FAILED = "FAILED"


class RecordedRow(Resource):
    """The result of one row of a batch of purchases."""

    index: int = Field(description="Position of the row in the batch, from 0.")
    status: RowStatus = Field(
        description="`RECORDED`, `INVALID` (see `errors`), or `FAILED`: the service was busy. Send"
        " rows that failed again."
    )
    id: UuidText | None = Field(description="Identifier of the purchase; `null` unless recorded.")
    errors: Annotated[tuple[RowInputError, ...] | None, OmittedWhenNone] = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="The validation errors of an invalid row.",
    )


class RecordedBatch(Resource):
    """The results of a batch of purchases."""

    items: tuple[RecordedRow, ...] = Field(
        description="One result for each row, in their order.",
        examples=[
            [
                {
                    "index": 0,
                    "status": "RECORDED",
                    "id": "e24b6d0a-8e06-5ab8-a5bb-17f48d49595e",
                },
                {
                    "index": 1,
                    "status": "INVALID",
                    "id": None,
                    "errors": [
                        {
                            "pointer": "/batch/1",
                            "code": "invalid_combination",
                            "detail": "Set either customerId or customer, not both.",
                        }
                    ],
                },
            ]
        ],
    )


class PurchaseReference(Input):
    """A purchase: either its id, or its source and external id."""

    id: Identifier | None = Field(default=None, description="Identifier of the purchase.")
    source: Annotated[DataSource, Field(strict=False)] | None = Field(
        default=None, description="The system from which the purchase comes."
    )
    external_id: Annotated[str, Field(min_length=1, max_length=255)] | None = Field(
        default=None, description="Identifier of the purchase in this system."
    )

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        has_key = bool(self.source and self.external_id)
        has_part = bool(self.source or self.external_id)
        if has_part is not has_key or has_key is bool(self.id):
            detail = "Provide either id, or source and externalId."
            raise PydanticCustomError("invalid_combination", detail)
        return self

    def purchase_id(self, account_id: str) -> str:
        """Return the id of the purchase."""
        if self.source and self.external_id:
            return purchase_id(account_id, self.source, self.external_id)
        return self.id or ""


class PurchaseListRequest(CursorRequest):
    """The requested page of purchases."""

    store_ids: list[Identifier] | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Only purchases in these stores.",
    )
    customer_id: Identifier | None = Field(
        default=None, description="Only purchases of this customer."
    )


class PurchaseList(Resource):
    """A page of purchases."""

    items: tuple[Purchase, ...] = Field(description="The purchases, in the order of creation.")
    meta: CursorMeta
