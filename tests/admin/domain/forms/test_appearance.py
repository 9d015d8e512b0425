"""Tests of warnings about the appearance of forms."""

import re
from pathlib import Path
from typing import Any

import pytest

from admin.domain.definitions import parse_definition
from admin.domain.forms.appearance import appearance_warnings
from admin.domain.forms.contact_form import ContactFormDefinition
from admin.domain.forms.survey import SurveyDefinition, offer_warnings
from chalicelib.domain.forms import colours
from chalicelib.domain.ids import new_id
from tests.domain.forms.factories import contact_form, field, survey


def warnings(**definition: Any) -> dict[str, str]:
    """Return the details of the warnings by pointer."""
    raw = contact_form(id=new_id(), brandId=new_id(), **definition)
    parsed = parse_definition(raw, ContactFormDefinition)
    found = list(appearance_warnings(parsed))
    assert len({warning.detail for warning in found}) == len(found)
    return {warning.pointer: warning.detail for warning in found}


def test_form_without_style_has_no_warnings() -> None:
    assert warnings() == {}


@pytest.mark.parametrize(
    ("style", "pointers"),
    [
        ({"textColor": "#717171"}, set()),
        ({"textColor": "#727272"}, {"/generalStyle/textColor"}),
        ({"titleColor": "#8e8e8e"}, set()),
        ({"titleColor": "#8f8f8f"}, {"/generalStyle/titleColor"}),
        ({"fieldBorderColor": "#eeeeee"}, {"/generalStyle/fieldBorderColor"}),
        ({"backgroundColor": "#14181d"}, set()),
        ({"buttonBackgroundColor": "#ffffff"}, {"/generalStyle/buttonBackgroundColor"}),
        (
            {"buttonBackgroundColor": "#ffffff", "buttonTextColor": "#000000"},
            {"/generalStyle/buttonTextColor"},
        ),
    ],
)
def test_low_contrast_is_a_warning(style: dict[str, str], pointers: set[str]) -> None:
    assert set(warnings(generalStyle=style)) == pointers


def test_warning_names_both_colours_and_the_ratio() -> None:
    style = {"labelColor": "#cccccc", "backgroundColor": "#ffffff"}
    assert warnings(generalStyle=style) == {
        "/generalStyle/labelColor": "The contrast of #cccccc with #ffffff"
        " (/generalStyle/backgroundColor) is 1.60; WCAG 2.2 requires at least 4.5."
        " Pages display #707070 instead of #cccccc."
    }


def test_texts_of_footer_and_thank_you_page_need_contrast_with_their_backgrounds() -> None:
    found = warnings(
        footer={"backgroundColor": "#000000", "textColor": "#222222"},
        submission={"subtitleColor": "#eeeeee"},
    )
    assert set(found) == {"/footer/textColor", "/submission/subtitleColor"}


@pytest.mark.parametrize(
    ("url", "is_warned"),
    [
        ("https://fonts.example.com/a.woff2", False),
        ("https://fonts.example.com/a.css", True),
        ("https://my_fonts.example.com/a.woff2", True),
        ("", False),
    ],
)
def test_font_that_pages_do_not_load_is_a_warning(url: str, is_warned: bool) -> None:
    found = warnings(generalStyle={"font": {"name": "A", "url": url}})
    assert ("/generalStyle/font/url" in found) == is_warned


@pytest.mark.parametrize(
    ("url", "is_warned"),
    [
        ("https://cdn.example.com:8443/a.png", False),
        ("https://xn--bcher-kva.example/a.png", False),
        ("https://my_cdn.example.com/a.png", True),
        ("https://bücher.example/a.png", True),
        ("https://[2001:db8::1]/a.png", True),
        ("https://user@cdn.example.com/a.png", True),
        ("", False),
    ],
)
@pytest.mark.parametrize("image", ["logo", "footerLogo", "cover", "submissionImage"])
def test_image_that_pages_do_not_display_is_a_warning(
    image: str, url: str, is_warned: bool
) -> None:
    assert set(warnings(**{image: {"url": url}})) == ({f"/{image}/url"} if is_warned else set())


def test_default_colours_are_those_of_the_style_sheet() -> None:
    static = Path(colours.__file__).parents[2] / "web" / "pages" / "static"
    css = (static / "page.css").read_text()
    for scheme, defaults in (("light", colours._LIGHT), ("dark", colours._DARK)):
        assert set(defaults.values()) <= set(
            re.findall(rf"var\(--{scheme}, (#[0-9a-f]{{6}})\)", css)
        )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"preRedirect": False, "saveTaps": False}, None),
        ({"saveTaps": False}, "`saveTaps` is false"),
        ({"fields": [field("stars", "CSAT_STAR")]}, "the survey has no field of type NPS"),
        (
            {"fields": [field("nps", "NPS"), field("ok", "CHECKBOX", required=True)]},
            "the survey requires a consent",
        ),
    ],
)
def test_offer_whose_followers_are_not_counted_has_warning(
    changes: dict[str, Any], reason: str | None
) -> None:
    config = {"type": "NPS", "threshold": 9}
    defaults = {"preRedirect": True, "preRedirectConfig": config, "fields": [field("nps", "NPS")]}
    parsed = parse_definition(survey(id=new_id(), **defaults | changes), SurveyDefinition)
    found = [(warning.pointer, warning.detail) for warning in offer_warnings(parsed)]
    detail = f"A respondent who follows the offer of a review is not counted: {reason}."
    assert found == ([("/preRedirectConfig/type", detail)] if reason else [])
