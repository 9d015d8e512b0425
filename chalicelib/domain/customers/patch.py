"""Change a customer with the body of ``PATCH /partners/customer``."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from chalicelib.domain.customers.addresses import normalize_email
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.customer import Customer, check_size, joined_name
from chalicelib.domain.customers.platforms import IMPORT_METADATA_KEY
from chalicelib.domain.schema import WHITE_SPACE


class CustomerPatch(CustomerBody):
    """Changes of a customer. An absent field does not change; `null` clears a field.

    An empty string has the effect of null. Opt-ins cannot be cleared.
    """

    unset = ()  # unlike in other input, null has a meaning here

    sms_optin: bool = Field(
        default=False,
        description="Whether the customer accepts SMS messages. See the description of the"
        " operation.",
    )
    email_optin: bool = Field(
        default=False,
        description="Whether the customer accepts e-mails. See the description of the operation.",
    )

    @model_validator(mode="before")
    @classmethod
    def _clear_empty_fields(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {
            name: None if isinstance(value, str) and not value.strip(WHITE_SPACE) else value
            for name, value in data.items()
        }

    @model_validator(mode="after")
    def _require_value(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("empty", "Provide at least one field.")
        return self


def apply_patch(customer: Customer, patch: CustomerPatch, now: datetime) -> Customer:
    """Return the changed customer, or the same if nothing changes. See `merged_customer`.

    Raises:
        RecordTooLarge: the changed customer exceeds a size limit; see `check_size`.
    """
    fields: dict[str, Any] = {name: getattr(patch, name) for name in patch.model_fields_set}
    if "metadata" in fields:
        imported = {IMPORT_METADATA_KEY: fields["metadata"]} if fields["metadata"] else {}
        others = {k: v for k, v in customer.metadata.items() if k != IMPORT_METADATA_KEY}
        fields["metadata"] = imported | others
    return merged_customer(customer, fields, now)


def merged_customer(stored: Customer, changes: Mapping[str, Any], now: datetime) -> Customer:
    """Return the stored customer with these values. If nothing changes, return it as it is.

    A display name that equals the first and last name follows them; None restores it. An e-mail to
    another address has not bounced yet.

    Raises:
        RecordTooLarge: the changed customer exceeds a size limit; see `check_size`.
    """
    changed = stored.model_copy(update=dict(changes))
    derived = joined_name(stored.first_name, stored.last_name)
    if changes.get("display_name", "") is None or (
        "display_name" not in changes and stored.display_name in (None, derived)
    ):
        name = joined_name(changed.first_name, changed.last_name)
        changed = changed.model_copy(update={"display_name": name})
    has_other_address = normalize_email(changed.email or "") != normalize_email(stored.email or "")
    if has_other_address and "email_bounced" not in changes:
        changed = changed.model_copy(update={"email_bounced": False})
    if changed == stored:
        return stored
    changed = changed.model_copy(update={"updated_at": now})
    check_size(changed)
    return changed
