"""Create a customer from a definition, merge the definition into it, and change its tags."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from admin.domain.customers.definition import CustomerDefinition, build_customer
from admin.domain.customers.merge import merge_customer
from admin.domain.definitions import parse_definition
from admin.domain.tags import MAX_TAGS, TagDefinition, merge_tags, tag_id, too_many_tags
from admin.storage import customers
from admin.storage.tags import create_tag, find_tags, set_tag_color, set_tags
from chalicelib.domain import clock
from chalicelib.domain.accounts.tags import Tag
from chalicelib.domain.customers.customer import Customer, check_size
from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.solicitation.channel import optins_off
from chalicelib.domain.solicitation.contact import suppressed_channels
from chalicelib.services.customers.read import find_customer, read_customer, with_tags
from chalicelib.services.customers.request_positions import request_positions
from chalicelib.services.solicitation.contact_keys import optin_keys
from chalicelib.storage import contacts, customer_creation, places
from chalicelib.storage.dynamodb.transactions import retry_on_contention
from chalicelib.storage.dynamodb.unit_of_work import Contention


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
    tag_ids = {tag_id(account_id, tag.tag) for tag in parsed.tags}

    def attempt() -> customer_creation.Created:
        if tag_ids:  # tags are saved before the customer
            check(find_customer(account_id, parsed.id))
        existing = find_tags(account_id, tag_ids)
        now = clock.now()
        tags = merge_tags(account_id, parsed.tags, existing, now)
        customer = build_customer(parsed, tags, now)
        save_tags(account_id, tags, existing)

        def merge(stored: Customer | None) -> Customer:
            tagged = with_tags(account_id, [stored])[0] if stored else None
            check(tagged)
            merged = merge_customer(definition, customer, tagged) if tagged else customer
            allowed = without_suppressed_optins(account_id, merged)
            return allowed if allowed == merged else allowed.model_copy(update={"updated_at": now})

        return customers.replace(account_id, customer.id, merge)

    saved = retry_on_contention(attempt)
    if not saved.is_listed:
        request_positions(account_id)
    return saved.customer


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

    Names that differ only in case are the same tag. Up to six AWS requests for one tag; one more
    for each further tag to add.

    Raises:
        NotFound: the account has no such customer.
        InvalidInput: the account would have too many tags.
        RecordTooLarge: the customer would exceed its size limit.
    """
    removed = {tag_id(account_id, name) for name in remove}

    def attempt() -> Customer:
        seen = read_customer(account_id, customer_id)
        existing = find_tags(account_id, {tag_id(account_id, name) for name in add})
        definitions = [TagDefinition(tag=name) for name in add]
        added = merge_tags(account_id, definitions, existing, clock.now())
        kept = [tag for tag in seen.tags if tag.id not in removed | {new.id for new in added}]
        tags = (*kept, *added)
        changed = seen.model_copy(update={"tags": tags, "tag_ids": tuple(tag.id for tag in tags)})
        check_size(changed)
        save_tags(account_id, added, existing)
        if not set_tags(account_id, seen, changed.tag_ids, clock.now()):
            raise Contention(condition_failed=True)
        return changed

    return retry_on_contention(attempt)


def save_tags(account_id: str, tags: Sequence[Tag], existing: Mapping[str, Tag]) -> None:
    """Create new tags, and update existing tags whose colour changed. Do not write other tags.

    Args:
        existing: the stored tags with the same ids as ``tags``, by id.

    Raises:
        InvalidInput: the account would have too many tags. Nothing is saved.
        Contention: a concurrent load created one of the new tags.
    """
    new = {tag.id for tag in tags} - existing.keys()
    if new:
        stored = places.load_directory(account_id).tags
        if len(stored.keys() | new) > MAX_TAGS:
            raise InvalidInput([too_many_tags()])
    for tag in tags:
        if tag.id in new:
            if not create_tag(account_id, tag):
                raise Contention(condition_failed=True)
        elif tag.color and tag.color != existing[tag.id].color:
            set_tag_color(account_id, tag.id, tag.color, tag.updated_at)
