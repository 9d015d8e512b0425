"""Build the feedback of the demo data: 14 months of submissions by customers and other
respondents.

Ratings depend on the store; comments depend on the ratings. The dates are relative to the day on
which the demo data is loaded.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, Final

import yaml

from admin.definitions.definition import Kind, RawDefinition
from admin.demo.ids import MAIN_ACCOUNT, demo_id
from admin.demo.people import draw_person
from admin.demo.purchases import SHOWN_PURCHASE, id_of
from chalicelib.domain.forms.field_types import FieldType

DAYS: Final = 425
"""The number of days that the feedback covers: 14 months."""

_TEXTS: Final = yaml.safe_load(
    (Path(__file__).parent / "comments.yaml").read_text(encoding="utf-8")
)
_COMMENTS: Final = {demo_id(form): texts for form, texts in _TEXTS.items()}

_ANGRY: Final = 0.06
_SHARES: Final = {"CHECKBOX": 0.08, "EMAIL": 1, "PHONE": 1}
"""The share of respondents who answer an optional field, by type. Default: `_SHARE`."""
_SHARE: Final = 0.7

_FRANCE: Final = ("fr", "fr", "fr", "fr", "en")
_MOROCCO: Final = ("ar", "ar", "ar", "fr", "fr", "en")
_JAPAN: Final = ("ja", "ja", "ja", "en")
_SUMMER: Final = (0.2, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9, 1, 0.6, 0.4, 0.2, 0.2)


@dataclass(frozen=True)
class _Store:
    """The distribution of ratings, languages and dates in the feedback about a store.

    Attributes:
        quality: the mean rating today, from 0 to 10.
        trend: the change of the mean rating in the whole period.
        guests: the relative number of submissions about this store.
        season: the share of guests by month, from January to December.
    """

    quality: float
    trend: float
    guests: int
    languages: Sequence[str]
    season: Sequence[float] = (1,) * 12

    def draw_rating(self, chance: Random, at: datetime, now: datetime) -> int:
        """Draw a rating from 0 to 10.

        Most ratings follow a normal distribution. A few are drawn from 0 to 4, independently of the
        store.
        """
        if chance.random() < _ANGRY:
            return chance.randint(0, 4)
        age = (now - at) / timedelta(days=DAYS)
        return max(0, min(10, round(chance.gauss(self.quality - self.trend * age, 1.8))))

    def draw_time(self, chance: Random, day: datetime) -> datetime:
        """Draw a time before ``day``."""
        drawn = day - timedelta(days=chance.randrange(2, DAYS))
        while chance.random() > self.season[drawn.month - 1]:
            drawn = day - timedelta(days=chance.randrange(2, DAYS))
        return drawn + timedelta(hours=chance.randint(11, 21), minutes=chance.randrange(60))


_MOROCCAN: Final = {
    "casablanca": _Store(7.6, 0.4, 12, _MOROCCO),
    "rabat": _Store(9.1, 0.3, 7, _MOROCCO),
}
_TABLES: Final = _MOROCCAN | {
    "lyon": _Store(8.9, 0.2, 20, _FRANCE),
    "paris": _Store(7.1, -0.9, 24, _FRANCE),
    "marseille": _Store(8.1, 1.8, 14, _FRANCE, _SUMMER),
    "bordeaux": _Store(8.6, 0.0, 10, _FRANCE),
    "ginza": _Store(9.6, 0.1, 8, _JAPAN),
    "kyoto": _Store(9.0, 0.2, 5, _JAPAN),
}
_HOTELS: Final = {
    "nice": _Store(8.3, 0.2, 12, _FRANCE, _SUMMER),
    "annecy": _Store(9.0, 0.4, 9, _FRANCE),
    "essaouira": _Store(8.7, 0.1, 7, _MOROCCO, _SUMMER),
    "hakone": _Store(9.4, 0.0, 5, _JAPAN),
}
_STORES: Final = {demo_id(f"store {name}"): store for name, store in (_TABLES | _HOTELS).items()}

Content = dict[str, Any]


@dataclass(frozen=True)
class DemoFeedback:
    """One submission.

    Attributes:
        key: identifies the submission in the demo data.
        answers: answers by field key. The service ignores answers to fields that are not visible.
        purchase_id: the purchase that the survey is about. If it is set, the submission has a
            tracker, which was sent at ``sent_at`` through the channel ``send_mode``.
    """

    key: str
    kind: Kind
    form_id: str
    submitted_at: datetime
    language: str
    answers: dict[str, list[str]]
    store_id: str | None = None
    purchase_id: str | None = None
    sent_at: datetime | None = None
    send_mode: str = ""


def demo_feedback(definitions: Sequence[RawDefinition], now: datetime) -> list[DemoFeedback]:
    """Return the feedback of the main account, oldest first. All feedback is older than ``now``.

    The feedback depends only on the arguments.

    Args:
        definitions: the demo data, with the forms, customers and purchases of the feedback.
    """
    contents = [d.content for d in definitions if d.content["account"] == MAIN_ACCOUNT]
    people = [content for content in contents if content["kind"] == Kind.CUSTOMER]
    purchases = [content for content in contents if content["kind"] == Kind.PURCHASE]
    forms = {content["id"]: content for content in contents if "fields" in content}
    # A form links feedback to a customer only if it asks for an identifier that the customer has.
    by_email = [person for person in people if "email" in person]
    by_phone = [person for person in people if "email" not in person]
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    submissions = (
        *_after_purchases(forms, purchases, {person["id"]: person for person in people}, day),
        *_at_stores(forms, "survey visit", 700, _TABLES, [], day),
        *_at_stores(forms, "contact-form lumen", 190, _TABLES, by_email, day),
        *_at_stores(forms, "contact-form alize", 110, _HOTELS, people, day),
        *_at_stores(forms, "contact-form morocco", 80, _MOROCCAN, by_phone, day),
    )
    return sorted(submissions, key=lambda feedback: (feedback.submitted_at, feedback.key))


_SURVEYS: Final = {
    "meal": ("survey visit", "EMAIL", 15),
    "order": ("survey delivery", "SMS", 1),
    "stay": ("survey stay", "EMAIL", 20),
}
"""By kind of purchase: the survey, the preferred channel and the delay in hours."""
_OPT_INS: Final = {"EMAIL": "emailOptin", "SMS": "smsOptin"}


def _after_purchases(
    forms: Mapping[str, Content],
    purchases: Sequence[Content],
    people: Mapping[str, Content],
    day: datetime,
) -> Iterator[DemoFeedback]:
    """Yield answers to surveys that customers received after a purchase."""
    chance = Random("feedback after purchases")
    for purchase in purchases:
        person = people.get(purchase.get("customerId", ""))
        purchase_id = id_of(MAIN_ACCOUNT, purchase)
        survey, preferred, hours = _SURVEYS[purchase["externalId"].split("-")[1]]
        end = datetime.fromisoformat(purchase.get("endDate") or purchase["date"])
        sent_at = end + timedelta(hours=hours)
        at = sent_at + timedelta(minutes=chance.randint(5, 3_000))
        answers_survey = chance.random() < _SHARE or purchase_id == SHOWN_PURCHASE
        if not person or not answers_survey or at >= day:
            continue
        if channels := [mode for mode, opt_in in _OPT_INS.items() if person[opt_in]]:
            key, form = f"demo-{purchase['externalId']}", forms[demo_id(survey)]
            store = _STORES[purchase["storeId"]]
            yield replace(
                _submission(chance, key, form, person, store, at, day),
                purchase_id=purchase_id,
                sent_at=sent_at,
                send_mode=preferred if preferred in channels else channels[0],
            )


def _at_stores(
    forms: Mapping[str, Content],
    name: str,
    count: int,
    stores: Mapping[str, _Store],
    people: Sequence[Content],
    day: datetime,
) -> Iterator[DemoFeedback]:
    """Yield submissions without a tracker: most from these people, some from strangers."""
    chance = Random(f"feedback through {name}")
    form, label = forms[demo_id(name)], name.split()[1]
    guests = [store.guests for store in stores.values()]
    for number in range(count):
        ((place, store),) = chance.choices(list(stores.items()), guests)
        is_known = people and chance.random() < 0.8
        person = chance.choice(people) if is_known else draw_person(chance, f"{label}.{number}")
        at = store.draw_time(chance, day)
        key = f"demo-{label}-{number}"
        feedback = _submission(chance, key, form, person, store, at, day)
        # Some respondents open a link without a store.
        is_at_store = chance.random() < 0.95
        yield replace(feedback, store_id=demo_id(f"store {place}") if is_at_store else None)


def _submission(
    chance: Random,
    key: str,
    form: Content,
    person: Content,
    store: _Store,
    at: datetime,
    day: datetime,
) -> DemoFeedback:
    """Draw a rating and a language, and answer the fields of the form in their order."""
    rating, language = store.draw_rating(chance, at, day), chance.choice(store.languages)
    answers: dict[str, list[str]] = {}
    for field in form["fields"]:
        if field.get("required") or chance.random() < _SHARES.get(field["type"], _SHARE):
            said = {language, _band(rating), *chain.from_iterable(answers.values())}
            comment = _comment(chance, _COMMENTS.get(form["id"]), said)
            if values := _values(chance, field, person, rating, at, comment):
                answers[field["key"]] = values
    return DemoFeedback(key, Kind(form["kind"]), form["id"], at, language, answers)


def _comment(chance: Random, texts: Any, said: Collection[str]) -> str | None:
    """Return a comment that fits the answers, the rating and the language, or None."""
    while isinstance(texts, dict):
        texts = next((nested for name, nested in texts.items() if name in said), None)
    return chance.choice(texts) if texts else None


def _values(
    chance: Random, field: Content, person: Content, rating: int, at: datetime, comment: str | None
) -> list[str]:
    kind, value = FieldType[field["type"]], None
    match kind:
        case FieldType.SINGLE_SELECT:
            value = chance.choice(field["values"])
        case FieldType.MULTI_SELECT:
            return chance.sample(field["values"], chance.randint(1, 2))
        case FieldType.EMAIL:
            value = person.get("email")
        case FieldType.PHONE:
            value = person.get("phoneNumber")
        case FieldType.LONG_TEXT:
            value = comment
        case FieldType.DATE:
            value = at.date().isoformat()
        case FieldType.NUMBER:
            value = str(chance.randint(1, 6))
        case FieldType.TEXT:
            name = f"{person['firstName']} {person['lastName']}"
            value = "AB-123-CD" if field["key"] == "plate" else name
        case FieldType.CHECKBOX:  # the next field can require the address
            value = "true" if "email" in person else None
        case FieldType.BINARY:
            value = "satisfied" if rating >= 6 else "unsatisfied"
        case _:
            near = rating if kind is FieldType.NPS else rating + chance.choice((-1, 0, 0, 1))
            options = kind.rules.options
            value = min(options, key=lambda option: abs((options[option] or 0) - near))
    return [value] if value else []


def _band(rating: int) -> str:
    return "low" if rating < 6 else "middle" if rating < 8 else "high"
