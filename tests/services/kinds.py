"""The kinds of work by name."""

from typing import Final

from chalicelib import queues
from chalicelib.domain.ids import new_id
from chalicelib.domain.work import shards_of_account
from chalicelib.services.work.kinds import kind_of_work

IMPORTS: Final = kind_of_work(queues.IMPORTS)
FEEDBACK: Final = kind_of_work(queues.FEEDBACK)
WEBHOOKS: Final = kind_of_work(queues.WEBHOOKS)
SOLICITATIONS: Final = kind_of_work(queues.SOLICITATIONS)
ERASURES: Final = kind_of_work(queues.ERASURES)
SUPPRESSIONS: Final = kind_of_work(queues.SUPPRESSIONS)


def account_with_same_shards(account_id: str) -> str:
    """Return the id of another account whose work is in the same shards."""
    while True:
        other = new_id()
        if shards_of_account(other) == shards_of_account(account_id):
            return other
