"""Tests of the feedback of the demo data: dates, distributions and customers."""

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from functools import cache
from statistics import mean

import pytest

from admin.definitions.definition import Kind
from admin.demo.contents import demo_definitions
from admin.demo.feedback import DAYS, DemoFeedback, demo_feedback
from admin.demo.ids import MAIN_ACCOUNT, demo_id
from admin.demo.purchases import id_of
from admin.domain.forms.contact_form import define_contact_form
from admin.domain.forms.survey import define_survey
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.feedback.answers import Questionnaire, SubmittedAnswer
from chalicelib.domain.forms.form import SavedForm

NOW = datetime(2026, 11, 21, 16, 30, tzinfo=UTC)


@cache
def feedback(now: datetime = NOW) -> list[DemoFeedback]:
    return demo_feedback(demo_definitions(now.date()), now)


def nps(submission: DemoFeedback) -> int | None:
    return int(submission.answers["nps"][0]) if "nps" in submission.answers else None


def test_demo_feedback_depends_only_on_its_arguments() -> None:
    assert demo_feedback(demo_definitions(NOW.date()), NOW) == feedback()


@pytest.mark.parametrize("now", [NOW, datetime(2028, 2, 29, 0, 0, tzinfo=UTC)])
def test_demo_feedback_covers_the_last_14_months(now: datetime) -> None:
    submitted = [submission.submitted_at for submission in feedback(now)]
    assert len(submitted) >= 1_000
    assert submitted == sorted(submitted)
    assert now - timedelta(days=DAYS + 1) < submitted[0] < now - timedelta(days=DAYS - 20)
    assert now - timedelta(days=10) < submitted[-1] < now
    months = Counter(timestamp.strftime("%Y-%m") for timestamp in submitted)
    assert min(sorted(months.values())[1:]) > 10


def test_demo_feedback_has_unique_keys_and_one_tracker_for_each_purchase() -> None:
    keys = [submission.key for submission in feedback()]
    assert len(set(keys)) == len(keys)
    purchases = [s.purchase_id for s in feedback() if s.purchase_id]
    assert len(set(purchases)) == len(purchases) > 100
    assert all(s.sent_at < s.submitted_at for s in feedback() if s.sent_at)


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


def test_demo_answers_are_valid_and_answer_every_field_of_their_forms() -> None:
    forms = saved_forms()
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
    for form_id, keys in answered.items():
        assert keys == {field.key for field in forms[form_id].fields}


def test_demo_ratings_differ_by_store() -> None:
    ratings = defaultdict(list)
    for submission in feedback():
        rating = nps(submission)
        if rating is not None and submission.store_id:
            ratings[submission.store_id].append(rating)
    assert len(ratings) == 8
    assert mean(ratings[demo_id("store ginza")]) > mean(ratings[demo_id("store paris")]) + 0.5
    assert {rating for group in ratings.values() for rating in group} == set(range(11))


def test_hotels_by_the_sea_get_most_feedback_in_summer() -> None:
    nice = [s for s in feedback() if s.store_id == demo_id("store nice")]
    by_season = Counter("summer" if s.submitted_at.month in (6, 7, 8) else "other" for s in nice)
    # Three of the fourteen months are summer months.
    assert by_season["summer"] > by_season["other"] * 3 / 11


def test_demo_comments_are_in_four_languages() -> None:
    languages = Counter(s.language for s in feedback() if {"comment", "message"} & s.answers.keys())
    assert set(languages) == {"fr", "en", "ar", "ja"}
    assert min(languages.values()) > 30


def test_demo_respondents_with_low_rating_do_not_want_to_return() -> None:
    visits = [s for s in feedback() if "again" in s.answers]
    assert {s.answers["again"] == ["unsatisfied"] for s in visits if (nps(s) or 0) < 6} == {True}
    assert {s.answers["again"] == ["unsatisfied"] for s in visits if (nps(s) or 0) >= 6} == {False}


def test_demo_surveys_are_sent_to_addresses_with_opt_in() -> None:
    contents = [definition.content for definition in demo_definitions(NOW.date())]
    people = {c["id"]: c for c in contents if c["kind"] == Kind.CUSTOMER}
    assert all("email" in person for person in people.values() if person["emailOptin"])
    assert all("phoneNumber" in person for person in people.values() if person["smsOptin"])
    customers = {
        id_of(MAIN_ACCOUNT, c): people.get(c.get("customerId"))
        for c in contents
        if c["kind"] == Kind.PURCHASE
    }
    opt_ins = {"EMAIL": "emailOptin", "SMS": "smsOptin"}
    sent = [submission for submission in feedback() if submission.purchase_id]
    assert {submission.send_mode for submission in sent} == set(opt_ins)
    for submission in sent:
        assert customers[submission.purchase_id][opt_ins[submission.send_mode]]
