"""Load the hashes of the definitions of purchases."""

from collections.abc import Collection

from chalicelib.storage.dynamodb.table import read_together
from chalicelib.storage.purchases import purchase_key


def find_input_hashes(account_id: str, purchase_ids: Collection[str]) -> dict[str, str | None]:
    """Return the hashes of the definitions of up to 100 purchases by purchase id.

    Missing purchases are omitted; None if the customer was erased. One consistent request.
    """
    rows = read_together(*(purchase_key(account_id, id_) for id_ in purchase_ids))
    return {row.id: row.input_hash for row in rows if row}
