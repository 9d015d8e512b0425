"""Test the definition in docs/defaults.md, and the documents of its pictures."""

import re

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
    for sheet in pictures.SHEETS[:4]:
        documents = [*sheet.documents()]
        assert len(documents) == len(pictures.BRANDS)
        for number, document in enumerate(documents):
            assert f"/{number}.svg" in document


def test_report_of_picture_counts_each_response_as_the_answer_to_a_survey() -> None:
    (report,) = pictures.feedback_report()
    assert set(re.findall("[Aa]ns(?:wered|wers): ([0-9]+)", report)) == {"240", "80"}


def test_pictures_of_the_demo_show_its_surveys() -> None:
    assert ["Maison Lumen" in page for page in pictures.demo_pages()] == [True, False, True]
    assert ["Maison Lumen Lyon" in mail for mail in pictures.demo_mail()] == [True]
