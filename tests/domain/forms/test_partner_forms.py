"""Tests of every field in the partner views of forms and surveys."""

import json
from typing import Any

import pytest

from chalicelib.domain.forms.contact_form import PartnerContactForm, SavedContactForm
from chalicelib.domain.forms.survey import PartnerSurvey, SavedSurvey
from tests.domain.forms.complete_form import (
    COMPLETE_FORM,
    STYLE_FIELDS,
    SURVEY_STYLE_FIELDS,
)
from tests.domain.forms.factories import (
    BRAND,
    DIRECTORY,
    IMAGE,
    NOW_TEXT,
    STORE,
    saved_contact_form,
    saved_survey,
)

FORM_FIELDS = set(
    "id createdAt updatedAt name description language enabled autoTranslate submissionCount "
    "generalStyle header body footer externalLink submission logo footerLogo cover "
    "submissionImage fields fieldGroups fieldDependencies".split()
)
SURVEY_FIELDS = FORM_FIELDS | set(
    "targets publiclyAvailable supportEmail sendingChannels solicitationThreshold "
    "resolicitationDelay resolicitationMode preRedirect preRedirectConfig postRedirect "
    "postRedirectThreshold emailLogo emailCover".split()
)
FIELD_PROPERTIES = set(
    "id createdAt updatedAt dependencies dependencyOf group required label placeholder "
    "verticalIndex horizontalIndex values allowCustomValue allowMinReplies minReplies "
    "allowMaxReplies maxReplies operator type".split()
)
PRE_REDIRECT = {"type": "NPS", "threshold": 8}


def contact_form_view(**overrides: Any) -> dict[str, Any]:
    saved = saved_contact_form(**overrides).model_dump_json()
    view: dict[str, Any] = json.loads(
        PartnerContactForm.read(saved, DIRECTORY, 12).model_dump_json()
    )
    return view


def survey_view(**overrides: Any) -> dict[str, Any]:
    saved = saved_survey(**overrides).model_dump_json()
    view: dict[str, Any] = json.loads(PartnerSurvey.read(saved, DIRECTORY, 12).model_dump_json())
    return view


def test_partner_contact_form_has_exactly_the_fields_of_the_contract() -> None:
    view = contact_form_view(**COMPLETE_FORM)

    assert set(view) == FORM_FIELDS | {"brandId", "brandName"}
    assert set(view["generalStyle"]) == STYLE_FIELDS


def test_partner_survey_has_exactly_the_fields_of_the_contract() -> None:
    view = survey_view(**COMPLETE_FORM)

    assert set(view) == SURVEY_FIELDS
    assert set(view["generalStyle"]) == SURVEY_STYLE_FIELDS


@pytest.mark.parametrize("view", [contact_form_view, survey_view])
def test_style_objects_have_exactly_the_fields_of_the_contract(view: Any) -> None:
    form = view(**COMPLETE_FORM)

    assert set(form["generalStyle"]["font"]) == {"name", "url"}
    assert set(form["header"]) == {"title", "subtitle"}
    assert set(form["body"]) == {"buttonText"}
    assert set(form["submission"]) == {"title", "subtitle", "titleColor", "subtitleColor"}
    assert set(form["footer"]) == set(
        "display displayLogo backgroundColor title text textColor iconColor imagePosition".split()
    )
    assert set(form["externalLink"]) == set("website twitter facebook instagram linkedin".split())


@pytest.mark.parametrize("view", [contact_form_view, survey_view])
def test_fields_groups_and_dependencies_have_exactly_the_fields_of_the_contract(view: Any) -> None:
    form = view(**COMPLETE_FORM)

    assert [set(item) for item in form["fields"]] == [FIELD_PROPERTIES, FIELD_PROPERTIES]
    assert [set(item) for item in form["fieldGroups"]] == [
        {"id", "createdAt", "updatedAt", "name", "verticalIndex"}
    ]
    assert [set(item) for item in form["fieldDependencies"]] == [
        set("id createdAt updatedAt field dependsOnField operator dependsOnFieldValues".split())
    ]
    assert form["fieldDependencies"][0]["dependsOnFieldValues"] == [
        {"operator": "$eq", "value": "No"}
    ]


def test_fields_groups_and_dependencies_reference_each_other_by_id() -> None:
    form = contact_form_view(**COMPLETE_FORM)
    happy, why = form["fields"]
    (dependency,) = form["fieldDependencies"]

    assert happy["group"] == why["group"] == form["fieldGroups"][0]["id"]
    assert (dependency["field"], dependency["dependsOnField"]) == (why["id"], happy["id"])
    assert (why["dependencies"], why["dependencyOf"]) == ([dependency["id"]], [])
    assert (happy["dependencies"], happy["dependencyOf"]) == ([], [dependency["id"]])


@pytest.mark.parametrize("name", ["logo", "footerLogo", "cover", "submissionImage"])
def test_image_size_and_height_are_strings(name: str) -> None:
    expected = {
        "contentType": "image/png",
        "url": "https://cdn.example.com/logo.png",
        "size": "18432",
        "width": 640,
        "height": "240",
    }

    assert contact_form_view(**{name: IMAGE})[name] == expected
    assert survey_view(**{name: IMAGE})[name] == expected


@pytest.mark.parametrize("name", ["emailLogo", "emailCover"])
def test_survey_email_image_has_string_height_or_is_null(name: str) -> None:
    assert survey_view(**{name: IMAGE})[name]["height"] == "240"
    assert survey_view()[name] is None


def test_unset_contact_form_fields_have_defaults() -> None:
    view = contact_form_view()

    assert {key for key, value in view.items() if value is None} == {
        "description",
        "logo",
        "footerLogo",
        "cover",
        "submissionImage",
    }
    assert view["generalStyle"]["fieldRadius"] == "ROUNDED"
    assert view["generalStyle"]["titleColor"] == ""
    assert view["generalStyle"]["logoPosition"] == 0
    assert view["footer"] == {
        "display": False,
        "displayLogo": False,
        "backgroundColor": "",
        "title": "",
        "text": "",
        "textColor": "",
        "iconColor": "",
        "imagePosition": 0,
    }
    assert view["fields"] == view["fieldGroups"] == view["fieldDependencies"] == []


def test_unset_survey_fields_have_defaults() -> None:
    view = survey_view()

    assert {key for key, value in view.items() if value is None} == set(
        "description logo footerLogo cover submissionImage supportEmail preRedirectConfig "
        "postRedirectThreshold emailLogo emailCover".split()
    )
    assert view["targets"] == []
    assert view["resolicitationMode"] == "ACCOUNT"
    assert view["publiclyAvailable"] is view["preRedirect"] is view["postRedirect"] is False
    assert view["solicitationThreshold"] == view["resolicitationDelay"] == 0


def test_partner_view_contains_submission_count_and_current_names() -> None:
    form = contact_form_view()
    survey = survey_view(targets=[{"type": "STORE", "targetId": STORE}])

    assert (form["submissionCount"], form["brandId"], form["brandName"]) == (
        12,
        BRAND,
        "Maison Lumen",
    )
    assert (survey["submissionCount"], survey["targets"][0]["targetName"]) == (12, "Lyon")


def test_target_has_exactly_the_fields_of_the_contract() -> None:
    view = survey_view(
        targets=[{"type": "BRAND", "targetId": BRAND, "newReviewUri": "https://r.example.com/"}]
    )
    (target,) = view["targets"]

    assert target == {
        "id": target["id"],
        "createdAt": NOW_TEXT,
        "updatedAt": NOW_TEXT,
        "type": "BRAND",
        "enabled": True,
        "targetId": BRAND,
        "targetName": "Maison Lumen",
        "newReviewUri": "https://r.example.com/",
    }


def test_support_email_has_exactly_the_fields_of_the_contract() -> None:
    record = {"host": "k1._domainkey", "type": "TXT", "value": "p=abc"}
    support = survey_view(
        supportEmail={"email": "help@example.com", "externalDnsConfig": {"dkim": record}}
    )["supportEmail"]

    assert support == {
        "id": support["id"],
        "createdAt": NOW_TEXT,
        "updatedAt": NOW_TEXT,
        "email": "help@example.com",
        "domain": "example.com",
        "forwardingEmail": "",
        "default": False,
        "enableInbound": False,
        "externalDnsConfig": {
            "dkim": record,
            "returnPath": {"host": "", "type": "", "value": ""},
        },
        "dkimVerified": False,
        "returnPathVerified": False,
    }


def test_pre_redirect_config_has_exactly_the_fields_of_the_contract() -> None:
    config = survey_view(preRedirect=True, preRedirectConfig=PRE_REDIRECT)["preRedirectConfig"]

    assert config == {
        "type": "NPS",
        "threshold": 8,
        "text": {"text": "", "color": ""},
        "button": {
            "text": "",
            "color": "",
            "backgroundColor": "",
            "topic": {"text": "", "color": ""},
        },
        "nps": {"startText": "", "endText": "", "topic": ""},
        "csatStar": {"topic": ""},
        "csatSmiley": {
            "one": "",
            "two": "",
            "three": "",
            "four": "",
            "five": "",
            "topic": "",
        },
        "binary": {"satisfied": "", "unsatisfied": "", "topic": ""},
    }


def test_post_redirect_threshold_is_null_without_post_redirect() -> None:
    assert survey_view(postRedirectThreshold=7)["postRedirectThreshold"] is None
    assert survey_view(postRedirect=True, postRedirectThreshold=7)["postRedirectThreshold"] == 7
    assert survey_view(postRedirect=True, postRedirectThreshold=0)["postRedirectThreshold"] == 0


@pytest.mark.parametrize("model", [PartnerContactForm, PartnerSurvey])
def test_partner_schema_requires_and_describes_every_field(model: Any) -> None:
    schema = model.model_json_schema(mode="serialization")

    for part in [schema, *schema["$defs"].values()]:
        for name, described in part.get("properties", {}).items():
            assert name in part["required"]
            assert "description" in described or "$ref" in described, (part["title"], name)


def test_deserialized_form_equals_serialized_form() -> None:
    form, survey = saved_contact_form(**COMPLETE_FORM), saved_survey(**COMPLETE_FORM)

    assert SavedContactForm.model_validate_json(form.model_dump_json()) == form
    assert SavedSurvey.model_validate_json(survey.model_dump_json()) == survey


def test_partner_view_omits_translations_and_keys() -> None:
    text = json.dumps(contact_form_view(**COMPLETE_FORM))

    assert "translations" not in text
    assert "originalname" not in text
    assert '"key"' not in text
