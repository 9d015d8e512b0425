"""Save the tags of an account."""

from collections.abc import Mapping, Sequence

from chalicelib.domain.accounts.tags import MAX_TAGS, Tag, too_many_tags
from chalicelib.domain.errors import InvalidInput
from chalicelib.storage import places
from chalicelib.storage.dynamodb.transactions import Contention


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
            if not places.create_tag(account_id, tag):
                raise Contention(condition_failed=True)
        elif tag.color and tag.color != existing[tag.id].color:
            places.set_tag_color(account_id, tag.id, tag.color, tag.updated_at)
