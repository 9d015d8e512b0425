"""The partner view of an account, with the permissions of the key and the limits of requests."""

from pydantic import Field

from chalicelib.domain.accounts.account import Permission
from chalicelib.domain.customers.customer import MAX_CUSTOMER_BYTES
from chalicelib.domain.customers.import_batch import MAX_ROWS
from chalicelib.domain.paging import MAX_LIMIT
from chalicelib.domain.parsing import MAX_BODY_BYTES
from chalicelib.domain.purchases.purchase import MAX_PURCHASE_BYTES
from chalicelib.domain.schema import Resource, UuidText


class PartnerLimits(Resource):
    """Limits of requests. They are the same for all accounts."""

    request_bytes: int = Field(
        default=MAX_BODY_BYTES, description="Maximum size of a request body, in bytes."
    )
    list_items: int = Field(
        default=MAX_LIMIT, description="Maximum number of records on a page of a list."
    )
    customer_bytes: int = Field(
        default=MAX_CUSTOMER_BYTES, description="Maximum size of a customer's JSON, in bytes."
    )
    customer_batch_rows: int = Field(
        default=MAX_ROWS, description="Maximum number of rows in a batch of customers."
    )
    purchase_bytes: int = Field(
        default=MAX_PURCHASE_BYTES, description="Maximum size of a purchase's JSON, in bytes."
    )


class PartnerAccount(Resource):
    """The account of the request's API key, and what the key may do."""

    id: UuidText = Field(description="Unique identifier.")
    name: str = Field(description="Name of the account.")
    time_zone: str = Field(
        description="Time zone of the account and of stores without a time zone, as IANA name.",
        examples=["Europe/Paris"],
    )
    permissions: tuple[Permission, ...] = Field(
        description="What this API key may do: `read`, `write` (create, change, cancel), `erase`"
        " (erase customers)."
    )
    limits: PartnerLimits
