"""Change a customer with the body of ``PATCH /partners/customer``."""

from datetime import datetime
from typing import Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.customer import Customer, check_size, joined_name
from chalicelib.domain.customers.pair import normalize_email
from chalicelib.domain.customers.platforms import IMPORT_METADATA_KEY
from chalicelib.domain.schema import WHITE_SPACE


class CustomerPatch(CustomerBody):
    """Changes of a customer. An absent field does not change; `null` clears a field.

    An empty string has the effect of null. Opt-ins cannot be cleared.
    """

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

    @classmethod
    def _is_set(cls, value: Any) -> bool:
        return True  # unlike in other input, null has a meaning here

    @model_validator(mode="after")
    def _require_value(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("empty", "Provide at least one field.")
        return self


def apply_patch(customer: Customer, patch: CustomerPatch, now: datetime) -> Customer:
    """Return the changed customer. If nothing changes, return the customer itself.

    A display name that equals the first and last name follows them. An e-mail to another address
    has not bounced yet.

    Raises:
        RecordTooLarge: the changed customer exceeds a size limit; see `check_size`.
    """
    fields: dict[str, Any] = {name: getattr(patch, name) for name in patch.model_fields_set}
    if "metadata" in fields:
        imported = {IMPORT_METADATA_KEY: fields["metadata"]} if fields["metadata"] else {}
        others = {k: v for k, v in customer.metadata.items() if k != IMPORT_METADATA_KEY}
        fields["metadata"] = imported | others
    names = joined_name(
        fields.get("first_name", customer.first_name), fields.get("last_name", customer.last_name)
    )
    was_derived = customer.display_name == joined_name(customer.first_name, customer.last_name)
    if fields.get("display_name", None if was_derived else customer.display_name) is None:
        fields["display_name"] = names
    email = fields.get("email", customer.email)
    if normalize_email(email or "") != normalize_email(customer.email or ""):
        fields["email_bounced"] = False
    changed = customer.model_copy(update=fields)
    if changed == customer:
        return customer
    changed = changed.model_copy(update={"updated_at": now})
    check_size(changed)
    return changed
