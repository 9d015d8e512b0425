"""Add tags to a customer, and remove tags from it."""

from collections.abc import Collection

from admin.services.customers.save import save_tags
from chalicelib.domain import clock
from chalicelib.domain.accounts.tags import TagDefinition, merge_tags, tag_id
from chalicelib.domain.customers.customer import Customer, check_size
from chalicelib.services.customers.read import read_customer
from chalicelib.storage import customers, places
from chalicelib.storage.dynamodb.transactions import Contention, retry_on_contention


def change_tags(
    account_id: str, customer_id: str, *, add: Collection[str] = (), remove: Collection[str] = ()
) -> Customer:
    """Add tags to a customer and remove tags from it. Return the changed customer.

    Names that differ only in case are the same tag. Up to five AWS requests.

    Raises:
        NotFound: the account has no such customer.
        InvalidInput: the account would have too many tags.
        InputTooLarge: the customer would exceed its size limit.
    """
    removed = {tag_id(account_id, name) for name in remove}

    def attempt() -> Customer:
        seen = read_customer(account_id, customer_id)
        existing = places.find_tags(account_id, {tag_id(account_id, name) for name in add})
        definitions = [TagDefinition(tag=name) for name in add]
        added = merge_tags(account_id, definitions, existing, clock.now())
        kept = [tag for tag in seen.tags if tag.id not in removed | {new.id for new in added}]
        tags = (*kept, *added)
        changed = seen.model_copy(update={"tags": tags, "tag_ids": tuple(tag.id for tag in tags)})
        check_size(changed)
        save_tags(account_id, added, existing)
        if not customers.set_tags(account_id, seen, changed.tag_ids, clock.now()):
            raise Contention(condition_failed=True)
        return changed

    return retry_on_contention(attempt)
