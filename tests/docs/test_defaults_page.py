"""Test the definition in docs/defaults.md, and the documents of its pictures."""

import yaml

from tests import pictures
from tests.docs.blocks import block
from tests.domain.forms.factories import saved_survey


def test_definition_of_page_is_survey_of_first_brand() -> None:
    content = yaml.safe_load(block("docs/defaults.md", "key: visit").text)
    assert content.pop("kind") == "survey"
    survey, shown = saved_survey(**content), pictures.BRANDS[0].survey
    assert survey.general_style == shown.general_style
    assert survey.header == shown.header
    assert [field.label for field in survey.fields] == [field.label for field in shown.fields]


def test_documents_of_pictures_contain_the_logo_of_each_brand() -> None:
    for number, brand in enumerate(pictures.BRANDS):
        for sheet in pictures.SHEETS:
            assert f"/{number}.svg" in sheet.html(brand)
