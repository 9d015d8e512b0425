"""Build the feedback of the demo data: 14 months of submissions by customers and other
respondents.

Ratings depend on the store and its season; comments depend on the ratings. The dates are relative
to the day on which the demo data is loaded.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

import yaml

from admin.definitions.definition import Kind, RawDefinition
from admin.demo.ids import MAIN_ACCOUNT, demo_id
from admin.demo.people import NAMINGS, draw_digits, draw_person
from admin.demo.purchases import SHOWN_PURCHASE, id_of
from chalicelib.domain.schema import parse_timestamp

DAYS: Final = 425
"""The number of days that the feedback covers: 14 months."""

_COMMENTS: Final = yaml.safe_load(
    (Path(__file__).parent / "comments.yaml").read_text(encoding="utf-8")
)

_CITY: Final = (9, 8, 10, 10, 11, 11, 8, 6, 11, 11, 11, 15)
_COAST: Final = (4, 5, 7, 10, 12, 16, 22, 24, 14, 9, 5, 6)
_MOUNTAIN: Final = (16, 17, 12, 7, 7, 10, 15, 16, 9, 7, 6, 15)
_JAPAN: Final = (8, 8, 15, 17, 12, 8, 8, 9, 10, 14, 17, 10)
"""Relative numbers of submissions by month, from January to December."""
_BUSY: Final = 14
_ANGRY: Final = 0.06
_WEEKDAYS: Final = (6, 6, 7, 8, 13, 15, 11)

_FRANCE: Final = {"fr": 80, "en": 18, "ar": 2}
_MOROCCO: Final = {"ar": 55, "fr": 35, "en": 10}
_TOKYO: Final = {"ja": 75, "en": 25}


@dataclass(frozen=True)
class _Store:
    """The distribution of ratings, topics and languages in the feedback about a store.

    Attributes:
        quality: the mean rating today, from 0 to 10.
        trend: the change of the mean rating in the whole period.
        guests: the relative number of submissions about this store.
        weakness: the topic of most criticism.
        utc_offset_h: the approximate difference between local time and UTC.
    """

    quality: float
    trend: float
    guests: int
    season: tuple[int, ...]
    languages: Mapping[str, int]
    weakness: str = "Waiting time"
    utc_offset_h: int = 1

    def draw_rating(self, chance: Random, at: datetime, now: datetime) -> int:
        """Draw a rating from 0 to 10.

        Most ratings follow a normal distribution, whose mean is lower in busy months. A few ratings
        are drawn from 0 to 4, independently of the store.
        """
        if chance.random() < _ANGRY:
            return chance.randint(0, 4)
        age = (now - at) / timedelta(days=DAYS)
        crowd = 0.7 if self.season[at.month - 1] >= _BUSY else 0
        rating = chance.gauss(self.quality - self.trend * age - crowd, 1.8)
        return max(0, min(10, round(rating)))

    def draw_language(self, chance: Random) -> str:
        """Draw the language of a submission."""
        return chance.choices(list(self.languages), list(self.languages.values()))[0]


_TABLES: Final = {
    "lyon": _Store(8.9, 0.2, 20, _CITY, _FRANCE),
    "paris": _Store(7.1, -0.9, 24, _CITY, _FRANCE, "Price"),
    "marseille": _Store(8.1, 1.8, 14, _COAST, _FRANCE, "Noise"),
    "bordeaux": _Store(8.6, 0.0, 10, _CITY, _FRANCE, "Food"),
    "casablanca": _Store(7.6, 0.4, 12, _CITY, _MOROCCO, "Service"),
    "rabat": _Store(9.1, 0.3, 7, _CITY, _MOROCCO),
    "ginza": _Store(9.6, 0.1, 8, _JAPAN, _TOKYO, "Price", 9),
    "kyoto": _Store(9.0, 0.2, 5, _JAPAN, _TOKYO, "Waiting time", 9),
}
_HOTELS: Final = {
    "nice": _Store(8.3, 0.2, 12, _COAST, _FRANCE),
    "annecy": _Store(9.0, 0.4, 9, _MOUNTAIN, _FRANCE),
    "essaouira": _Store(8.7, 0.1, 7, _COAST, _MOROCCO),
    "hakone": _Store(9.4, 0.0, 5, _JAPAN, _TOKYO, utc_offset_h=9),
}
_STORES: Final = {demo_id(f"store {name}"): store for name, store in (_TABLES | _HOTELS).items()}
_TOPICS: Final = ("Service", "Food", "Price", "Noise", "Waiting time")

Answers = dict[str, list[str]]
Content = dict[str, Any]


@dataclass(frozen=True)
class DemoFeedback:
    """One submission.

    Attributes:
        key: identifies the submission in the demo data.
        answers: answers by field key.
        purchase_id: the purchase that the survey is about. If it is set, the submission has a
            tracker, which was sent at ``sent_at`` through the channel ``send_mode``.
    """

    key: str
    kind: Kind
    form_id: str
    submitted_at: datetime
    language: str
    answers: Answers
    store_id: str | None = None
    purchase_id: str | None = None
    sent_at: datetime | None = None
    send_mode: str = ""


def demo_feedback(definitions: Sequence[RawDefinition], now: datetime) -> list[DemoFeedback]:
    """Return the feedback of the main account, oldest first. All feedback is older than ``now``.

    The feedback depends only on the arguments.

    Args:
        definitions: the demo data, with the customers and purchases that the feedback is about.
    """
    contents = [d.content for d in definitions if d.content["account"] == MAIN_ACCOUNT]
    people = [content for content in contents if content["kind"] == Kind.CUSTOMER]
    purchases = [content for content in contents if content["kind"] == Kind.PURCHASE]
    # A form links feedback to a customer only if it asks for an identifier that the customer has.
    by_email = [person for person in people if "email" in person]
    by_phone = [person for person in people if "email" not in person]
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    submissions = (
        *_after_purchases(purchases, {person["id"]: person for person in people}, day),
        *_at_tables(700, day),
        *_messages("contact-form lumen", 190, _TABLES, by_email, day, _lumen_message),
        *_messages("contact-form alize", 110, _HOTELS, people, day, _alize_message),
        *_messages("contact-form morocco", 80, _MOROCCAN, by_phone, day, _moroccan_message),
    )
    return sorted(submissions, key=lambda feedback: (feedback.submitted_at, feedback.key))


_MOROCCAN: Final = {name: _TABLES[name] for name in ("casablanca", "rabat")}


def _after_purchases(
    purchases: Sequence[Content], people: Mapping[str, Content], day: datetime
) -> Iterator[DemoFeedback]:
    """Yield answers to surveys that customers received after a purchase."""
    chance = Random("feedback after purchases")
    for purchase in purchases:
        person = people.get(purchase.get("customerId", ""))
        label = str(purchase["externalId"]).split("-")[1]
        survey, channel, hours, share = _SURVEYS_BY_PURCHASE[label]
        answers_survey = chance.random() < share
        is_shown = id_of(MAIN_ACCOUNT, purchase) == SHOWN_PURCHASE
        end = parse_timestamp(purchase.get("endDate") or purchase["date"])
        store = _STORES[purchase["storeId"]]
        if person is None or end is None or not (answers_survey or is_shown):
            continue
        if label == "order" and purchase["storeId"] not in _DELIVERING:
            continue
        sent_at = end + timedelta(hours=hours)
        at = sent_at + timedelta(minutes=chance.randint(5, 3_000))
        if at >= day or not (person.get("emailOptin") or person.get("smsOptin")):
            continue
        language = store.draw_language(chance)
        rating = store.draw_rating(chance, at, day)
        yield DemoFeedback(
            key=f"demo-{purchase['externalId']}",
            kind=Kind.SURVEY,
            form_id=demo_id(f"survey {survey}"),
            submitted_at=at,
            language=language,
            answers=_ANSWERS[survey](chance, store, rating, language),
            purchase_id=id_of(MAIN_ACCOUNT, purchase),
            sent_at=sent_at,
            send_mode=channel,
        )


_SURVEYS_BY_PURCHASE: Final = {
    "meal": ("visit", "EMAIL", 15, 0.5),
    "order": ("delivery", "SMS", 1, 0.6),
    "stay": ("stay", "EMAIL", 20, 0.7),
}
"""By kind of purchase: the survey, the channel, the delay in hours and the response rate."""
_DELIVERING: Final = (demo_id("store paris"), demo_id("store marseille"))


def _at_tables(count: int, day: datetime) -> Iterator[DemoFeedback]:
    """Yield submissions of the public survey, opened from a QR code on a restaurant table."""
    chance = Random("feedback at tables")
    for number in range(count):
        name, store = _draw_store(chance, _TABLES)
        at, language = _draw_time(chance, store, day), store.draw_language(chance)
        answers = _visit_answers(chance, store, store.draw_rating(chance, at, day), language)
        if chance.random() < 0.06:
            address = f"{draw_person(chance).address}.s{number}@example.org"
            answers |= {"answer-me": ["true"], "email": [address]}
        # Some respondents open the link on the bill. This link contains no store id.
        store_id = demo_id(f"store {name}") if chance.random() < 0.93 else None
        form_id = demo_id("survey visit")
        key = f"demo-table-{number}"
        yield DemoFeedback(key, Kind.SURVEY, form_id, at, language, answers, store_id)


def _visit_answers(chance: Random, store: _Store, nps: int, language: str) -> Answers:
    answers = {"nps": [str(nps)], "again": ["satisfied" if nps >= 6 else "unsatisfied"]}
    for key, scale in (("food", 5), ("welcome", 5), ("value", 10)):
        if chance.random() < 0.75:
            near = (nps + chance.gauss(0, 1)) * scale / 10
            answers[key] = [str(max(1, min(scale, round(near))))]
    if nps > 8:
        return answers | {"best": [chance.choice(("Service", "Food", "The place"))]}
    topic = store.weakness if chance.random() < 0.5 else chance.choice(_TOPICS)
    topics = dict.fromkeys([topic, *chance.sample(_TOPICS, chance.randint(0, 1 if nps > 4 else 2))])
    if chance.random() < 0.6:
        band = "low" if nps < 6 else "middle"
        answers["comment"] = [chance.choice(_COMMENTS["visit"][topic][band][language])]
    return answers | {"improve": list(topics)}


def _stay_answers(chance: Random, _store: _Store, rating: int, language: str) -> Answers:
    stars = max(1, min(5, round(rating / 2)))
    purpose = chance.choices(("Vacances", "Travail", "Fête"), (7, 2, 1))[0]
    answers = {"stars": [str(stars)], "nps": [str(rating)], "purpose": [purpose]}
    if stars < 4:
        problems = ("Bruit", "Propreté", "Lit", "Température")
        answers["room-problem"] = chance.sample(problems, chance.randint(1, 2))
        answers["room-number"] = [str(chance.randint(101, 540))]
    if purpose != "Travail" and chance.random() < 0.7:
        answers["comment"] = [chance.choice(_COMMENTS["stay"][_band(rating)][language])]
    return answers


def _delivery_answers(chance: Random, _store: _Store, rating: int, _language: str) -> Answers:
    mood = max(1, min(5, round(rating / 2)))
    if mood > 3:
        return {"mood": [str(mood)]}
    return {"mood": [str(mood)], "problem": [chance.choice(("En retard", "Froid", "Incomplet"))]}


_ANSWERS: Final[Mapping[str, Callable[[Random, _Store, int, str], Answers]]] = {
    "visit": _visit_answers,
    "stay": _stay_answers,
    "delivery": _delivery_answers,
}


def _messages(
    form: str,
    count: int,
    stores: Mapping[str, _Store],
    people: Sequence[Content],
    day: datetime,
    message: Callable[[Random, Content, int, datetime, str], Answers],
) -> Iterator[DemoFeedback]:
    """Yield messages through a contact form: most from customers, some from other respondents."""
    chance = Random(f"messages to {form}")
    for number in range(count):
        name, store = _draw_store(chance, stores)
        at, language = _draw_time(chance, store, day), store.draw_language(chance)
        known = chance.choice(people) if people and chance.random() < 0.8 else None
        person = known or _draw_stranger(chance, number)
        rating = store.draw_rating(chance, at, day)
        yield DemoFeedback(
            key=f"demo-{form.split()[1]}-{number}",
            kind=Kind.CONTACT_FORM,
            form_id=demo_id(form),
            submitted_at=at,
            language=language,
            answers={k: v for k, v in message(chance, person, rating, at, language).items() if v},
            store_id=demo_id(f"store {name}"),
        )


def _lumen_message(
    chance: Random, person: Content, _rating: int, at: datetime, language: str
) -> Answers:
    topic = chance.choices(list(_COMMENTS["contact"]), (45, 35, 5, 15))[0]
    answers = {
        "name": [_name(person)],
        "email": [person["email"]],
        "phone": _listed(person.get("phoneNumber")),
        "topic": [topic],
        "message": [chance.choice(_COMMENTS["contact"][topic][language])],
    }
    if topic == "A visit":
        answers["visit-date"] = [(at - timedelta(days=chance.randint(0, 9))).date().isoformat()]
    if topic in ("A visit", "A booking"):
        answers["party-size"] = [str(chance.randint(1, 10))]
    return answers


def _alize_message(
    chance: Random, person: Content, rating: int, at: datetime, language: str
) -> Answers:
    wishes = ("Lit bébé", "Chambre calme", "Petit déjeuner en chambre", "Parking", "Vélo")
    chosen = chance.sample(wishes, chance.randint(1, 3))
    answers = {
        "name": [_name(person)],
        "email": _listed(person.get("email")),
        "phone": _listed(person.get("phoneNumber")),
        "arrival": [(at + timedelta(days=chance.randint(2, 60))).date().isoformat()],
        "guests": [str(chance.randint(1, 5))],
        "wishes": chosen,
    }
    if "Parking" in chosen:
        answers["plate"] = [f"AB-{chance.randint(100, 999)}-CD"]
    if chance.random() < 0.5:
        answers |= {"stayed-before": ["true"], "last-stay": [str(rating)]}
        if rating < 8:
            answers["better"] = [chance.choice(_COMMENTS["stay"][_band(rating)][language])]
    return answers


def _moroccan_message(
    chance: Random, person: Content, rating: int, _at: datetime, language: str
) -> Answers:
    answers = {
        "name": [_name(person)],
        "phone": [person["phoneNumber"]],
        "happy": ["satisfied" if rating >= 6 else "unsatisfied"],
    }
    if rating < 6:
        reason, topic = chance.choice((("الخدمة", "Service"), ("الطعام", "Food")))
        comments = _COMMENTS["visit"][topic]["low"][language]
        answers |= {"reason": [reason], "message": [chance.choice(comments)]}
    return answers


def _draw_store(chance: Random, stores: Mapping[str, _Store]) -> tuple[str, _Store]:
    return chance.choices(list(stores.items()), [store.guests for store in stores.values()])[0]


@cache
def _calendar(season: tuple[int, ...], day: datetime) -> tuple[list[datetime], list[int]]:
    """Return the days on which feedback is submitted, and the weight of each day."""
    days = [day - timedelta(days=ago) for ago in range(2, DAYS)]
    return days, [season[d.month - 1] * _WEEKDAYS[d.weekday()] for d in days]


def _draw_time(chance: Random, store: _Store, day: datetime) -> datetime:
    """Draw a time before ``day``, by season, weekday and local hour."""
    days, weights = _calendar(store.season, day)
    local_hour = chance.choices((13, 14, 20, 21, 22, 23), (4, 3, 2, 4, 5, 2))[0]
    hour = timedelta(hours=local_hour - store.utc_offset_h, minutes=chance.randrange(60))
    return chance.choices(days, weights)[0].astimezone(UTC) + hour


def _draw_stranger(chance: Random, number: int) -> Content:
    person = draw_person(chance)
    return {
        "firstName": person.first_name,
        "lastName": person.last_name,
        "email": f"{person.address}.m{number}@example.com",
        "phoneNumber": draw_digits(chance, chance.choice(NAMINGS).phone),
    }


def _name(person: Content) -> str:
    return f"{person['firstName']} {person['lastName']}"


def _band(rating: int) -> str:
    return "low" if rating < 6 else "middle" if rating < 8 else "high"


def _listed(value: str | None) -> list[str]:
    return [value] if value else []
