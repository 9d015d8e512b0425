"""Tests of every field and every translated text in the public views of forms and surveys."""

import json
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.feedback.answers import Questionnaire, SubmittedAnswer
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.public.contact_form import PublicContactForm, build_public_contact_form
from chalicelib.domain.forms.public.survey import PublicSurvey, build_public_survey
from chalicelib.domain.forms.survey import SendMode
from chalicelib.domain.forms.survey_context import SurveyContext
from chalicelib.domain.language import Language
from tests.domain.forms.complete_form import COMPLETE_FORM, STYLE_FIELDS, SURVEY_STYLE_FIELDS
from tests.domain.forms.factories import (
    BRAND,
    DIRECTORY,
    IMAGE,
    OTHER_BRAND,
    OTHER_STORE,
    SECOND_STORE,
    STORE,
    depends,
    field,
    saved_contact_form,
    saved_survey,
    select,
)

LYON = {"id": STORE, "name": "Lyon", "color": "#fff"}
NICE = {"id": SECOND_STORE, "name": "Nice", "color": ""}
BRUGES = {"id": OTHER_STORE, "name": "Bruges", "color": ""}
LUMEN = {"id": BRAND, "name": "Maison Lumen", "color": "#0b7285"}

FORM_FIELDS = set(
    "id language enabled autoTranslate generalStyle header body footer submission externalLink "
    "logo footerLogo cover submissionImage storeList fields fieldGroups fieldDependencies".split()
)
FIELD_PROPERTIES = set(
    "id key type required verticalIndex horizontalIndex allowMaxReplies allowMinReplies "
    "minReplies maxReplies values allowCustomValue operator label placeholder group "
    "translatedValues dependencies dependencyOf".split()
)


def contact_form_view(language: str = "en", **overrides: Any) -> dict[str, Any]:
    form = saved_contact_form(**overrides)
    view = build_public_contact_form(form, DIRECTORY, Language(language), SurveyContext())
    shown: dict[str, Any] = json.loads(view.model_dump_json())
    return shown


def survey_view(
    language: str = "en", context: SurveyContext | None = None, **overrides: Any
) -> dict[str, Any]:
    view = build_public_survey(
        saved_survey(**overrides), DIRECTORY, Language(language), context or SurveyContext()
    )
    shown: dict[str, Any] = json.loads(view.model_dump_json())
    return shown


def test_public_contact_form_has_exactly_the_fields_of_the_contract() -> None:
    view = contact_form_view(**COMPLETE_FORM)

    assert set(view) == FORM_FIELDS | {"brandName"}
    assert set(view["generalStyle"]) == STYLE_FIELDS


def test_public_survey_has_exactly_the_fields_of_the_contract() -> None:
    view = survey_view(**COMPLETE_FORM)

    assert set(view) == FORM_FIELDS | set(
        "preRedirect preRedirectConfig externalUrl sendMode store brand order emailLogo "
        "emailCover".split()
    )
    assert set(view["generalStyle"]) == SURVEY_STYLE_FIELDS


@pytest.mark.parametrize("view", [contact_form_view, survey_view])
def test_fields_groups_and_dependencies_match_public_schema(view: Any) -> None:
    form = view(**COMPLETE_FORM)
    happy, why = form["fields"]
    (group,) = form["fieldGroups"]
    (dependency,) = form["fieldDependencies"]

    assert set(happy) == set(why) == FIELD_PROPERTIES
    assert group == {"id": group["id"], "key": "visit", "name": "Your visit", "verticalIndex": 0}
    assert dependency == {
        "id": dependency["id"],
        "field": why["id"],
        "dependsOnField": happy["id"],
        "operator": "$and",
        "dependsOnFieldValues": [{"operator": "$eq", "value": "No"}],
    }
    assert (happy["dependencies"], happy["dependencyOf"]) == ([], [dependency])
    assert (why["dependencies"], why["dependencyOf"]) == ([dependency], [])


def test_email_images_of_public_survey_match_partner_schema() -> None:
    view = survey_view(logo=IMAGE, emailLogo=IMAGE, emailCover=IMAGE)

    assert view["logo"] == IMAGE
    assert (
        view["emailLogo"]
        == view["emailCover"]
        == {
            "contentType": "image/png",
            "url": IMAGE["url"],
            "size": "18432",
            "width": 640,
            "height": "240",
        }
    )


def test_unconfigured_images_are_null() -> None:
    view = survey_view()

    assert view["logo"] is view["emailLogo"] is view["preRedirectConfig"] is None
    assert contact_form_view()["cover"] is None


def test_contact_form_lists_its_brand_and_stores() -> None:
    view = contact_form_view()

    assert view["brandName"] == ["Maison Lumen"]
    assert view["storeList"] == [LYON, NICE]


def test_survey_view_lists_each_store_of_enabled_targets_once() -> None:
    def stores(*targets: dict[str, Any]) -> Any:
        return survey_view(targets=list(targets))["storeList"]

    nice = {"type": "STORE", "targetId": SECOND_STORE}
    brand = {"type": "BRAND", "targetId": BRAND}
    other = {"type": "BRAND", "targetId": OTHER_BRAND}

    assert stores() == []
    assert stores(nice) == [NICE]
    assert stores(nice, brand) == [NICE, LYON]
    assert stores(brand, other) == [LYON, NICE, BRUGES]
    assert stores({**brand, "enabled": False}, other) == [BRUGES]


def test_survey_view_contains_values_of_its_context() -> None:
    context = replace(
        SurveyContext.at(DIRECTORY, store_id=STORE), order="A-20413", send_mode=SendMode.SMS
    )
    view = survey_view(
        context=context,
        targets=[{"type": "BRAND", "targetId": BRAND, "newReviewUri": "https://r.example/b"}],
    )

    assert (view["store"], view["brand"]) == (LYON, LUMEN)
    assert (view["order"], view["sendMode"]) == ("A-20413", "SMS")
    assert view["externalUrl"] == "https://r.example/b"


def test_survey_view_without_context_has_default_values() -> None:
    view = survey_view()

    assert view["store"] is view["brand"] is None
    assert (view["order"], view["sendMode"], view["externalUrl"]) == ("", "LINK", "")


@pytest.mark.parametrize(
    ("store", "brand", "expected"),
    [
        (None, None, (None, None)),
        (STORE, None, (STORE, BRAND)),
        (STORE, OTHER_BRAND, (STORE, BRAND)),
        (None, OTHER_BRAND, (None, OTHER_BRAND)),
        (BRAND, STORE, (None, None)),
    ],
)
def test_brand_of_store_overrides_brand_parameter(
    store: str | None, brand: str | None, expected: tuple[str | None, str | None]
) -> None:
    context = SurveyContext.at(DIRECTORY, store_id=store, brand_id=brand)

    assert (
        context.store and context.store.id,
        context.brand and context.brand.id,
    ) == expected


# --- languages

TRANSLATED: dict[str, Any] = {
    "header": {"title": "Hello", "subtitle": "One minute"},
    "body": {"buttonText": "Send"},
    "footer": {"title": "Us", "text": "Here"},
    "submission": {"title": "Thanks"},
    "fields": [
        select("what", "Food", "Price", group="visit"),
        field("more", placeholder="More?"),
    ],
    "fieldGroups": [{"key": "visit", "name": "Your visit"}],
    "translations": {
        "fr": {
            "header": {"title": "Bonjour"},
            "body": {"buttonText": "Envoyer"},
            "footer": {"text": "Ici"},
            "submission": {"title": "Merci"},
            "fields": {
                "what": {"label": "Quoi ?", "values": ["Cuisine", ""]},
                "more": {"placeholder": "Encore ?"},
            },
            "groups": {"visit": {"name": "Votre visite"}},
        },
        "ar": {"header": {"title": "مرحبا"}},
    },
}


@pytest.mark.parametrize("view", [contact_form_view, survey_view])
def test_untranslated_texts_fall_back_to_form_language(view: Any) -> None:
    form = view("fr", **TRANSLATED)
    what, more = form["fields"]

    assert form["language"] == "fr"
    assert form["header"] == {"title": "Bonjour", "subtitle": "One minute"}
    assert form["body"] == {"buttonText": "Envoyer"}
    assert (form["footer"]["title"], form["footer"]["text"]) == ("Us", "Ici")
    assert form["submission"]["title"] == "Merci"
    assert form["fieldGroups"][0]["name"] == "Votre visite"
    assert (what["label"], what["placeholder"]) == ("Quoi ?", "")
    assert (more["label"], more["placeholder"]) == ("More", "Encore ?")


@pytest.mark.parametrize(
    ("language", "translated"),
    [("fr", ["Cuisine", "Price"]), ("ar", ["Food", "Price"]), ("en", ["Food", "Price"])],
)
def test_translated_values_have_same_order_as_values(language: str, translated: list[str]) -> None:
    what, more = contact_form_view(language, **TRANSLATED)["fields"]

    assert (what["values"], what["translatedValues"]) == (["Food", "Price"], translated)
    assert more["values"] == more["translatedValues"] == []


NUMBERS = [str(number) for number in range(11)]
FIXED_OPTIONS = [
    ("BINARY", [], "en", {"satisfied": "Satisfied", "unsatisfied": "Not satisfied"}),
    ("BINARY", ["Yes", "No"], "en", {"satisfied": "Yes", "unsatisfied": "No"}),
    ("BINARY", ["Yes", "No"], "fr", {"satisfied": "Oui", "unsatisfied": "No"}),
    ("BINARY", ["Yes"], "en", {"satisfied": "Satisfied", "unsatisfied": "Not satisfied"}),
    ("CSAT_SMILEY", [*"ABCDE"], "en", dict(zip("12345", "ABCDE", strict=True))),
    (
        "CSAT_SMILEY",
        [],
        "en",
        dict(zip("12345", ["Very bad", "Bad", "Fair", "Good", "Very good"], strict=True)),
    ),
    ("CSAT_STAR", ["Bad", "Good"], "en", {number: number for number in "12345"}),
    (
        "NPS",
        ["Not at all", "Extremely"],
        "en",
        {number: number for number in NUMBERS} | {"0": "0 – Not at all", "10": "10 – Extremely"},
    ),
    (
        "RATING",
        [],
        "en",
        {number: number for number in NUMBERS} | {"0": "0 – Very bad", "10": "10 – Very good"},
    ),
    ("CHECKBOX", ["I agree"], "en", {"true": "Yes", "false": "No"}),
]


@pytest.mark.parametrize(("kind", "labels", "language", "texts"), FIXED_OPTIONS)
def test_public_view_of_fixed_options_has_accepted_values_and_their_texts(
    kind: str, labels: list[str], language: str, texts: dict[str, str]
) -> None:
    translations = {"fr": {"fields": {"what": {"values": ["Oui", ""]}}}} if len(labels) == 2 else {}
    form = {"fields": [field("what", kind, values=labels)], "translations": translations}

    (what,) = contact_form_view(language, **form)["fields"]

    assert what["values"] == [*texts]
    assert what["translatedValues"] == [*texts.values()]
    assert saved_contact_form(**form).fields[0].values == labels


def test_public_view_without_own_labels_has_labels_in_its_language() -> None:
    (what,) = contact_form_view(
        "fr", fields=[field("what", "BINARY")], translations={"fr": {"fields": {}}}
    )["fields"]

    assert what["translatedValues"] == ["Satisfait", "Pas satisfait"]


@pytest.mark.parametrize("kind", FieldType)
def test_every_value_of_public_view_is_a_valid_answer(kind: FieldType) -> None:
    labels = [*"ABCDE"][: kind.rules.labels or 5]
    form = saved_contact_form(
        fields=[field("what", kind, values=labels)],
        translations={"fr": {"fields": {"what": {"values": [text * 2 for text in labels]}}}},
    )
    (what,) = build_public_contact_form(form, DIRECTORY, Language("fr"), SurveyContext()).fields

    assert len(what.values) == len(what.translated_values)
    for value in what.values if kind.rules.options or kind.rules.options_from_field else ():
        answer = SubmittedAnswer(id=what.id, values=[value])
        assert Questionnaire.of(form).validate([answer]).answers[0].values == [value]


def test_right_to_left_translation_is_returned_unchanged() -> None:
    view = contact_form_view("ar", **TRANSLATED)

    assert (view["language"], view["header"]["title"]) == ("ar", "مرحبا")


def test_pre_redirect_question_is_translated_and_keeps_colours() -> None:
    config = {
        "type": "CSAT_SMILEY",
        "threshold": 8,
        "text": {"text": "Happy?", "color": "#fff"},
        "button": {"text": "Go", "topic": {"text": "Topic", "color": "#000"}},
        "csatSmiley": {"one": "Bad", "five": "Good"},
    }
    texts = {
        "text": {"text": "Content ?"},
        "button": {"topic": {"text": "Sujet"}},
        "csatSmiley": {"five": "Bien"},
    }
    form: dict[str, Any] = {
        "preRedirectConfig": config,
        "translations": {"fr": {"preRedirectConfig": texts}, "de": {}},
    }
    shown = survey_view("fr", **form)["preRedirectConfig"]

    assert shown["text"] == {"text": "Content ?", "color": "#fff"}
    assert shown["button"]["text"] == "Go"
    assert shown["button"]["topic"] == {"text": "Sujet", "color": "#000"}
    assert (shown["csatSmiley"]["one"], shown["csatSmiley"]["five"]) == ("Bad", "Bien")
    assert shown["threshold"] == 8
    assert survey_view("de", **form) == {**survey_view("en", **form), "language": "de"}


@pytest.mark.parametrize("model", [PublicContactForm, PublicSurvey])
def test_public_schema_requires_and_describes_every_field(model: Any) -> None:
    schema = model.model_json_schema(mode="serialization")

    for part in [schema, *schema["$defs"].values()]:
        for name, described in part.get("properties", {}).items():
            assert name in part["required"]
            assert "description" in described or "$ref" in described, (part["title"], name)


def test_public_view_omits_internal_name_description_and_timestamps() -> None:
    shown = json.dumps(
        [
            contact_form_view(name="Secret", description="Secret", **COMPLETE_FORM),
            survey_view(
                name="Secret", description="Secret", supportEmail={"email": "secret@example.com"}
            ),
        ]
    ).lower()

    assert "secret" not in shown
    assert "createdat" not in shown


def test_fields_of_public_view_contain_their_dependencies() -> None:
    view = contact_form_view(
        fields=[select("a"), field("b"), field("c")],
        fieldDependencies=[depends("b", "a"), depends("c", "a"), depends("c", "b", "x")],
    )
    first, second, third = view["fieldDependencies"]

    assert [item["dependencies"] for item in view["fields"]] == [[], [first], [second, third]]
    assert [item["dependencyOf"] for item in view["fields"]] == [[first, second], [third], []]
