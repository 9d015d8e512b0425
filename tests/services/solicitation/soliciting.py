"""Create an account with a survey that is sent after purchases."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from admin.services.accounts.manage import create_account
from admin.services.definitions.kinds import BRAND, STORE, SURVEY, save
from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import email_hash
from chalicelib.domain.ids import new_id
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.solicitation import Solicitation
from chalicelib.services.caching import clear_caches
from chalicelib.services.work.sweep import sweep
from chalicelib.storage import solicitations, trackers
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.suppressions import suppress
from chalicelib.storage.trackers import TrackerRow
from tests.domain.forms.factories import field
from tests.services.kinds import SOLICITATIONS
from tests.services.moved_time import Time
from tests.services.purchases import record_purchase
from tests.services.queues import SOLICITATION_QUEUE
from tests.services.solicitation.provider import Provider
from tests.web.definitions import brand_definition, store_definition

DAY_S = 24 * 3600
CUSTOMER = {"email": "zoe@example.test", "emailOptin": True}


@dataclass(frozen=True)
class Shop:
    """An account with one store and one survey.

    Attributes:
        provider: the provider that gets its messages.
        time: the clock of the test.
    """

    account_id: str
    brand_id: str
    store_id: str
    survey_id: str
    provider: Provider
    time: Time

    def survey(self, **fields: Any) -> None:
        """Replace the definition of the survey."""
        definition = {
            "id": self.survey_id,
            "name": "After the visit",
            "language": "en",
            "enabled": True,
            "sendingChannels": ["EMAIL", "SMS"],
            "resolicitationDelay": 30 * DAY_S,
            "fields": [field("nps", "NPS")],
            "targets": [{"type": "STORE", "targetId": self.store_id, "enabled": True}],
            **fields,
        }
        save(SURVEY, self.account_id, definition)
        clear_caches()

    def definition(self, **fields: Any) -> dict[str, Any]:
        """Return the definition of a purchase that was made a minute ago."""
        return {
            "source": "Site",
            "externalId": new_id(),
            "storeId": self.store_id,
            "date": format_timestamp(clock.now() - timedelta(minutes=1)),
            "customer": CUSTOMER,
            **fields,
        }

    def record(self, **fields: Any) -> Purchase:
        """Record a purchase and request its survey."""
        return record_purchase(self.account_id, self.definition(**fields), solicit=True)

    def solicit(self) -> list[str]:
        """Deliver the account's messages. Return the messages that failed."""
        bodies = SOLICITATION_QUEUE.queued_messages(self.account_id)
        return SOLICITATION_QUEUE.deliver(bodies)

    def contact_hash(self, email: str) -> str:
        contact_hash = email_hash(self.account_id, email)
        assert contact_hash
        return contact_hash

    def suppress(self, email: str, reason: SuppressionReason) -> None:
        suppress(self.account_id, self.contact_hash(email), Channel.EMAIL, reason, clock.now())

    def advance(self, ahead: timedelta) -> None:
        """Move the clock ahead, then sweep and deliver the due messages."""
        self.time.ahead += ahead
        sweep(SOLICITATIONS)
        self.solicit()


def open_shop(provider: Provider | None = None, time: Time | None = None) -> Shop:
    """Create an account with one store and one survey."""
    account = create_account("Maison Lumen", new_id()).id
    brand = save(BRAND, account, brand_definition())
    store = save(STORE, account, store_definition(brand.id))
    ids = (account, brand.id, store.id, new_id())
    shop = Shop(*ids, provider or Provider(), time or Time())
    shop.survey()
    return shop


def outcome(purchase: Purchase) -> tuple[str, str]:
    """Return the state and the reason of the purchase's solicitation."""
    solicitation = stored(purchase)
    return solicitation.state.value, solicitation.reason


def stored(purchase: Purchase) -> Solicitation:
    solicitation = solicitations.find(purchase.id)
    assert solicitation
    return solicitation


def use_tracker(tracker_id: str) -> None:
    """Mark a tracker as used, as a submission does."""

    def use_case(rows: Rows) -> None:
        rows.prefetch(Key(TrackerRow, tracker_id))
        trackers.consume(rows, tracker_id, new_id(), clock.now())

    commit(use_case)
