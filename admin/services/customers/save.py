"""Create a customer from a definition, merge the definition into it, and change its tags."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Final

from admin.domain.customers.definition import CustomerDefinition, build_customer
from admin.domain.customers.merge import merge_customer
from admin.domain.definitions import parse_definition
from admin.domain.tags import MAX_TAGS, TagDefinition, merge_tags, tag_id, too_many_tags
from admin.storage.tags import create_tag, fetch_tags, set_tag_color
from chalicelib.domain import clock
from chalicelib.domain.accounts.tags import Tag
from chalicelib.domain.customers.addresses import pair_of
from chalicelib.domain.customers.customer import Customer, check_size
from chalicelib.domain.errors import InvalidInput, NotFound
from chalicelib.domain.paging import in_groups
from chalicelib.domain.solicitation.channel import optins_off
from chalicelib.domain.solicitation.contact import suppressed_channels
from chalicelib.services.customers.read import find_customer, with_tags
from chalicelib.services.customers.request_positions import request_positions
from chalicelib.services.solicitation.contact_keys import optin_keys
from chalicelib.storage import contacts, customer_changes, customer_creation, places
from chalicelib.storage.counters import Listed, counter_key
from chalicelib.storage.customers import CustomerRow, customer_key, in_order, pair_key
from chalicelib.storage.customers import build_customer as build_stored
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit

_MAX_ADDED: Final = 99
"""Maximum number of tags in a transaction of 100 writes. One of them writes the customer."""


def save_customer(
    account_id: str,
    definition: Any,
    check: Callable[[Customer | None], object] = lambda _: None,
) -> Customer:
    """Create the customer, or merge the definition into the customer with the same id.

    See `merge_customer`. The opt-in of a suppressed address is off, even if the definition
    contains `true`. Tags belong to the account: new tags of the definition are created, and
    the colours in the definition apply to all customers with these tags. Loading a customer does
    not change its position in the list, its feedback and purchase counts or its creation time.

    Args:
        check: called with the stored customer before it is changed, or with None. If it raises an
            exception, the customer is not saved.

    Raises:
        InvalidInput: the definition is invalid, or the account would have too many tags.
        RecordTooLarge: the customer exceeds its size limit.
    """
    parsed = parse_definition(definition, CustomerDefinition)
    tags: tuple[Tag, ...] = ()
    if parsed.tags:  # they are saved before the customer
        check(find_customer(account_id, parsed.id))
        tags = commit(partial(_save_tags, account_id, parsed.tags))
    customer = build_customer(parsed, tags, clock.now())
    saved, is_listed = commit(partial(_save, account_id, definition, customer, check))
    if not is_listed:
        request_positions(account_id)
    return saved


def _save(
    account_id: str,
    definition: Any,
    customer: Customer,
    check: Callable[[Customer | None], object],
    rows: Rows,
) -> tuple[Customer, bool]:
    """Create or merge a customer. Return it, and whether it has a position in the list."""
    key = customer_key(account_id, customer.id)
    pair = pair_of(customer.email, customer.phone_number)
    pair_keys = [pair_key(account_id, pair.digest)] if pair else []
    rows.prefetch(key, counter_key(account_id, Listed.CUSTOMERS), *pair_keys)
    row = rows.get(key)
    if row is None:
        check(None)
        new = without_suppressed_optins(account_id, customer)
        return new, customer_creation.append(rows, account_id, new)
    rows.value(key, CustomerRow.data_sources)  # purchases and feedback add to them
    earlier = build_stored(row)
    (tagged,) = with_tags(account_id, [earlier])
    check(tagged)
    merged = merge_customer(definition, customer, tagged)
    allowed = without_suppressed_optins(account_id, merged)
    kept = {
        "created_at": earlier.created_at,
        "updated_at": merged.updated_at if allowed == merged else customer.updated_at,
        "feedback_count": earlier.feedback_count,
        "purchase_count": earlier.purchase_count,
        "rating_sum": earlier.rating_sum,
        "rating_count": earlier.rating_count,
        "data_sources": in_order({*earlier.data_sources, *allowed.data_sources}),
    }
    saved = allowed.model_copy(update=kept)
    customer_changes.change(rows, account_id, earlier, saved)
    return saved, bool(row.position)


def without_suppressed_optins(account_id: str, customer: Customer) -> Customer:
    """Return the customer without the opt-ins of suppressed addresses.

    One AWS request if an opt-in is on.
    """
    keys = optin_keys(account_id, customer)
    found = contacts.find_many(keys.values()) if keys else {}
    suppressed = suppressed_channels((channel, found[key]) for channel, key in keys.items())
    return customer.model_copy(update=optins_off(suppressed))


def change_tags(
    account_id: str, customer_id: str, *, add: Collection[str] = (), remove: Collection[str] = ()
) -> Customer:
    """Add tags to a customer and remove tags from it. Return the changed customer.

    Names that differ only in case are the same tag. Up to six AWS requests for 99 tags.

    Raises:
        NotFound: the account has no such customer.
        InvalidInput: the account would have too many tags.
        RecordTooLarge: the customer would exceed its size limit.
    """
    removed = {tag_id(account_id, name) for name in remove}
    for names in [*in_groups(add, _MAX_ADDED)] or [[]]:
        changed = commit(partial(_change_tags, account_id, customer_id, names, removed))
    return changed


def _change_tags(
    account_id: str, customer_id: str, add: Collection[str], removed: Collection[str], rows: Rows
) -> Customer:
    key = customer_key(account_id, customer_id)
    rows.prefetch(key)
    row = rows.get(key)
    if row is None:
        raise NotFound("customer")
    (seen,) = with_tags(account_id, [build_stored(row)])
    added = _save_tags(account_id, [TagDefinition(tag=name) for name in add], rows)
    replaced = {*removed, *(tag.id for tag in added)}
    tags = (*(tag for tag in seen.tags if tag.id not in replaced), *added)
    changed = seen.model_copy(update={"tags": tags, "tag_ids": tuple(tag.id for tag in tags)})
    check_size(changed)
    row.tag_ids, row.updated_at = [*changed.tag_ids] or None, clock.now()
    return changed


def _save_tags(
    account_id: str, definitions: Sequence[TagDefinition], rows: Rows
) -> tuple[Tag, ...]:
    """Create new tags, and update existing tags whose colour changed. Return all of them.

    Raises:
        InvalidInput: the account would have too many tags.
    """
    wanted = {tag_id(account_id, definition.tag) for definition in definitions}
    existing = fetch_tags(rows, account_id, wanted)
    if wanted > existing.keys():
        stored = places.load_directory(account_id).tags
        if len(stored.keys() | wanted) > MAX_TAGS:
            raise InvalidInput([too_many_tags()])
    tags = merge_tags(account_id, definitions, existing, clock.now())
    for tag in tags:
        if tag.id not in existing:
            create_tag(rows, account_id, tag)
        elif tag != existing[tag.id]:
            set_tag_color(rows, account_id, tag)
    return tags
