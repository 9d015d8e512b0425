"""Collect all stored data about a customer for ``customer export``."""

from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.alias_generators import to_camel

from chalicelib.domain.customers.addresses import customer_hash, pair_hash, pair_of
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.schema import Resource
from chalicelib.services.customers.read import read_customer
from chalicelib.services.solicitation.contact_keys import current_keys
from chalicelib.storage import (
    contacts,
    feedback,
    imports,
    messages,
    purchases,
    solicitations,
    trackers,
)

_NOT_ABOUT_PERSON: Final = ("key", "revision", "liftedBy")
"""Names of a contact's fields that contain no data about the person."""


def collect_person(account_id: str, customer_id: str) -> dict[str, Any]:
    """Return all data that is stored about a customer, as JSON values.

    The data consists of the data that an erasure deletes or anonymizes, and of the last surveys and
    the suppressions of the addresses.

    AWS requests: about 15, and one per 100 records.

    Raises:
        NotFound: the account has no such customer.
    """
    customer = read_customer(account_id, customer_id)
    pair = pair_of(customer.email, customer.phone_number)
    contact_hash = pair_hash(account_id, pair.digest) if pair else None
    sent = list(solicitations.of_customer(account_id, customer_id))
    answered = feedback.of_person(account_id, customer_id, contact_hash)
    return {
        "customer": _json(customer),
        "purchases": [_json(p) for p in purchases.of_customer(account_id, customer_id)],
        "feedback": [_json(stored.feedback) for stored in answered],
        "solicitations": [_json(solicitation) for solicitation in sent],
        "trackers": [_json(tracker) for tracker in trackers.of_customer(account_id, customer_id)],
        "messages": [
            _json({n: value for n, value in row.attribute_values.items() if n != "expires_at"})
            for row in messages.find_many([each for s in sent for each in s.message_ids])
        ],
        "importRows": _import_rows(account_id, pair.digest) if pair else [],
        "lastSurveys": _last_surveys(account_id, customer_id),
        "addresses": _addresses(account_id, customer),
    }


def _json(record: Any) -> Any:
    if isinstance(record, Resource):
        return record.model_dump(mode="json", by_alias=True)
    fields = TypeAdapter(type(record)).dump_python(record, mode="json")
    return {to_camel(name): value for name, value in fields.items()}


def _import_rows(account_id: str, digest: str) -> list[dict[str, Any]]:
    """Return the rows of unfinished imports with this pair."""
    return [
        {"importId": chunk.import_id, "index": row.index, "values": row.fields}
        for chunk in imports.unfinished(account_id)
        for row in imports.rows_with_pair(chunk, digest)
    ]


def _last_surveys(account_id: str, customer_id: str) -> Any:
    """Return the last survey of the customer record in each scope."""
    key = contacts.contact_key(customer_hash(account_id, customer_id))
    return _json(contacts.find_many([key])[key])["solicited"]


def _addresses(account_id: str, customer: Customer) -> dict[str, Any]:
    """Return the last surveys and the suppression of each address, by channel."""
    keys = current_keys(account_id, customer.email, customer.phone_number)
    found = contacts.find_many(keys.values())
    addresses = {channel.value: _json(found[key]) for channel, key in keys.items()}
    for contact in addresses.values():
        for name in _NOT_ABOUT_PERSON:
            del contact[name]
    return addresses
