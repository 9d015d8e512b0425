"""The kinds of work by name."""

from typing import Final

from chalicelib import queues
from chalicelib.services.work.kinds import kind_of_work

IMPORTS: Final = kind_of_work(queues.IMPORTS)
FEEDBACK: Final = kind_of_work(queues.FEEDBACK)
WEBHOOKS: Final = kind_of_work(queues.WEBHOOKS)
SOLICITATIONS: Final = kind_of_work(queues.SOLICITATIONS)
ERASURES: Final = kind_of_work(queues.ERASURES)
SUPPRESSIONS: Final = kind_of_work(queues.SUPPRESSIONS)
