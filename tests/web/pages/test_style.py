"""Tests of the style of a form as CSS: colours, radii, fonts, and the hosts of images and fonts."""

import re
from typing import Any

import pytest

from chalicelib.domain.forms.contrast import contrast
from chalicelib.domain.forms.presentation import Font, Image
from chalicelib.domain.forms.public.survey import build_public_survey
from chalicelib.domain.forms.survey_context import SurveyContext
from chalicelib.web.pages.assets import STYLE_SHEET, asset_text
from chalicelib.web.pages.style import IN_DARK_MODE, IN_DARK_SITE, PageStyle, image_url, style_of
from tests.domain.forms.factories import DIRECTORY, saved_survey


def style(font: Font | None = None, **definition: Any) -> PageStyle:
    survey = saved_survey(**definition)
    view = build_public_survey(survey, DIRECTORY, survey.language, SurveyContext())
    general = view.general_style.model_copy(update={"font": font} if font else {})
    images = (view.logo, view.cover, view.footer_logo, view.submission_image)
    return style_of(general, view.footer, view.submission, images)


def test_every_colour_of_definition_becomes_a_css_property() -> None:
    fields = type(saved_survey().general_style).model_fields
    colours = {
        name: ("#ffffff" if "background" in name or "zone" in name else f"#0000{number:02x}")
        for number, name in enumerate(name for name in fields if name.endswith("_color"))
    }
    css = style(generalStyle={fields[name].alias: value for name, value in colours.items()}).css
    assert len(colours) == 21
    for name, colour in colours.items():
        assert f"--{name.removesuffix('_color').replace('_', '-')}:{colour};" in css


def test_radii_become_css_properties() -> None:
    css = style(
        generalStyle={
            "fieldRadius": "SHARP",
            "buttonRadius": "PILL",
            "cardBorderRadius": "ROUNDED",
        }
    ).css
    assert "--field-radius:0;--button-radius:24px;--card-radius:8px;" in css


@pytest.mark.parametrize(
    ("colours", "scheme"),
    [
        ({}, "auto"),
        ({"accentColor": "#111111", "buttonTextColor": "#ffffff"}, "auto"),
        ({"titleColor": "#123456"}, "light"),
        ({"backgroundColor": "#fff"}, "light"),
        ({"backgroundColor": "#101418"}, "dark"),
        ({"backgroundColor": "#123f"}, "dark"),
    ],
)
def test_configured_colours_select_light_or_dark_scheme(
    colours: dict[str, str], scheme: str
) -> None:
    assert style(generalStyle=colours).scheme == scheme


@pytest.mark.parametrize("accent", ["#000", "#4a235a", "#0b7285", "#f2b01e", "#fff"])
def test_accent_is_visible_in_light_and_dark_mode(accent: str) -> None:
    light, dark, in_dark_site = style(generalStyle={"accentColor": accent}).css.split(".auto:")
    assert dark.partition("{")[2].startswith(in_dark_site.partition("{")[2])
    assert f"--accent:{accent};" in light
    for css, background, text in ((light, "#f4f6f8", "#ffffff"), (dark, "#1b2128", "#06222c")):
        colours = dict(re.findall("--([a-z-]+):(#[^;]+);", css))
        assert contrast(colours.get("accent-ink", colours["accent"]), background) >= 4.5
        assert contrast(colours.get("accent-text", text), colours["accent"]) >= 4.5
    assert contrast(colours["accent"], background) >= 3


@pytest.mark.parametrize("selector", [IN_DARK_MODE, IN_DARK_SITE])
def test_style_sheet_has_the_selectors_of_pages_in_dark_mode(selector: str) -> None:
    assert selector in asset_text(STYLE_SHEET)


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("https://cdn.example.com/a.woff2", "https://cdn.example.com"),
        ("https://cdn.example.com/a.WOFF?v=1", "https://cdn.example.com"),
        ("https://cdn.example.com/a.css", ""),
        ("http://cdn.example.com/a.woff2", ""),
        ("https://u@cdn.example.com/a.woff2", ""),
        ("", ""),
    ],
)
def test_only_https_font_file_is_loaded(url: str, source: str) -> None:
    result = style(Font(name="Inter", url=url))
    assert result.font_source == source
    assert ("@font-face" in result.css) == bool(source)


def test_font_name_and_url_cannot_end_their_css_declaration() -> None:
    font = Font(name='"}body{}', url='https://cdn.example.com/")}</style>\\.woff2')
    css = style(font).css
    assert "</style>" not in css
    assert 'src:url("https://cdn.example.com/%22%29%7D%3C/style%3E%5C.woff2")' in css
    assert "body" not in style(font.model_copy(update={"url": ""})).css


@pytest.mark.parametrize(
    "url", ["http://a.example/x.png", "javascript:alert(1)", "https://a.example;script-src/x", ""]
)
def test_image_with_unsafe_url_is_not_displayed(url: str) -> None:
    assert image_url(Image(url=url)) == ""


def test_each_image_host_is_listed_once() -> None:
    image = {"url": "https://cdn.example.com/x.png"}
    other = {"url": "https://img.example.com:8443/x.png"}
    assert style(logo=image, cover=image, footerLogo=other).image_sources == (
        "https://cdn.example.com",
        "https://img.example.com:8443",
    )
