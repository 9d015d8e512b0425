"""Merge the definition of a customer into the stored customer."""

from collections.abc import Mapping
from typing import Any, Final

from admin.domain.customers.definition import CustomerDefinition
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.patch import merged_customer

_STORED_AS: Final = {"type": ("declared_type",), "tags": ("tags", "tag_ids")}
"""The fields of a stored customer to which a field of a definition corresponds, if they differ."""


def merge_customer(definition: Mapping[str, Any], defined: Customer, stored: Customer) -> Customer:
    """Return the stored customer with the fields that the definition contains.

    Absent fields and empty strings do not change a field; null clears it. Opt-ins and
    `emailBounced` have no empty value, so null does not change them. Each source of `metadata` is a
    field of its own. See `merged_customer` for the display name and `emailBounced`.

    Args:
        defined: the customer that `build_customer` built from the definition.
        stored: the stored customer, with its tags.

    Raises:
        RecordTooLarge: the merged customer exceeds a size limit; see `check_size`.
    """
    names = {field.alias or name: name for name, field in CustomerDefinition.model_fields.items()}
    changed = {
        attribute: getattr(defined, attribute)
        for alias, name in names.items()
        if _changes(definition.get(alias, ""), name)
        for attribute in _STORED_AS.get(name, (name,))
    }
    if isinstance(metadata := definition.get("metadata"), Mapping):
        cleared = {source for source, values in metadata.items() if values is None}
        merged_metadata = {**stored.metadata, **defined.metadata}
        changed["metadata"] = {k: v for k, v in merged_metadata.items() if k not in cleared}
    if definition.get("displayName", "") is None:
        changed["display_name"] = None
    return merged_customer(stored, changed, defined.updated_at)


def _changes(value: Any, name: str) -> bool:
    if value is None:
        return CustomerDefinition.model_fields[name].annotation is not bool and name not in (
            "email_optin",
            "sms_optin",
        )
    return not isinstance(value, str) or bool(value.strip())
