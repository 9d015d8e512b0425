"""Tests of form pages: content, conditions, submission without script, and errors."""

import gzip
import re
from pathlib import Path

import pytest
from chalice.test import Client
from hypothesis import given

from admin.services.definitions.kinds import STORE, save
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.feedback.answers import MAX_VALUE, Questionnaire, SubmittedAnswer
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.ids import new_id
from chalicelib.services.caching import clear_caches
from chalicelib.services.forms.read import read_survey
from chalicelib.storage import feedback
from chalicelib.web.pages import assets
from chalicelib.web.pages.fields import DisplayedField
from tests.domain.feedback.test_answers_oracle import forms_and_submissions
from tests.domain.forms.factories import depends, field, saved_contact_form, select
from tests.web.definitions import store_definition
from tests.web.partner_client import Response
from tests.web.public.html_form import BROWSER, HtmlForm
from tests.web.public.rendered import rendered
from tests.web.public.respondent import PublicClient
from tests.web.public.stored import stored_feedback
from tests.web.seeded_account import CONTACT, REVIEW_PAGE, SURVEY, SeededAccount

CLIENT = PublicClient()
WHAT, NOTE, MAIL, PHONE, NPS = range(5)
PRE_REDIRECT = {
    "preRedirect": True,
    "preRedirectConfig": {
        "type": "NPS",
        "threshold": 9,
        "nps": {"topic": "Would you recommend us?"},
    },
}


def open_contact_form(seeded: SeededAccount, query: str = "") -> Response:
    return CLIENT.get(f"{CONTACT}/page?id={seeded.contact_form_id}{query}", BROWSER)


def open_survey(seeded: SeededAccount, query: str = "", survey_id: str = "") -> Response:
    return CLIENT.get(f"{SURVEY}/page?survey={survey_id or seeded.survey_id}{query}", BROWSER)


def contact_form(seeded: SeededAccount, query: str = "") -> HtmlForm:
    return HtmlForm(open_contact_form(seeded, query).body)


# --- the page


def test_page_of_tracker_names_store_and_date_of_visit(fresh: SeededAccount) -> None:
    save(
        STORE,
        fresh.account_id,
        store_definition(
            fresh.brand_id, id=fresh.store_id, address="1 quai, Lyon", legalText="RCS 1"
        ),
    )
    clear_caches()
    page = open_survey(fresh, f"&tracker={fresh.tracker()}", fresh.private_survey_id).body
    assert "Lyon Bellecour\u00a0· 18 November 2026" in page
    assert "1 quai, Lyon" in page
    assert "RCS 1" in page
    assert "1 quai" not in open_survey(fresh).body
    page = open_contact_form(fresh, f"&store={fresh.store_id}").body
    assert '<p class="visit">Lyon Bellecour</p>' in page


def test_texts_contain_store_date_and_first_name(fresh: SeededAccount) -> None:
    fresh.survey(
        fresh.private_survey_id,
        header={"title": "{firstName|Hello}, {store} on {date}?"},
        submission={"title": "Thank you, {firstName}, for {date}!"},
    )
    tracker = fresh.tracker()
    query = f"survey={fresh.private_survey_id}&tracker={tracker}"
    title = CLIENT.get(f"{SURVEY}?{query}").json["header"]["title"]
    assert title == "Zoé, Lyon Bellecour on 18 November 2026?"
    form = HtmlForm(open_survey(fresh, f"&tracker={tracker}", fresh.private_survey_id).body)
    form.answer(WHAT, "Food")
    thanks = form.submit(CLIENT, SURVEY).body
    assert "Thank you, Zoé, for 18 November 2026!" in thanks
    fresh.survey(header={"title": "{firstName|Hello}, {store}?"})
    title = CLIENT.get(f"{SURVEY}?survey={fresh.survey_id}").json["header"]["title"]
    assert title == "Hello, Maison Lumen?"


def test_page_of_tracker_with_first_name_sends_two_aws_requests(fresh: SeededAccount) -> None:
    fresh.survey(fresh.private_survey_id, header={"title": "{firstName}?"})
    query = f"&tracker={fresh.tracker()}"
    open_survey(fresh, query, fresh.private_survey_id)
    with counted_calls() as calls:
        assert "<bdi>Zoé?</bdi>" in open_survey(fresh, query, fresh.private_survey_id).body
    assert calls == {"dynamodb.GetItem": 1, "dynamodb.BatchGetItem": 1}


@pytest.mark.parametrize(
    ("kind", "values", "labels"),
    [
        ("BINARY", ["Yes", "No"], ["Yes", "No"]),
        ("BINARY", [], ["Satisfied", "Not satisfied"]),
        ("BINARY", ["Yes"], ["Satisfied", "Not satisfied"]),
        ("NPS", ["Never", "Always"], ["Never", "Always"]),
        ("CSAT_SMILEY", list("abcde"), ['<bdi class="caption">c</bdi>']),
    ],
)
def test_labels_of_definition_replace_default_labels(
    fresh: SeededAccount, kind: str, values: list[str], labels: list[str]
) -> None:
    fresh.survey(fields=[field("q", kind, values=values)])
    page = open_survey(fresh).body
    assert all(label in page for label in labels)


@pytest.mark.parametrize(
    ("nps", "expected"),
    [("0", "Sorry"), ("6", "Sorry"), ("7", "Thanks"), ("8", "Thanks"), ("9", "Zoé, great")],
)
def test_thank_you_text_depends_on_rating(fresh: SeededAccount, nps: str, expected: str) -> None:
    fresh.survey(
        fresh.private_survey_id,
        submission={"title": "Thanks"},
        thanks=[
            {"minRating": 9, "title": "{firstName}, great"},
            {"minRating": 0, "title": "Sorry"},
            {"minRating": 7, "subtitle": "Fine"},
        ],
    )
    query = f"&tracker={fresh.tracker()}&a.nps={nps}&a.what=Food"
    form = HtmlForm(open_survey(fresh, query, fresh.private_survey_id).body)
    page = form.submit(CLIENT, SURVEY).body
    assert f"<h1><bdi>{expected}</bdi></h1>" in page
    assert ("Fine" in page) == (expected == "Thanks")


@pytest.mark.parametrize(
    ("nps", "expected"),
    [
        ("4", "We are sorry that it was not better."),
        ("5", "Your answer has reached the team."),
        ("7", "Your answer has reached the team."),
        ("8", "We are delighted."),
        ("", "Your answer has reached the team."),
    ],
)
def test_default_thank_you_text_fits_rating(fresh: SeededAccount, nps: str, expected: str) -> None:
    fresh.survey()
    page = open_survey(fresh, f"&a.what=Food&a.nps={nps}").body
    assert expected in HtmlForm(page).submit(CLIENT, SURVEY).body


@pytest.mark.parametrize("layout", ["PAGE", "STEPS"])
def test_layout_is_a_property_of_pages_only(fresh: SeededAccount, layout: str) -> None:
    fresh.survey(layout=layout)
    assert ('class="stepping"' in open_survey(fresh).body) == (layout == "STEPS")
    view = CLIENT.get(f"{SURVEY}?survey={fresh.survey_id}").json
    assert {"layout", "thanks"} & view.keys() == set()
    assert "layout" not in read_survey(fresh.account_id, fresh.survey_id).model_dump()


def test_texts_without_translation_have_the_language_of_the_form(fresh: SeededAccount) -> None:
    questions = [field("a", "NPS", label="Well?"), select("b", "Food", "Service", label="What?")]
    fresh.survey(
        autoTranslate=True,
        header={"title": "Visit to {brand}", "subtitle": "One minute"},
        fields=questions,
        translations={
            "ar": {
                "header": {"subtitle": "دقيقة"},
                "fields": {"b": {"label": "ماذا؟", "values": ["", "الخدمة"]}},
            }
        },
    )
    page = open_survey(fresh, "&language=ar").body
    marked = re.findall(r'<bdi lang="en">([^<]*)</bdi>', page)
    assert marked == ["Visit to Maison Lumen", "Well?", "Food"]
    assert 'lang="en"' not in open_survey(fresh).body.partition("<body")[2]


def test_thank_you_texts_without_translation_have_the_language_of_the_form(
    fresh: SeededAccount,
) -> None:
    fresh.survey(
        autoTranslate=True,
        submission={"title": "Thanks", "subtitle": "Soon"},
        thanks=[{"minRating": 9, "title": "Bye, {brand}"}],
        translations={"ar": {"submission": {"title": "شكرا"}, "thanks": [{"subtitle": "قريبا"}]}},
    )
    texts = []
    for nps in ("", "9"):
        page = open_survey(fresh, f"&language=ar&a.what=Food&a.nps={nps}").body
        texts.append(re.findall(r"<bdi[^>]*>[^<]*", HtmlForm(page).submit(CLIENT, SURVEY).body))
    assert texts == [
        ["<bdi>Maison Lumen", "<bdi>شكرا", '<bdi lang="en">Soon'],
        ["<bdi>Maison Lumen", '<bdi lang="en">Bye, Maison Lumen', "<bdi>قريبا"],
    ]


def test_place_is_the_last_question(fresh: SeededAccount) -> None:
    save(STORE, fresh.account_id, store_definition(fresh.brand_id))
    fresh.contact_form()
    page = open_contact_form(fresh).body
    assert page.index('name="store"') > page.index(fresh.fields["nps"])


def test_page_of_closed_form_has_brand_of_form(fresh: SeededAccount) -> None:
    tracker = fresh.tracker()
    form = HtmlForm(open_survey(fresh, f"&tracker={tracker}", fresh.private_survey_id).body)
    form.answer(WHAT, "Food")
    assert form.submit(CLIENT, SURVEY).status == 200
    answered = open_survey(fresh, f"&tracker={tracker}", fresh.private_survey_id)
    fresh.contact_form(enabled=False)
    for response in (answered, open_contact_form(fresh)):
        assert response.status == 409
        assert '<p class="owner"><bdi>Maison Lumen</bdi></p>' in response.body


def test_page_is_html_that_only_the_browser_history_reuses(seeded: SeededAccount) -> None:
    response = open_contact_form(seeded)
    assert (response.status, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert response.headers["cache-control"] == "private, max-age=0"
    assert response.headers["referrer-policy"] == "no-referrer"


def test_page_with_answers_or_tracker_is_not_stored_by_browser(seeded: SeededAccount) -> None:
    form = contact_form(seeded)
    form.answer(NOTE, "Secret")
    for response in (
        open_survey(seeded, f"&tracker={seeded.tracker()}", seeded.private_survey_id),
        open_contact_form(seeded, "&a.nps=7"),
        form.submit(CLIENT, CONTACT, step="check"),
        form.submit(CLIENT, CONTACT, **{f"fields[{MAIL}][values][]": "invalid"}),
    ):
        assert response.headers["cache-control"] == "private, no-store"


def test_page_contains_a_control_for_every_field(seeded: SeededAccount) -> None:
    form = contact_form(seeded)
    assert form.action == "submit"
    assert form.options[f"fields[{WHAT}][values][]"] == ["Food", "Price"]
    assert form.options[f"fields[{NPS}][values][]"] == [str(n) for n in range(11)]
    ids = [form.value(f"fields[{number}][id]") for number in range(5)]
    assert ids == [[seeded.fields[key]] for key in ("what", "note", "mail", "phone", "nps")]
    assert form.value("id") == [seeded.contact_form_id]


def test_each_page_view_has_its_own_idempotency_key(seeded: SeededAccount) -> None:
    keys = {contact_form(seeded).value("idempotencyKey")[0] for _ in range(3)}
    assert len(keys) == 3


def test_page_sends_same_aws_requests_as_its_view(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    requests = [
        (open_contact_form, (), 0),
        (open_survey, (), 0),
        (open_survey, (f"&tracker={tracker}", seeded.private_survey_id), 2),
    ]
    for show, arguments, expected in requests:
        show(seeded, *arguments)
        with counted_calls() as calls:
            assert show(seeded, *arguments).status == 200
        assert calls.total() == expected


def test_survey_page_contains_tracker_of_request(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    form = HtmlForm(open_survey(seeded, f"&tracker={tracker}", seeded.private_survey_id).body)
    assert form.value("tracker") == [tracker]


def test_page_opened_by_short_link_shows_survey_of_tracker(seeded: SeededAccount) -> None:
    tracker = seeded.tracker()
    page = f"{SURVEY}/page?tracker="
    CLIENT.get(f"{page}{tracker}", BROWSER)
    with counted_calls() as calls:
        form = HtmlForm(CLIENT.get(f"{page}{tracker}", BROWSER).body)
    assert calls.total() == 2
    assert form.value("tracker") == [tracker]
    assert form.value("id") == [seeded.private_survey_id]
    unknown = CLIENT.get(f"{page}{new_id()}", BROWSER)
    assert unknown.status == 404
    assert CLIENT.get(f"{page}x", BROWSER).status == 400


def test_page_language_sets_text_direction_and_form_action(fresh: SeededAccount) -> None:
    fresh.contact_form(autoTranslate=True, translations={"he": {"header": {"title": "שלום"}}})
    page = open_contact_form(fresh, "&language=he").body
    assert '<html lang="he" dir="rtl"' in page
    assert "שלום" in page
    assert HtmlForm(page).action == "submit?language=he"


def test_definition_texts_are_escaped(fresh: SeededAccount) -> None:
    fresh.contact_form(header={"title": "</title><script>alert(1)</script>"})
    page = open_contact_form(fresh).body
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_content_security_policy_allows_only_files_of_service_and_images_of_form(
    fresh: SeededAccount,
) -> None:
    fresh.contact_form(
        cover={"url": "https://cdn.example.com/a.png"},
        generalStyle={
            "titleColor": "#12345f",
            "font": {"name": "Inter", "url": "https://fonts.example.com/inter.woff2"},
        },
    )
    response = open_contact_form(fresh)
    directives = response.headers["content-security-policy"].split("; ")
    policy = dict(directive.split(" ", 1) for directive in directives)
    assert re.fullmatch(r"'sha256-[\w+/=]+'", policy.pop("style-src"))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "connect-src": "'self'",
        "img-src": "https://cdn.example.com",
        "font-src": "https://fonts.example.com",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "*",
    }
    assert "--title:#12345f" in response.body
    assert not re.search(r"\sstyle=|\son\w+=|javascript:", response.body)


def test_style_sheet_of_another_site_is_not_loaded(fresh: SeededAccount) -> None:
    font = {"name": "Inter", "url": "https://fonts.example.com/inter.css"}
    fresh.contact_form(generalStyle={"font": font})
    response = open_contact_form(fresh)
    assert "fonts.example.com" not in response.body + response.headers["content-security-policy"]
    assert '--font:"Inter"' in response.body


# --- preselected answers


def test_query_preselects_options_and_scales_only(seeded: SeededAccount) -> None:
    query = "&a.what=Price&a.nps=7&a.note=Hello&a.mail=x@example.com&a.unknown=1"
    form = contact_form(seeded, query)
    assert form.value(f"fields[{WHAT}][values][]") == ["Price"]
    assert form.value(f"fields[{NPS}][values][]") == ["7"]
    assert form.value(f"fields[{NOTE}][values][]") == []
    assert form.value(f"fields[{MAIL}][values][]") == []


@pytest.mark.parametrize("value", ["11", "-1", "many", ""])
def test_invalid_preselected_answer_is_ignored(seeded: SeededAccount, value: str) -> None:
    assert contact_form(seeded, f"&a.nps={value}").value(f"fields[{NPS}][values][]") == []


def test_opening_links_with_preselected_scores_stores_nothing(seeded: SeededAccount) -> None:
    before = seeded.counts
    for score in range(11):
        assert open_survey(seeded, f"&a.nps={score}").status == 200
    assert seeded.counts == before


# --- submission without script


def test_browser_gets_thank_you_page(fresh: SeededAccount) -> None:
    fresh.contact_form(submission={"title": "Merci !", "subtitle": "À bientôt."})
    form = contact_form(fresh)
    form.answer(WHAT, "Food")
    response = form.submit(CLIENT, CONTACT)
    assert (response.status, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert {"Merci !", "À bientôt."} <= set(HtmlForm(response.body).texts)
    assert REVIEW_PAGE not in response.body


@pytest.mark.parametrize(("score", "is_redirected"), [("7", False), ("8", True)])
def test_thank_you_page_links_to_review_page_only_after_high_rating(
    seeded: SeededAccount, score: str, is_redirected: bool
) -> None:
    form = HtmlForm(open_survey(seeded, f"&store={seeded.store_id}").body)
    form.answer(WHAT, "Food")
    form.answer(NPS, score)
    response = form.submit(CLIENT, SURVEY)
    assert response.status == 200
    assert (f'href="{REVIEW_PAGE}"' in response.body) == is_redirected


def test_repeated_submission_of_one_page_view_stores_one_feedback(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    created: list[str] = []
    create = feedback.create
    monkeypatch.setattr(
        feedback, "create", lambda new, key: created.append(new.id) or create(new, key)
    )
    form = contact_form(seeded)
    form.answer(WHAT, "Food")
    assert [form.submit(CLIENT, CONTACT).status for _ in range(3)] == [200, 200, 200]
    assert len(created) == 1


def test_resubmission_with_used_tracker_succeeds_only_with_same_key(seeded: SeededAccount) -> None:
    query = f"&tracker={seeded.tracker()}"
    form = HtmlForm(open_survey(seeded, query, seeded.private_survey_id).body)
    form.answer(WHAT, "Food")
    assert [form.submit(CLIENT, SURVEY).status for _ in range(2)] == [200, 200]
    assert open_survey(seeded, query, seeded.private_survey_id).status == 409


def test_invalid_submission_shows_form_with_answers_and_linked_errors(
    seeded: SeededAccount,
) -> None:
    form = contact_form(seeded)
    form.answer(NOTE, "First line\nsecond <line>")
    form.answer(MAIL, "nobody")
    form.answer(NPS, "3")
    response = form.submit(CLIENT, CONTACT)
    again = HtmlForm(response.body)
    assert response.status == 400
    assert again.value(f"fields[{NOTE}][values][]") == ["First line\nsecond <line>"]
    assert again.value(f"fields[{MAIL}][values][]") == ["nobody"]
    assert again.value(f"fields[{NPS}][values][]") == ["3"]
    assert again.value("idempotencyKey") == form.value("idempotencyKey")
    assert re.findall(r'<li><a href="#(q\d)">([^<]+)</a>', response.body) == [
        (f"q{WHAT}", "What: Choose an answer."),
        (f"q{MAIL}", "Mail: Enter an e-mail address, such as name@example.com."),
    ]
    assert "<title>Please check your answers" in response.body


def assert_sent_after_second_submission(response: Response) -> None:
    assert response.status == 400
    assert "<title>Not sent yet" in response.body
    assert "<p>Your answers could not be sent. Please send them again.</p>" in response.body
    assert HtmlForm(response.body).submit(CLIENT, CONTACT).status == 200


def test_invalid_answer_to_field_that_is_not_displayed_is_reported_and_dropped(
    fresh: SeededAccount,
) -> None:
    fresh.contact_form(
        fields=[select("more", "Yes", "No"), field("reason", "LONG_TEXT"), field("name")],
        fieldDependencies=[depends("reason", "more")],
    )
    form = contact_form(fresh)
    form.answer(1, "x" * (MAX_VALUE + 1))
    hidden = form.submit(CLIENT, CONTACT)
    assert_sent_after_second_submission(hidden)
    form.answer(1)
    fresh.contact_form(fields=[select("more", "Yes", "No")])
    clear_caches()
    form.parts = [part for part in form.parts if part[0] != "idempotencyKey"]
    assert_sent_after_second_submission(form.submit(CLIENT, CONTACT))


def test_form_sent_twice_stores_one_feedback(fresh: SeededAccount) -> None:
    form = contact_form(fresh)
    form.answer(WHAT, "Food")
    pages = [form.submit(CLIENT, CONTACT) for _ in range(2)]
    assert [page.status for page in pages] == [200, 200]
    assert len(stored_feedback(fresh.contact_form_id)) == 1


def test_changed_answers_after_back_are_stored_only_after_second_submission(
    fresh: SeededAccount,
) -> None:
    form = contact_form(fresh)
    form.answer(WHAT, "Food")
    form.submit(CLIENT, CONTACT)
    form.answer(WHAT, "Price")
    response = form.submit(CLIENT, CONTACT)
    again = HtmlForm(response.body)
    assert (response.status, len(stored_feedback(fresh.contact_form_id))) == (422, 1)
    assert "We have already received your earlier answers." in response.body
    assert again.value(f"fields[{WHAT}][values][]") == ["Price"]
    assert again.value("idempotencyKey") != form.value("idempotencyKey")
    assert again.submit(CLIENT, CONTACT).status == 200
    assert len(stored_feedback(fresh.contact_form_id)) == 2


def test_other_answers_with_used_tracker_get_page_of_used_tracker(fresh: SeededAccount) -> None:
    tracker = fresh.tracker()
    page = open_survey(fresh, f"&tracker={tracker}", fresh.private_survey_id).body
    form = HtmlForm(page)
    for answer, status in (("Food", 200), ("Food", 200), ("Price", 409)):
        form.answer(0, answer)
        response = form.submit(CLIENT, SURVEY)
        assert (response.status, "You have already answered" in response.body) == (
            status,
            status == 409,
        )


@pytest.mark.parametrize(
    ("label", "summary"),
    [("Why?", "Why? Enter an answer."), ("Why", "Why: Enter an answer.")],
)
def test_error_summary_adds_colon_unless_label_ends_with_a_mark(label: str, summary: str) -> None:
    shown = DisplayedField(0, "q0", "why", "input", label, error="Enter an answer.")
    assert shown.summary == summary


def test_check_of_conditions_shows_field_and_stores_nothing(fresh: SeededAccount) -> None:
    fresh.contact_form(
        fields=[
            select("more", "Yes", "No", required=True),
            field("reason", "LONG_TEXT", required=True),
            field("name", required=True),
        ],
        fieldDependencies=[depends("reason", "more")],
    )
    form = contact_form(fresh)
    assert form.hidden_fields == {1}
    form.answer(0, "Yes")
    form.answer(2, "Zoé")
    with counted_calls() as calls:
        shown = form.submit(CLIENT, CONTACT, step="check")
    form = HtmlForm(shown.body)
    assert (shown.status, calls.total(), form.hidden_fields) == (200, 0, set())
    assert form.value("fields[2][values][]") == ["Zoé"]
    form.answer(1, "Cold")
    form.answer(0, "No")
    hidden = HtmlForm(form.submit(CLIENT, CONTACT, step="check").body)
    assert hidden.hidden_fields == {1}
    assert hidden.value("fields[1][values][]") == ["Cold"]
    assert hidden.submit(CLIENT, CONTACT).status == 200


@pytest.mark.parametrize("form_id", ["", "x"])
def test_check_without_id_of_survey_displays_no_form(seeded: SeededAccount, form_id: str) -> None:
    parts = [("tracker", seeded.tracker()), ("id", form_id), ("step", "check")]
    assert CLIENT.submit(f"{SURVEY}/submit", parts, BROWSER).status == 404


def test_step_part_is_rejected_if_client_does_not_accept_html(seeded: SeededAccount) -> None:
    form = contact_form(seeded)
    response = form.submit(CLIENT, CONTACT, {"accept": "*/*"}, step="check")
    assert (response.status, response.json["errors"][-1]["code"]) == (400, "unknown_key")


def test_client_without_html_gets_json_responses(seeded: SeededAccount) -> None:
    form = contact_form(seeded)
    assert form.submit(CLIENT, CONTACT, {"accept": "application/json"}).json["status"] == 400
    form.answer(WHAT, "Food")
    response = form.submit(CLIENT, CONTACT, {"accept": "*/*"})
    assert (response.status, response.body) == (204, "")


def test_custom_answer_is_kept_when_form_is_shown_again(fresh: SeededAccount) -> None:
    fresh.contact_form(
        fields=[select("what", "Food", "Price", allowCustomValue=True), field("n", required=True)]
    )
    form = contact_form(fresh)
    form.answer(0, "", "Music")
    again = HtmlForm(form.submit(CLIENT, CONTACT).body)
    assert again.value("fields[0][values][]") == ["Music"]


def test_submission_with_filled_honeypot_gets_thank_you_page_and_is_discarded(
    seeded: SeededAccount,
) -> None:
    form = contact_form(seeded)
    form.answer(WHAT, "Food")
    form.parts = [part for part in form.parts if part[0] != "homepage"]
    with counted_calls() as calls:
        assert form.submit(CLIENT, CONTACT, homepage="x").status == 200
    assert calls.total() == 1  # the lookup of the idempotency key


def test_page_after_exceeded_rate_limit_keeps_answers(
    fresh: SeededAccount, limit_of_two: None
) -> None:
    form = contact_form(fresh)
    form.answer(WHAT, "Food")
    client = PublicClient(address="203.0.113.99")
    for _ in range(2):
        form.parts = [(n, new_id() if n == "idempotencyKey" else v) for n, v in form.parts]
        assert form.submit(client, CONTACT).status == 200
    form.parts = [(n, new_id() if n == "idempotencyKey" else v) for n, v in form.parts]
    response = form.submit(client, CONTACT)
    assert (response.status, response.headers["retry-after"]) == (429, "40")
    assert HtmlForm(response.body).value(f"fields[{WHAT}][values][]") == ["Food"]


def test_respondent_selects_store_unless_link_contains_it(fresh: SeededAccount) -> None:
    second = save(STORE, fresh.account_id, store_definition(fresh.brand_id))
    clear_caches()
    assert f'<option value="{second.id}">' in open_contact_form(fresh).body
    fixed = contact_form(fresh, f"&store={second.id}")
    for form in (fixed, HtmlForm(fixed.submit(CLIENT, CONTACT).body)):
        assert form.value("store") == [second.id]
        assert "select" not in form.tags
    chosen = contact_form(fresh)
    chosen.parts = [("store", second.id) if part[0] == "store" else part for part in chosen.parts]
    again = HtmlForm(chosen.submit(CLIENT, CONTACT).body)
    assert ("select" in again.tags, again.value("store")) == (True, [second.id])


# --- saved taps


SAVED_NOTE = "Ratings and choices are saved as soon as you touch the page."


def save_nps(seeded: SeededAccount, tracker: str, value: str) -> None:
    taps = [{"id": seeded.fields["nps"], "values": [value]}]
    parts = {"tracker": tracker, "step": "save"}
    path = f"{SURVEY}/submit"
    saved = CLIENT.submit_fields(path, seeded.private_survey_id, taps, BROWSER, **parts)
    assert (saved.status, saved.body) == (204, "")


def open_with_tracker(seeded: SeededAccount, tracker: str, query: str = "") -> Response:
    return open_survey(seeded, f"&tracker={tracker}{query}", seeded.private_survey_id)


def test_page_of_tracker_shows_saved_answers_with_one_more_aws_request(
    fresh: SeededAccount,
) -> None:
    tracker = fresh.tracker()
    open_with_tracker(fresh, tracker)
    with counted_calls() as unsaved:
        assert SAVED_NOTE in open_with_tracker(fresh, tracker).body
    save_nps(fresh, tracker, "9")
    with counted_calls() as calls:
        page = open_with_tracker(fresh, tracker).body
    assert calls.total() == unsaved.total() + 1
    assert HtmlForm(page).value(f"fields[{NPS}][values][]") == ["9"]


@pytest.mark.parametrize(
    ("linked", "shown"), [("9", "7"), ("7", "7"), ("8", "8"), ("", "7"), ("11", "7")]
)
def test_link_that_was_saved_before_shows_later_answer(
    fresh: SeededAccount, linked: str, shown: str
) -> None:
    tracker = fresh.tracker()
    save_nps(fresh, tracker, "9")
    save_nps(fresh, tracker, "7")
    query = f"&a.nps={linked}" if linked else ""
    form = HtmlForm(open_with_tracker(fresh, tracker, query).body)
    assert form.value(f"fields[{NPS}][values][]") == [shown]


def test_page_says_nothing_about_saving_without_tracker_or_if_it_is_off(
    fresh: SeededAccount,
) -> None:
    assert SAVED_NOTE not in open_survey(fresh).body
    fresh.survey(fresh.private_survey_id, saveTaps=False)
    assert SAVED_NOTE not in open_with_tracker(fresh, fresh.tracker()).body


@pytest.mark.parametrize(
    ("path", "parts", "status"),
    [
        ("survey", {}, 400),
        ("survey", {"tracker": ""}, 400),
        ("survey", {"sequence": "1x", "tracker": "tracker"}, 400),
        ("private survey", {}, 403),
        ("private survey", {"tracker": new_id()}, 404),
        ("contact-form", {}, 400),
    ],
)
def test_save_that_is_not_possible_is_rejected(
    fresh: SeededAccount, path: str, parts: dict[str, str], status: int
) -> None:
    ids = {
        "survey": fresh.survey_id,
        "private survey": fresh.private_survey_id,
        "contact-form": fresh.contact_form_id,
    }
    parts = {name: fresh.tracker() if text == "tracker" else text for name, text in parts.items()}
    taps = [{"id": fresh.fields["nps"], "values": ["9"]}]
    url = f"/public/{path.split()[-1]}/submit"
    response = CLIENT.submit_fields(url, ids[path], taps, {}, **{"step": "save", **parts})
    assert response.status == status


def test_offer_before_survey_carries_tap_and_is_not_repeated_after_it(
    fresh: SeededAccount,
) -> None:
    fresh.survey(fresh.private_survey_id, **PRE_REDIRECT)
    tracker = fresh.tracker()
    offer = open_with_tracker(fresh, tracker, "&score=9").body
    assert SAVED_NOTE in offer
    assert fresh.fields["nps"] in offer
    form = HtmlForm(open_with_tracker(fresh, tracker, "&score=9&step=form").body)
    form.answer(WHAT, "Food")
    assert REVIEW_PAGE not in form.submit(CLIENT, SURVEY).body
    assert stored_feedback(fresh.private_survey_id)[0].redirect_to == REVIEW_PAGE


def test_saved_rating_opens_offer_before_survey(fresh: SeededAccount) -> None:
    fresh.survey(fresh.private_survey_id, **PRE_REDIRECT)
    tracker = fresh.tracker()
    assert REVIEW_PAGE not in open_with_tracker(fresh, tracker).body
    save_nps(fresh, tracker, "9")
    assert REVIEW_PAGE in open_with_tracker(fresh, tracker).body


# --- the question before a survey


def test_pre_redirect_question_is_displayed_before_survey(fresh: SeededAccount) -> None:
    fresh.survey(**PRE_REDIRECT)
    form = HtmlForm(open_survey(fresh, "&a.what=Food").body)
    assert form.action == "page"
    assert form.options == {"score": [str(n) for n in range(11)]}
    assert form.parts == [("survey", fresh.survey_id), ("a.what", "Food"), ("asked", "1")]


def test_question_before_survey_without_answer_has_error(fresh: SeededAccount) -> None:
    fresh.survey(**PRE_REDIRECT)
    assert "Choose an answer." not in open_survey(fresh).body
    assert "Choose an answer." in open_survey(fresh, "&asked=1").body


@pytest.mark.parametrize("query", ["&score=3", "&score=9&step=form", "&a.nps=3"])
def test_answer_to_question_before_survey_is_answer_to_first_field_of_its_type(
    fresh: SeededAccount, query: str
) -> None:
    fresh.survey(**PRE_REDIRECT)
    form = HtmlForm(open_survey(fresh, query).body)
    (nps,) = (name for name, values in form.options.items() if "10" in values)
    assert form.value(nps) == ["9" if "9" in query else "3"]


@pytest.mark.parametrize(("score", "is_offered"), [("8", False), ("9", True), ("10", True)])
def test_survey_page_offers_review_page_if_answer_reaches_threshold(
    fresh: SeededAccount, score: str, is_offered: bool
) -> None:
    fresh.survey(**PRE_REDIRECT)
    page = open_survey(fresh, f"&score={score}").body
    assert (f'href="{REVIEW_PAGE}"' in page) == is_offered
    assert ('method="post"' in page) == (not is_offered)
    assert 'method="post"' in open_survey(fresh, f"&score={score}&step=form").body


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("CSAT_STAR", ["1", "2", "3", "4", "5"]),
        ("CSAT_SMILEY", ["1", "2", "3", "4", "5"]),
        ("BINARY", ["satisfied", "unsatisfied"]),
    ],
)
def test_pre_redirect_question_has_options_of_its_type(
    fresh: SeededAccount, kind: str, options: list[str]
) -> None:
    config = {
        "type": kind,
        "threshold": 6,
        "csatSmiley": {"one": "Awful"},
        "binary": {"satisfied": "Happy"},
    }
    fresh.survey(preRedirect=True, preRedirectConfig=config)
    page = open_survey(fresh).body
    assert HtmlForm(page).options == {"score": options}
    assert ("Awful" in page, "Happy" in page) == (kind == "CSAT_SMILEY", kind == "BINARY")


# --- errors


def test_error_page_has_matching_status(fresh: SeededAccount) -> None:
    fresh.contact_form(enabled=False)
    pages = [
        (open_contact_form(fresh), 409, "This form is closed"),
        (open_survey(fresh, survey_id=fresh.private_survey_id), 403, "personal link"),
        (open_survey(fresh, survey_id=new_id()), 404, "does not exist"),
        (open_survey(fresh, survey_id="x"), 400, "not complete"),
        (open_survey(fresh, f"&store={new_id()}"), 400, "not complete"),
        (open_contact_form(fresh, f"&store={new_id()}"), 409, "This form is closed"),
    ]
    for response, status, text in pages:
        assert (response.status, text in response.body) == (status, True)
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        assert response.headers["cache-control"] == "private, no-store"


def test_malformed_submission_of_browser_gets_error_page(seeded: SeededAccount) -> None:
    response = CLIENT.submit(f"{CONTACT}/submit", b"", BROWSER)
    assert (response.status, "<h1>" in response.body) == (400, True)


def test_only_text_inputs_have_a_maximum_length(fresh: SeededAccount) -> None:
    fresh.survey(fields=[field("day", "DATE"), field("mail", "EMAIL"), field("note", "LONG_TEXT")])
    inputs = re.findall(r"<(?:input|textarea)[^>]*>", open_survey(fresh).body)
    limited = {re.search(r'id="(\w+)"', each)[1] for each in inputs if "maxlength" in each}  # type: ignore[index]
    assert limited == {"q1", "q2"}


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("TEXT", "Enter an answer."),
        ("EMAIL", "Enter an e-mail address, such as name@example.com."),
        ("PHONE", "Enter a phone number, such as +33 6 12 34 56 78."),
        ("NUMBER", "Enter a number, such as 12."),
        ("DATE", "Enter a date."),
        ("NPS", "Choose an answer."),
    ],
)
def test_error_of_missing_answer_says_what_to_enter(
    fresh: SeededAccount, kind: str, error: str
) -> None:
    fresh.survey(fields=[field("q", kind, required=True)])
    form = HtmlForm(open_survey(fresh).body)
    assert f'id="q0-error">{error}</p>' in form.submit(CLIENT, SURVEY).body


@pytest.mark.parametrize(
    ("count", "is_many", "has_filter"),
    [(7, False, False), (8, True, False), (12, True, False), (13, True, True)],
)
def test_many_options_have_columns_and_a_filter(
    fresh: SeededAccount, count: int, is_many: bool, has_filter: bool
) -> None:
    values = [f"Answer {n}" for n in range(count)]
    fresh.survey(fields=[select("q", *values, kind="MULTI_SELECT")])
    page = open_survey(fresh).body
    assert ('class="options many"' in page, 'class="filter"' in page) == (is_many, has_filter)


# --- assets and sizes


def test_assets_are_cached_as_immutable_under_their_hash(client: Client) -> None:
    for name in assets.SCRIPTS:
        path = f"/public/assets/{assets.asset_hash(name)}/{name}"
        with counted_calls() as calls:
            response = client.http.get(path)
        assert (response.status_code, calls.total()) == (200, 0)
        assert response.headers["Content-Type"] == assets.SCRIPT_TYPE
        assert "immutable" in response.headers["Cache-Control"]
        assert client.http.get(f"/public/assets/0000/{name}").status_code == 404
    assert client.http.get("/public/assets/0000/other.js").status_code == 404


def test_script_and_style_sheet_stay_within_size_limit() -> None:
    texts = [assets.asset_text(name) for name in (*assets.SCRIPTS, assets.STYLE_SHEET)]
    assert sum(len(gzip.compress(text.encode())) for text in texts) <= 15 * 1024


def test_embed_script_is_small_and_sends_no_aws_requests(client: Client) -> None:
    with counted_calls() as calls:
        response = client.http.get("/public/embed.js")
    assert (response.status_code, calls.total()) == (200, 0)
    assert response.headers["Content-Type"] == assets.SCRIPT_TYPE
    assert response.headers["Cache-Control"] == "public, max-age=3600"
    assert len(gzip.compress(response.body)) <= 2 * 1024


def test_only_pages_of_forms_may_be_framed(fresh: SeededAccount) -> None:
    fresh.contact_form(enabled=False)
    for page in (open_contact_form(fresh), open_survey(fresh)):
        assert "frame-ancestors *" in page.headers["content-security-policy"]


def test_templates_contain_no_inline_script_or_style_attribute() -> None:
    folder = Path(assets.__file__).with_name("templates")
    for template in folder.glob("*.html"):
        assert not re.search(r"\son[a-z]+=|\sstyle=", template.read_text())


def test_page_sends_the_version_that_it_displays(fresh: SeededAccount) -> None:
    displayed = contact_form(fresh)
    fresh.contact_form(fields=[field("note", label="New?", id=fresh.fields["note"])])
    displayed.parts = [part for part in displayed.parts if not part[0].startswith("fields")]
    assert displayed.submit(CLIENT, CONTACT).status == 200
    (feedback,) = stored_feedback(fresh.contact_form_id)
    assert [feedback.displayed_version] == displayed.value("version")
    assert feedback.form_version not in (None, feedback.displayed_version)


# --- conditions


@pytest.mark.parametrize(
    ("comparison", "options"),
    [
        (("$eq", "false"), ["true", "false"]),
        (("$in", '["false", "true"]'), ["true", "false"]),
        (("$ne", "false"), ["true", "false"]),
        (("$eq", "true"), ["true"]),
        (("$exists", "false"), ["true"]),
    ],
)
def test_checkbox_offers_false_if_a_condition_depends_on_this_answer(
    comparison: tuple[str, str], options: list[str]
) -> None:
    form = saved_contact_form(
        fields=[field("check", "CHECKBOX", required=True), field("why")],
        fieldDependencies=[depends("why", "check", comparison)],
    )
    page = rendered(form)
    assert HtmlForm(page).options == {"fields[0][values][]": options}
    assert ("Choose an answer." in page) == (len(options) == 2)
    assert ("Tick this box." in page) == (len(options) == 1)


def test_answer_false_to_checkbox_shows_the_dependent_field() -> None:
    form = saved_contact_form(
        fields=[field("check", "CHECKBOX"), field("why")],
        fieldDependencies=[depends("why", "check", ("$eq", "false"))],
    )
    check = next(item.id for item in form.fields if item.key == "check")
    assert HtmlForm(rendered(form)).hidden_fields == {1}
    shown = HtmlForm(rendered(form, {check: ["false"]}))
    assert (shown.hidden_fields, shown.value("fields[0][values][]")) == (set(), ["false"])


@given(forms_and_submissions())
def test_page_shows_the_fields_that_the_domain_evaluates_as_visible(
    case: tuple[SavedContactForm, list[SubmittedAnswer]],
) -> None:
    form, submitted = case
    questionnaire = Questionnaire.of(form)
    answers = {answer.id: answer.values for answer in reversed(submitted)}
    visible = questionnaire.visible_fields(answers)
    expected = {number for number, each in enumerate(form.fields) if each.id not in visible}
    assert HtmlForm(rendered(form, answers)).hidden_fields == expected
