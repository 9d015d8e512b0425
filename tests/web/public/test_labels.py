"""Tests of labels in links: pages, short links, submissions and stored feedback."""

import json
from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.solicitation.links import short_tracker
from tests.web.public.html_form import BROWSER, HtmlForm
from tests.web.public.respondent import PublicClient
from tests.web.public.stored import stored_feedback
from tests.web.seeded_account import CONTACT, SUBMIT_CONTACT, SURVEY, SeededAccount

CLIENT = PublicClient()
LABELS = {"table": {"maxDigits": 3}, "campaign": {"values": ["spring sale", "été"]}}


@pytest.fixture
def labelled(fresh: SeededAccount) -> SeededAccount:
    fresh.contact_form(labels=LABELS)
    fresh.survey(labels=LABELS)
    return fresh


@pytest.mark.parametrize(
    ("labels", "errors"),
    [
        ({"table": "999", "campaign": "été"}, []),
        ({"table": "0"}, []),
        ({"table": "1000"}, [("/labels/table", "not_allowed")]),
        ({"table": ""}, [("/labels/table", "not_allowed")]),
        ({"table": "१"}, [("/labels/table", "not_allowed")]),
        ({"table": "1a", "name": "Zoé"}, [
            ("/labels/table", "not_allowed"), ("/labels/name", "unknown_key"),
        ]),
        ({"table": 12}, [("/labels/table", "wrong_type")]),
        ({f"l{n}": "1" for n in range(10)}, [(f"/labels/l{n}", "unknown_key") for n in range(10)]),
        ({f"l{n}": "1" for n in range(11)}, [("/labels", "too_many")]),
        ({"table": "1" * 100}, [("/labels/table", "not_allowed")]),
        ({"table": "1" * 101}, [("/labels/table", "too_long")]),
        (["table"], [("/labels", "wrong_type")]),
    ],
)  # fmt: skip
def test_submission_with_labels_is_stored_or_rejected(
    labelled: SeededAccount, labels: Any, errors: list[tuple[str, str]]
) -> None:
    response = CLIENT.submit_fields(
        SUBMIT_CONTACT, labelled.contact_form_id, labelled.answers(), labels=json.dumps(labels)
    )
    assert (response.status, response.errors if errors else []) == (400 if errors else 204, errors)
    assert [each.labels for each in stored_feedback(labelled.contact_form_id)] == (
        [] if errors else [labels]
    )


@pytest.mark.parametrize(
    ("text", "code"), [("{", "malformed"), ('{"table":"1","table":"2"}', "duplicate")]
)
def test_part_labels_must_be_json(labelled: SeededAccount, text: str, code: str) -> None:
    response = CLIENT.submit_fields(
        SUBMIT_CONTACT, labelled.contact_form_id, labelled.answers(), labels=text
    )
    assert response.errors == [("/labels", code)]


def test_page_keeps_allowed_labels_of_link_without_script(labelled: SeededAccount) -> None:
    query = "&l.table=7&l.table=12&l.campaign=winter&l.name=Ada"
    page = CLIENT.get(f"{CONTACT}/page?id={labelled.contact_form_id}{query}", BROWSER)
    again = HtmlForm(page.body).submit(CLIENT, CONTACT)
    assert again.status == 400
    form = HtmlForm(again.body)
    assert form.value("labels") == ['{"table": "12"}']
    form.answer(0, "Food")
    assert form.submit(CLIENT, CONTACT).status == 200
    (stored,) = stored_feedback(labelled.contact_form_id)
    assert stored.labels == {"table": "12"}


def test_pages_with_different_labels_are_cached_apart(labelled: SeededAccount) -> None:
    path = f"{CONTACT}/page?id={labelled.contact_form_id}"
    for query, labels in (("", []), ("&l.table=1", ['{"table": "1"}']), ("&l.name=1", [])):
        for _ in range(2):
            assert HtmlForm(CLIENT.get(path + query, BROWSER).body).value("labels") == labels


def test_question_before_survey_keeps_labels(labelled: SeededAccount) -> None:
    config = {"type": "NPS", "threshold": 9, "nps": {"topic": "Would you recommend us?"}}
    labelled.survey(labels=LABELS, preRedirect=True, preRedirectConfig=config)
    path = f"{SURVEY}/page?survey={labelled.survey_id}&l.table=12"
    assert HtmlForm(CLIENT.get(path, BROWSER).body).value("l.table") == ["12"]
    assert HtmlForm(CLIENT.get(f"{path}&score=3", BROWSER).body).value("labels") == [
        '{"table": "12"}'
    ]


def test_short_link_passes_labels_to_page(labelled: SeededAccount) -> None:
    code = f"s{short_tracker(labelled.survey_id)}"
    response = CLIENT.get(f"/s/{code}?l.table=12&l.campaign=spring sale&utm=x")
    assert response.headers["location"] == (
        f"../public/survey/page?survey={labelled.survey_id}&l.table=12&l.campaign=spring+sale"
    )


def test_public_view_ignores_labels(labelled: SeededAccount) -> None:
    path = f"{SURVEY}?survey={labelled.survey_id}"
    assert CLIENT.get(f"{path}&l.table=x&l.{new_id()}=1").json == CLIENT.get(path).json
