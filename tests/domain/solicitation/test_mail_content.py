"""Tests of the content of mails: language, texts, options of a question, images and colours."""

import unicodedata
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.forms.contrast import contrast
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.presentation import Image
from chalicelib.domain.language import Language
from chalicelib.domain.plain_text import shortened, unbroken
from chalicelib.domain.solicitation.mail_content import MailContent, MailImage, mail_content
from chalicelib.domain.solicitation.words import message_words
from chalicelib.web.pages.words import catalogue_languages
from tests.domain.forms.factories import IMAGE, depends, field, select
from tests.domain.solicitation.factories import content, invitation, links_of

LONGEST_URL = "https://cdn.example.com/".ljust(1000, "x")

TRANSLATED = {
    "autoTranslate": True,
    "header": {"title": "Your visit?", "subtitle": "One minute."},
    "fields": [field("nps", "NPS", label="Recommend us?")],
    "translations": {
        "fr": {
            "header": {"title": "Votre visite ?"},
            "fields": {"nps": {"label": "Nous recommander ?"}},
        },
        "ar": {"header": {"title": "زيارتك؟"}},
    },
}


def test_mail_uses_language_of_customer() -> None:
    mail = content(customer={"language": "fr"}, **TRANSLATED)
    assert (mail.language, mail.direction) == ("fr", "ltr")
    assert (mail.title, mail.intro) == ("Votre visite ?", "One minute.")
    assert mail.question
    assert mail.question.label == "Nous recommander ?"
    assert mail.words.button == "Répondre au questionnaire"
    assert mail.greeting == "Bonjour Zoé,"


def test_mail_of_right_to_left_language_has_its_direction() -> None:
    mail = content(customer={"language": "ar"}, **TRANSLATED)
    assert (mail.language, mail.direction) == ("ar", "rtl")


@pytest.mark.parametrize(
    ("language", "properties"),
    [
        ("de", TRANSLATED),
        ("fr", TRANSLATED | {"autoTranslate": False}),
        (None, TRANSLATED),
    ],
)
def test_mail_uses_language_of_survey_without_translation(
    language: str | None, properties: dict[str, Any]
) -> None:
    assert content(customer={"language": language}, **properties).language == "en"


def test_words_of_unsupported_language_are_english() -> None:
    mail = content(language="cy", header={"title": "Sut oedd hi?"})
    assert (mail.language, mail.title) == ("cy", "Sut oedd hi?")
    assert (mail.words.language, mail.words.button) == ("en", "Answer the survey")
    assert mail.languages == {mail.intro: "en"}


def test_words_exist_in_all_languages_of_pages() -> None:
    for language in catalogue_languages():
        mail = content(language=language)
        assert mail.words.language == language
        assert mail.words.question != message_words(Language("en")).question
        for text in (mail.subject, mail.reason):
            assert "Maison Lumen" in text
            assert "%" not in text


def test_mail_of_survey_without_texts_uses_default_words_and_brand() -> None:
    mail = content()
    assert mail.subject == mail.title == "How was your visit to Maison Lumen?"
    assert mail.intro == mail.words.intro
    assert mail.reason == "You receive this message because of your purchase at Maison Lumen."
    assert mail.footer == ""


@pytest.mark.parametrize(
    ("name", "greeting"),
    [
        ("Zoé", "Hello Zoé,"),
        ("Anne-Marie d’Arc", "Hello Anne-Marie d’Arc,"),
        ("عمر", "Hello عمر,"),
        ("मीना", "Hello मीना,"),
        ("Tom & Ann (Lee)", "Hello Tom & Ann (Lee),"),
        ("ジョン・スミス", "Hello ジョン・スミス,"),
        ("Cel·la", "Hello Cel·la,"),
        ("x" * 60, f"Hello {'x' * 60},"),
        ("  ", ""),
        (None, ""),
        ("Win at evil.example", ""),
        ("https://evil", ""),
        ("<b>", ""),
        ("x" * 61, ""),
        ("evil。com", ""),
        ("evil．com", ""),
        ("evil｡com", ""),
        ("evil․com", ""),
        ("evil⒈com", ""),
        ("evil：／／x", ""),
        ("win１00", ""),
        ("evil۔com", ""),
        ("-Zoé", ""),
    ],
)
def test_greeting_is_omitted_if_name_is_missing_or_could_contain_link(
    name: str | None, greeting: str
) -> None:
    assert content(customer={"first_name": name}).greeting == greeting


def test_greeting_contains_no_character_that_host_names_map_to_dot() -> None:
    # UTS 46 maps U+3002 and all characters whose NFKC form contains a dot.
    dots = [
        character
        for character in map(chr, range(0x3_0000))
        if set(".\u3002") & set(unicodedata.normalize("NFKC", character))
    ]
    assert len(dots) > 20
    greeted = [dot for dot in dots if content(customer={"first_name": f"evil{dot}com"}).greeting]
    assert greeted == []


@pytest.mark.parametrize(
    ("kind", "labels", "answers"),
    [
        ("NPS", [str(n) for n in range(11)], [str(n) for n in range(11)]),
        ("RATING", [str(n) for n in range(11)], [str(n) for n in range(11)]),
        ("CSAT_STAR", ["1 ★", "2 ★", "3 ★", "4 ★", "5 ★"], list("12345")),
        ("CSAT_SMILEY", ["1 😞", "2 🙁", "3 😐", "4 🙂", "5 😀"], list("12345")),
        ("BINARY", ["👍 Satisfied", "👎 Not satisfied"], ["satisfied", "unsatisfied"]),
    ],
)
def test_options_of_first_question_preselect_answers(
    kind: str, labels: list[str], answers: list[str]
) -> None:
    mail = content(fields=[field("q", kind, label="Well?")])
    assert mail.question
    assert mail.question.label == "Well?"
    assert [option.label for option in mail.question.options] == labels
    assert [option.link.rpartition("&a.q=")[2] for option in mail.question.options] == answers
    assert all(option in FieldType(kind).rules.options for option in answers)


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"fields": [field("t"), field("q", "NPS")]},
        {"fields": [select("s", verticalIndex=1), field("q", "NPS", verticalIndex=2)]},
        {
            "fields": [field("q", "NPS"), select("s")],
            "fieldDependencies": [depends("q", "s")],
        },
        {
            "fields": [field("q", "CSAT_STAR")],
            "preRedirect": True,
            "preRedirectConfig": {"type": "NPS", "threshold": 9},
        },
    ],
    ids=["no field", "text first", "select first", "conditional", "other pre-redirect question"],
)
def test_mail_shows_no_options_if_first_question_is_no_rating(properties: dict[str, Any]) -> None:
    assert content(**properties).question is None


def test_options_answer_pre_redirect_question() -> None:
    mail = content(
        fields=[field("stars", "CSAT_STAR"), field("q", "NPS", label="Would you recommend us?")],
        preRedirect=True,
        preRedirectConfig={"type": "NPS", "threshold": 9},
    )
    assert mail.question
    assert mail.question.label == "Would you recommend us?"
    assert [option.link.rpartition("&a.")[2] for option in mail.question.options] == [
        f"q={n}" for n in range(11)
    ]


def test_first_question_is_the_first_in_display_order() -> None:
    fields = [
        field("later", "BINARY", verticalIndex=1, horizontalIndex=1),
        field("first", "NPS", verticalIndex=1, horizontalIndex=0),
    ]
    question = content(fields=fields).question
    assert question
    assert len(question.options) == 11


def test_first_question_is_in_first_group() -> None:
    fields = [
        field("later", "BINARY", verticalIndex=0, group="details"),
        field("first", "NPS", verticalIndex=1, group="visit"),
    ]
    groups = [{"key": "visit", "name": "Visit"}, {"key": "details", "name": "Details"}]
    question = content(fields=fields, fieldGroups=groups).question
    assert question
    assert len(question.options) == 11


@pytest.mark.parametrize(
    ("kind", "values", "ends"),
    [
        ("NPS", [], ("Not at all likely", "Extremely likely")),
        ("NPS", ["Never", "Always"], ("Never", "Always")),
        ("NPS", ["Never"], ("Not at all likely", "Extremely likely")),
        ("RATING", [], ("Very bad", "Very good")),
        ("CSAT_SMILEY", [], ("Very bad", "Very good")),
        ("CSAT_SMILEY", ["a", "b", "c", "d", "e"], ("a", "e")),
        ("CSAT_STAR", [], ()),
        ("BINARY", [], ()),
    ],
)
def test_ends_of_scale_have_labels_of_definition_or_default_labels(
    kind: str, values: list[str], ends: tuple[str, ...]
) -> None:
    question = content(fields=[field("q", kind, values=values)]).question
    assert question
    assert question.ends == ends


def test_two_options_have_labels_of_definition() -> None:
    question = content(fields=[field("q", "BINARY", values=["Yes", "No"])]).question
    assert question
    assert [option.label for option in question.options] == ["👍 Yes", "👎 No"]


@pytest.mark.parametrize("background", ["#ffffff", "#000000", "#0b7285", "#808080"])
def test_options_are_legible_on_their_tones(background: str) -> None:
    question = content(
        fields=[field("q", "NPS")], generalStyle={"backgroundColor": background}
    ).question
    assert question
    assert [option.level for option in question.options] == [0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4]
    assert all(contrast(option.ink, option.background) >= 4.5 for option in question.options)


@pytest.mark.parametrize("background", ["#ffffff", "#000000", "#0b7285", "#808080"])
def test_texts_of_mail_are_legible_on_background(background: str) -> None:
    accents = {"accentColor": "#8a8a8a", "buttonTextColor": "#999999"}
    style = content(generalStyle={"backgroundColor": background} | accents).style
    for colour in (style.text, style.title, style.muted, style.accent):
        assert contrast(colour, background) >= 4.5
    assert contrast(style.button_text, style.button) >= 4.5


# --- the visit


def test_mail_names_store_and_date_of_visit() -> None:
    assert content().visit == "Lyon\u00a0· 20 November 2026"
    assert content(language="fr").visit == "Lyon\u00a0· 20 novembre 2026"
    assert content(language="ar").visit == "\u2068Lyon\u2069\u00a0· \u206820 نوفمبر 2026\u2069"


def test_visit_is_not_repeated_if_title_names_it() -> None:
    mail = content(header={"title": "Your visit to {store} on {date}"})
    assert mail.subject == mail.title == "Your visit to Lyon on 20 November 2026"
    assert mail.visit == ""


def test_texts_contain_first_name_only_if_it_is_plain() -> None:
    header = {"title": "How was it, {firstName}?", "subtitle": "Hello {firstName|there}"}
    assert content(header=header).title == "How was it, Zoé?"
    mail = content(header=header, customer={"first_name": "evil.com"})
    assert (mail.title, mail.intro) == ("How was it?", "Hello there")


def test_mail_contains_address_of_store() -> None:
    sent = invitation()
    assert sent.store
    store = sent.store.model_copy(update={"address": "1 quai\nLyon", "legal_text": "RCS 1"})
    mail = mail_content(replace(sent, store=store), links_of(sent))
    assert (mail.address, mail.legal_text) == ("1 quai Lyon", "RCS 1")


def test_texts_without_translation_have_their_own_language() -> None:
    mail = content(customer={"language": "ar"}, **TRANSLATED)
    assert mail.languages == {"One minute.": "en", "Recommend us?": "en", "": "en"}
    assert content(**TRANSLATED).languages == {}


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (IMAGE, MailImage(IMAGE["url"], 200)),
        (IMAGE | {"width": 100, "height": 192}, MailImage(IMAGE["url"], 50)),
        (IMAGE | {"width": 0, "height": 0}, MailImage(IMAGE["url"], 0)),
        (IMAGE | {"url": "http://cdn.example.com/logo.png"}, None),
        (IMAGE | {"url": LONGEST_URL}, MailImage(LONGEST_URL, 200)),
        (IMAGE | {"url": f"{LONGEST_URL}x"}, None),
    ],
)
def test_logo_is_scaled_and_loaded_only_over_https(
    image: dict[str, Any], expected: MailImage | None
) -> None:
    sent = invitation(logo=IMAGE | {"width": 1})
    # A survey that was saved before URLs were checked can contain such a URL.
    survey = sent.survey.model_copy(update={"email_logo": Image.model_validate(image)})
    assert mail_content(replace(sent, survey=survey), links_of(sent)).logo == expected


def test_mail_images_fall_back_to_images_of_page() -> None:
    mail = content(logo=IMAGE, cover=IMAGE)
    assert mail.logo == MailImage(IMAGE["url"], 200)
    assert mail.cover == MailImage(IMAGE["url"], 600)


def test_colours_have_six_digits() -> None:
    mail = content(
        generalStyle={
            "textColor": "#12A",
            "subtitleColor": "#12AD",
            "titleColor": "#12345678",
            "accentColor": "#0b7285",
        }
    )
    assert (mail.style.text, mail.style.muted) == ("#1122aa", "#1122aa")
    assert mail.style.title == "#123456"
    assert (mail.style.button, mail.style.button_text) == ("#0b7285", "#ffffff")


@pytest.mark.parametrize(("radius", "pixels"), [("SHARP", 0), ("ROUNDED", 6), ("PILL", 24)])
def test_corners_have_radius_of_survey(radius: str, pixels: int) -> None:
    style = content(generalStyle={"cardBorderRadius": radius, "buttonRadius": radius}).style
    assert (style.radius, style.button_radius) == (pixels, pixels)


@pytest.mark.parametrize(("display", "expected"), [(True, "Lyon, France"), (False, "")])
def test_footer_is_shown_only_if_survey_displays_it(display: bool, expected: str) -> None:
    mail = content(footer={"text": "Lyon, France", "display": display})
    assert mail.footer == expected


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        (" a\r\n\tb\x00c\u202ed ", 9, "a b c d"),
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        ("abcd efg", 6, "abcd…"),
    ],
)
def test_text_is_shortened_to_one_line(text: str, length: int, expected: str) -> None:
    assert shortened(text, length) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Comment était-ce ?", "Comment était-ce\u202f?"),
        ("Bien ! « Oui » : merci", "Bien\u202f! «\u202fOui\u202f»\u202f: merci"),
        ("Is it :-) or ?x", "Is it :-) or ?x"),
        ("How was it?", "How was it?"),
    ],
)
def test_french_punctuation_never_starts_a_line(text: str, expected: str) -> None:
    assert unbroken(text) == expected


@pytest.mark.parametrize("tone", MailContent.dark_tones)
def test_options_are_legible_in_dark_mode(tone: str) -> None:
    assert contrast("#f0f3f6", tone) >= 4.5
