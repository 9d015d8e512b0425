"""Build the surveys and the feedback of the demo data: six months of it.

Ratings depend on the store, and comments on the ratings: one store gets worse. The dates are
relative to the day on which the demo data is loaded.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, Final

import yaml

from admin.services.definitions.definition import Kind, RawDefinition
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.survey import SendMode
from infrastructure.demo.ids import MAIN_ACCOUNT, demo_id
from infrastructure.demo.people import draw_person
from infrastructure.demo.purchases import DAYS, PURCHASE, SHOWN_PURCHASE, id_of

_COMMENTS: Final = Path(__file__).parent / "comments.yaml"
_ANGRY: Final = 0.06
_PROBLEM: Final = timedelta(days=30)
"""The time since when a store has a problem."""
_FALL: Final = 4
"""The fall of the mean rating because of a problem."""
_ANSWERED: Final = 0.45
"""The share of the sent surveys that are answered."""
_SHARES: Final = {"CHECKBOX": 0.3, "EMAIL": 1, "PHONE": 1}
"""The share of respondents who answer an optional field, by type. Default: `_SHARE`."""
_SHARE: Final = 0.7

_FRANCE: Final = ("fr", "fr", "fr", "en")
_MOROCCO: Final = ("ar", "ar", "ar", "fr", "fr", "en")
_JAPAN: Final = ("ja", "ja", "ja", "en")

Content = dict[str, Any]


@dataclass(frozen=True)
class _Store:
    """The distribution of ratings and languages in the feedback about a store.

    Attributes:
        quality: the mean rating, from 0 to 10.
        guests: the relative number of submissions about this store.
        problem: an option that most guests of the last 30 days choose, with lower ratings.
    """

    quality: float
    guests: int
    languages: Sequence[str]
    problem: str = ""

    def draw_rating(self, chance: Random, *, is_worse: bool) -> int:
        """Draw a rating from 0 to 10.

        Most ratings follow a normal distribution. A few are drawn from 0 to 4, independently of the
        store.
        """
        if chance.random() < _ANGRY:
            return chance.randint(0, 4)
        return max(0, min(10, round(chance.gauss(self.quality - is_worse * _FALL, 1.5))))


_LYON, _CASABLANCA = _Store(8.9, 20, _FRANCE), _Store(8.6, 12, _MOROCCO)
_PARIS, _GINZA = _Store(8.4, 24, _FRANCE, "Waiting time"), _Store(9.0, 8, _JAPAN)
_TABLES: Final = {"lyon": _LYON, "paris": _PARIS, "casablanca": _CASABLANCA, "ginza": _GINZA}
_HOTELS: Final = {"nice": _Store(8.4, 12, _FRANCE), "essaouira": _Store(8.8, 7, _MOROCCO)}
_COMPLAINTS: Final = {"casablanca": _Store(6.4, 12, _MOROCCO)}
_STORES: Final = {demo_id(f"store {name}"): store for name, store in (_TABLES | _HOTELS).items()}

_SURVEYS: Final = {
    "meal": ("survey visit", SendMode.EMAIL, 15),
    "order": ("survey delivery", SendMode.SMS, 1),
    "stay": ("survey stay", SendMode.EMAIL, 20),
}
"""By kind of purchase: the survey, the preferred channel and the delay in hours."""
_OPTINS: Final = {SendMode.EMAIL: "emailOptin", SendMode.SMS: "smsOptin"}


@dataclass(frozen=True)
class SentSurvey:
    """A survey that a customer has received after a purchase."""

    survey_id: str
    purchase_id: str
    customer_id: str
    store_id: str
    channel: SendMode
    sent_at: datetime

    @property
    def tracker_id(self) -> str:
        """The id of the tracker."""
        return demo_id(f"tracker {self.purchase_id}")


@dataclass(frozen=True)
class DemoFeedback:
    """One submission.

    Attributes:
        key: identifies the submission in the demo data.
        answers: answers by field key. The service ignores answers to fields that are not visible.
        survey: the survey that the respondent has received; None without a tracker.
    """

    key: str
    kind: Kind
    form_id: str
    submitted_at: datetime
    language: str
    answers: dict[str, list[str]]
    store_id: str | None = None
    survey: SentSurvey | None = None


def sent_surveys(definitions: Iterable[RawDefinition], now: datetime) -> list[SentSurvey]:
    """Return the surveys of the main account that were sent before the day of ``now``."""
    contents = _contents(definitions)
    people = {content["id"]: content for content in _of_kind(contents, Kind.CUSTOMER)}
    surveys = []
    for purchase in _of_kind(contents, PURCHASE):
        survey, preferred, hours = _SURVEYS[purchase["externalId"].split("-")[1]]
        end = datetime.fromisoformat(purchase.get("endDate") or purchase["date"])
        sent_at = end + timedelta(hours=hours)
        person = people.get(purchase.get("customerId", ""), {})
        channels = [each for each in (preferred, *_OPTINS) if person.get(_OPTINS[each])]
        if channels and sent_at < _midnight(now):
            purchase_id, store_id = id_of(MAIN_ACCOUNT, purchase), purchase["storeId"]
            sent = (demo_id(survey), purchase_id, person["id"], store_id, channels[0], sent_at)
            surveys.append(SentSurvey(*sent))
    return surveys


def demo_feedback(definitions: Sequence[RawDefinition], now: datetime) -> list[DemoFeedback]:
    """Return the feedback of the main account, oldest first. All feedback is older than ``now``.

    The feedback depends only on the arguments.

    Args:
        definitions: the demo data, with the forms, customers and purchases of the feedback.
    """
    contents = _contents(definitions)
    people = list(_of_kind(contents, Kind.CUSTOMER))
    forms = {content["id"]: content for content in contents if "fields" in content}
    # A form links feedback to a customer only if it asks for an identifier that the customer has.
    by_email = [person for person in people if "email" in person]
    by_phone = [person for person in people if "email" not in person]
    respondents = _Respondents(forms, _midnight(now))
    submissions = (
        *respondents.after_purchases(
            sent_surveys(definitions, now), {person["id"]: person for person in people}
        ),
        *respondents.at_stores("survey visit", 235, _TABLES, []),
        *respondents.at_stores("contact-form lumen", 50, _TABLES, by_email),
        *respondents.at_stores("contact-form alize", 50, _HOTELS, people),
        *respondents.at_stores("contact-form morocco", 40, _COMPLAINTS, by_phone),
    )
    return sorted(submissions, key=lambda feedback: (feedback.submitted_at, feedback.key))


class _Respondents:
    """The respondents, who answer the forms. Each comment is used once."""

    def __init__(self, forms: Mapping[str, Content], day: datetime) -> None:
        texts = yaml.safe_load(_COMMENTS.read_text(encoding="utf-8"))
        self._comments = {demo_id(form): of_form for form, of_form in texts.items()}
        self._forms, self._day = forms, day

    def after_purchases(
        self, surveys: Sequence[SentSurvey], people: Mapping[str, Content]
    ) -> Iterator[DemoFeedback]:
        """Yield answers to surveys that customers have received after a purchase."""
        chance = Random("feedback after purchases")
        for survey in surveys:
            at = survey.sent_at + timedelta(minutes=chance.randint(5, 3_000))
            is_answered = chance.random() < _ANSWERED or survey.purchase_id == SHOWN_PURCHASE
            form, store = self._forms[survey.survey_id], _STORES[survey.store_id]
            key, person = f"demo-{survey.purchase_id}", people[survey.customer_id]
            if is_answered and at < self._day:
                submission = self._submission(chance, key, form, person, store, at)
                yield from (replace(each, survey=survey) for each in submission)

    def at_stores(
        self, name: str, count: int, stores: Mapping[str, _Store], people: Sequence[Content]
    ) -> Iterator[DemoFeedback]:
        """Yield submissions without a tracker: most from these people, some from strangers."""
        chance = Random(f"feedback through {name}")
        form, label = self._forms[demo_id(name)], name.split()[1]
        guests = [store.guests for store in stores.values()]
        for number in range(count):
            ((place, store),) = chance.choices(list(stores.items()), guests)
            is_known = people and chance.random() < 0.8
            person = chance.choice(people) if is_known else draw_person(chance, f"{label}.{number}")
            days, hours = chance.randrange(2, DAYS), chance.randint(11, 21)
            at = self._day - timedelta(days=days) + timedelta(hours=hours, minutes=number % 60)
            submission = self._submission(chance, f"demo-{label}-{number}", form, person, store, at)
            # Some respondents open a link without a store.
            store_id = demo_id(f"store {place}") if chance.random() < 0.95 else None
            yield from (replace(each, store_id=store_id) for each in submission)

    def _submission(
        self, chance: Random, key: str, form: Content, person: Content, store: _Store, at: datetime
    ) -> Iterator[DemoFeedback]:
        """Draw a rating and a language, and answer the fields of the form in their order.

        Yield nothing if the form requires a comment and no comment is left.
        """
        is_worse = bool(store.problem) and at > self._day - _PROBLEM
        rating = store.draw_rating(chance, is_worse=is_worse)
        language = chance.choice(store.languages)
        answers: dict[str, list[str]] = {}
        for field in form["fields"]:
            is_required = field.get("required")
            if not is_required and chance.random() >= _SHARES.get(field["type"], _SHARE):
                continue
            if field["type"] == FieldType.LONG_TEXT:
                said = {language, _band(rating), *chain.from_iterable(answers.values())}
                comment = self._comment(chance, form["id"], said)
                if is_required and not comment:
                    return
                values = [comment] if comment else []
            else:
                values = _values(chance, field, person, rating, at)
                if is_worse and store.problem in field.get("values", ()) and chance.random() < 0.8:
                    values = [store.problem]
            if values:
                answers[field["key"]] = values
        yield DemoFeedback(key, Kind(form["kind"]), form["id"], at, language, answers)

    def _comment(self, chance: Random, form_id: str, said: Collection[str]) -> str | None:
        """Return an unused comment that fits the answers, the rating and the language, or None."""
        texts: Any = self._comments.get(form_id)
        while isinstance(texts, dict):
            texts = next((nested for name, nested in texts.items() if name in said), None)
        return texts.pop(chance.randrange(len(texts))) if texts else None


def _values(
    chance: Random, field: Content, person: Content, rating: int, at: datetime
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
            value = "satisfied" if rating >= 7 else "unsatisfied"
        case _:
            near = rating if kind is FieldType.NPS else rating + chance.choice((-1, 0, 0, 1))
            options = kind.rules.options or {kind.rules.example: near}
            value = min(options, key=lambda option: abs((options[option] or 0) - near))
    return [value] if value else []


def _band(rating: int) -> str:
    return "low" if rating < 7 else "middle" if rating < 9 else "high"


def _contents(definitions: Iterable[RawDefinition]) -> list[Content]:
    return [each.content for each in definitions if each.content["account"] == MAIN_ACCOUNT]


def _of_kind(contents: Iterable[Content], kind: str) -> Iterator[Content]:
    return (content for content in contents if content["kind"] == kind)


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
