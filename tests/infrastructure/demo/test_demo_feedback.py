"""Tests of the feedback of the demo data: dates, distributions and customers."""

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from functools import cache
from statistics import mean

import pytest

from admin.domain.forms.contact_form import define_contact_form
from admin.domain.forms.survey import define_survey
from admin.services.definitions.definition import Kind
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.feedback.answers import Questionnaire, SubmittedAnswer
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.survey import SendMode
from infrastructure.demo.contents import demo_definitions
from infrastructure.demo.feedback import DemoFeedback, demo_feedback, sent_surveys
from infrastructure.demo.ids import demo_id
from infrastructure.demo.purchases import DAYS

NOW = datetime(2026, 11, 21, 16, 30, tzinfo=UTC)


@cache
def feedback(now: datetime = NOW) -> list[DemoFeedback]:
    return demo_feedback(demo_definitions(now.date()), now)


def nps(submission: DemoFeedback) -> int | None:
    return int(submission.answers["nps"][0]) if "nps" in submission.answers else None


def test_demo_feedback_depends_only_on_its_arguments() -> None:
    assert demo_feedback(demo_definitions(NOW.date()), NOW) == feedback()


@pytest.mark.parametrize("now", [NOW, datetime(2028, 2, 29, 0, 0, tzinfo=UTC)])
def test_demo_feedback_covers_the_last_six_months(now: datetime) -> None:
    submitted = [submission.submitted_at for submission in feedback(now)]
    assert 380 <= len(submitted) <= 420
    assert submitted == sorted(submitted)
    assert now - timedelta(days=DAYS + 1) < submitted[0] < now - timedelta(days=DAYS - 10)
    assert now - timedelta(days=5) < submitted[-1] < now


def test_demo_feedback_has_unique_keys() -> None:
    keys = [submission.key for submission in feedback()]
    assert len(set(keys)) == len(keys)


def test_demo_surveys_are_answered_once_after_they_were_sent() -> None:
    sent = sent_surveys(demo_definitions(NOW.date()), NOW)
    answered = [submission for submission in feedback() if submission.survey]
    assert len({each.survey for each in answered}) == len(answered)
    assert 0.35 < len(answered) / len(sent) < 0.55
    assert all(each.survey.sent_at < each.submitted_at for each in answered if each.survey)


def saved_forms() -> dict[str, SavedForm]:
    """Return the saved forms of the demo by id."""
    contents = [raw.content for raw in demo_definitions(NOW.date())]
    places = Directory.of(
        Place(id=each["id"], kind=PlaceKind(each["kind"].upper()), name=each["name"])
        for each in contents
        if each["kind"] in (Kind.BRAND, Kind.STORE)
    )
    define = {Kind.CONTACT_FORM: define_contact_form, Kind.SURVEY: define_survey}
    return {
        each["id"]: define[each["kind"]](
            {name: each[name] for name in each if name not in ("kind", "account")}, places, NOW
        )
        for each in contents
        if each["kind"] in define
    }


def test_demo_answers_are_valid_answer_every_field_and_repeat_no_comment() -> None:
    forms, comments = saved_forms(), Counter[str]()
    answered = defaultdict(set)
    for submission in feedback():
        form = forms[submission.form_id]
        ids = {field.key: field.id for field in form.fields}
        submitted = [
            SubmittedAnswer(id=ids[key], values=values)
            for key, values in submission.answers.items()
        ]
        valid = Questionnaire.of(form).validate(submitted)
        answered[submission.form_id] |= {answer.key for answer in valid.answers}
        comments.update(a.values[0] for a in valid.answers if a.type is FieldType.LONG_TEXT)
    for form_id, keys in answered.items():
        assert keys == {field.key for field in forms[form_id].fields}
    assert comments.total() > 90
    assert set(comments.values()) == {1}


def test_ratings_of_one_demo_store_fall() -> None:
    period = timedelta(weeks=12)
    ratings: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for each in feedback():
        rating, store_id = nps(each), each.store_id or (each.survey and each.survey.store_id)
        if rating is not None and store_id and each.submitted_at > NOW - 2 * period:
            ratings[store_id, each.submitted_at > NOW - period].append(rating)
    changes = {
        name: mean(ratings[store, True]) - mean(ratings[store, False])
        for name in ("lyon", "paris", "casablanca", "ginza")
        if (store := demo_id(f"store {name}"))
    }
    assert changes.pop("paris") < -1.2
    assert min(changes.values()) > -1


def test_each_demo_comment_is_in_the_language_of_its_respondent() -> None:
    languages = Counter(s.language for s in feedback() if {"comment", "message"} & s.answers.keys())
    assert set(languages) == {"fr", "en", "ar", "ja"}
    assert min(languages.values()) >= 10


def test_demo_respondents_with_low_rating_do_not_want_to_return() -> None:
    visits = [s for s in feedback() if "again" in s.answers]
    assert {s.answers["again"] == ["unsatisfied"] for s in visits if (nps(s) or 0) < 7} == {True}
    assert {s.answers["again"] == ["unsatisfied"] for s in visits if (nps(s) or 0) >= 7} == {False}


def test_demo_surveys_are_sent_to_addresses_with_opt_in() -> None:
    contents = [definition.content for definition in demo_definitions(NOW.date())]
    people = {c["id"]: c for c in contents if c["kind"] == Kind.CUSTOMER}
    assert all("email" in person for person in people.values() if person["emailOptin"])
    assert all("phoneNumber" in person for person in people.values() if person["smsOptin"])
    sent = sent_surveys(demo_definitions(NOW.date()), NOW)
    assert {survey.channel for survey in sent} == {SendMode.EMAIL, SendMode.SMS}
    for survey in sent:
        optin = "emailOptin" if survey.channel is SendMode.EMAIL else "smsOptin"
        assert people[survey.customer_id][optin]
