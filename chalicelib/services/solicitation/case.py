"""Load the facts on which the decision about a survey depends."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.accounts.settings import AccountSettings
from chalicelib.domain.customers.addresses import customer_hash
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.errors import Blocked
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.paging import all_pages
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.decide import Facts, Recipient, SentSurvey
from chalicelib.domain.solicitation.phone_number import e164
from chalicelib.domain.solicitation.solicitation import Solicitation, SolicitationPointer
from chalicelib.domain.work import PENDING
from chalicelib.services.accounts.directory import directory_with_store
from chalicelib.services.accounts.settings import account_settings
from chalicelib.services.caching import cached
from chalicelib.services.forms.saved import read_saved, readable
from chalicelib.services.solicitation.contact_keys import current_keys
from chalicelib.storage import contacts, solicitations
from chalicelib.storage.contacts import ContactRow
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.forms import surveys
from chalicelib.storage.rate_limits import RateLimitRow, day_of, text_key
from chalicelib.storage.solicitations import Fetched, SolicitationRow
from chalicelib.storage.trackers import TrackerRow

_MAX_BYTES: Final = 24 * 1024 * 1024
"""The maximum size of the documents of cached surveys.

Surveys take about seven times the memory of their documents: a survey with 20 fields has 11 KB of
JSON and takes 70 KB of memory. The cached surveys therefore take up to 170 MB.
"""

_BYTES_PER_ACCOUNT: Final = 1024


@dataclass(frozen=True)
class Case:
    """A solicitation with its row, the facts of its decision, and whether it was answered."""

    row: SolicitationRow
    solicitation: Solicitation
    facts: Facts
    is_answered: bool = False


def load_case(rows: Rows, pointer: SolicitationPointer) -> Case | None:
    """Fetch a solicitation and its facts. Return None if the solicitation does not exist.

    Two AWS requests if surveys, places and settings are cached; one without a customer, three if
    the pointer does not name the customer; one more for a reminder, or if the cached places lack
    the store.

    Raises:
        Blocked: the solicitation is pending and has no purchase.
    """
    fetched = solicitations.fetch_with_purchase(rows, pointer)
    if fetched is None or (fetched.purchase is None and fetched.row.state != PENDING):
        return None
    return case_of(rows, fetched)


def case_of(rows: Rows, fetched: Fetched) -> Case:
    """Fetch the facts of a solicitation; see `facts_of`.

    Raises:
        Blocked: it has no purchase, for example after an incomplete restore.
    """
    row, solicitation, purchase, customer = fetched
    if purchase is None:
        raise Blocked("purchase missing")
    facts = facts_of(rows, solicitation, purchase, customer)
    return Case(row, solicitation, facts, is_answered=_is_answered(rows, solicitation))


def facts_of(
    rows: Rows, solicitation: Solicitation, purchase: Purchase, customer: Customer | None
) -> Facts:
    """Return the facts of a decision. One AWS request; see `load_case`.

    None without a customer and a tracker.
    """
    account_id, now = solicitation.account_id, clock.now()
    directory = directory_with_store(account_id, purchase.store_id)
    settings = account_settings(account_id)
    store, tracker = directory.store(purchase.store_id), _tracker_key(solicitation)
    recipient, text_count = _recipient(rows, account_id, customer, settings, now, *tracker)
    return Facts(
        now=now,
        purchase=purchase,
        is_requested=solicitation.is_requested,
        processed_at=solicitation.processed_at,
        store=store,
        brand=directory.brand(store.brand_id or "") if store else None,
        surveys=surveys_of(account_id),
        recipient=recipient,
        sending_hours=settings.sending_hours,
        time_zone=(store.time_zone if store else None) or settings.time_zone,
        account_time_zone=settings.time_zone,
        was_claimed=bool(solicitation.claim_token),
        text_limit=settings.sms_daily_limit,
        text_count=text_count,
        has_reserved_text=solicitation.text_day == day_of(now),
        is_cancelled=solicitation.cancelled_at is not None,
        reminds_of=_sent_survey(rows, solicitation) if solicitation.is_reminder else None,
    )


def _tracker_key(solicitation: Solicitation) -> list[Key[TrackerRow]]:
    return [Key(TrackerRow, solicitation.tracker_id)] if solicitation.tracker_id else []


def _is_answered(rows: Rows, solicitation: Solicitation) -> bool:
    found = (rows.peek(key, because=_DECISION) for key in _tracker_key(solicitation))
    return any(tracker.used_at or tracker.tapped_at for tracker in found if tracker)


def _sent_survey(rows: Rows, reminder: Solicitation) -> SentSurvey:
    survey_id, channel = reminder.survey_id or "", Channel(reminder.channel or "")
    return SentSurvey(survey_id, channel, _is_answered(rows, reminder))


def _recipient(
    rows: Rows,
    account_id: str,
    customer: Customer | None,
    settings: AccountSettings,
    now: datetime,
    *also: Key[TrackerRow],
) -> tuple[Recipient | None, int]:
    """Return the recipient, and the number of text messages of the account on this day.

    Args:
        also: further rows to fetch.
    """
    if customer is None:
        rows.prefetch(*also)
        return None, 0
    record = contacts.contact_key(customer_hash(account_id, customer.id))
    phone_number = customer.phone_number
    keys = current_keys(account_id, customer.email, phone_number)
    of_contacts = {key: Key(ContactRow, key) for key in (record, *keys.values())}
    texts = Key(RateLimitRow, text_key(account_id, now))
    rows.prefetch(*of_contacts.values(), texts, *also)
    found = {
        key: contacts.build_contact(key, rows.peek(each, because=_DECISION))
        for key, each in of_contacts.items()
    }
    counted = rows.peek(texts, because=_DECISION)
    recipient = Recipient(
        customer,
        record=found[record],
        email=found[keys[Channel.EMAIL]] if Channel.EMAIL in keys else None,
        phone=found[keys[Channel.SMS]] if Channel.SMS in keys else None,
        phone_number=phone_number and e164(phone_number, settings.default_region),
        text_countries=settings.text_countries,
    )
    return recipient, counted.request_count if counted else 0


_DECISION: Final = "what follows from the decision relies on what it needs"


@dataclass(frozen=True)
class _Surveys:
    """The readable surveys of an account, and the size of their documents."""

    items: tuple[SavedSurvey, ...]
    size_bytes: int


def surveys_of(account_id: str) -> tuple[SavedSurvey, ...]:
    """Return the account's readable surveys, the oldest first, cached for up to a minute.

    Three AWS requests per 100 surveys if they are not cached.
    """
    return _load_surveys(account_id).items


@cached(at_most=_MAX_BYTES, size_of=lambda loaded: _BYTES_PER_ACCOUNT + loaded.size_bytes)
def _load_surveys(account_id: str) -> _Surveys:
    pages = all_pages(partial(surveys.page, account_id))
    stored = [each for page, _ in pages for each in page]
    found = readable(partial(read_saved, SavedSurvey), stored)
    in_order = sorted(found, key=lambda survey: (survey.created_at, survey.id))
    return _Surveys(tuple(in_order), sum(len(each.document) for each in stored))
