"""Tests of the selection of the URL that a respondent is redirected to after a submission."""

from typing import Any

import pytest

from chalicelib.domain.forms.survey_context import SurveyContext, external_url, redirect_to
from tests.domain.forms.factories import (
    BRAND,
    DIRECTORY,
    OTHER_BRAND,
    OTHER_STORE,
    SECOND_STORE,
    STORE,
    saved_survey,
)

BRAND_PAGE = "https://reviews.example/brand"
STORE_PAGE = "https://reviews.example/store"
BRAND_TARGET = {"type": "BRAND", "targetId": BRAND, "newReviewUri": BRAND_PAGE}
STORE_TARGET = {"type": "STORE", "targetId": STORE, "newReviewUri": STORE_PAGE}
BOTH = [BRAND_TARGET, STORE_TARGET]


@pytest.mark.parametrize(
    ("targets", "store", "brand", "page"),
    [
        (BOTH, STORE, None, STORE_PAGE),
        (BOTH, SECOND_STORE, None, BRAND_PAGE),
        (BOTH, OTHER_STORE, None, ""),
        (BOTH, None, BRAND, BRAND_PAGE),
        (BOTH, None, None, ""),
        ([BRAND_TARGET], STORE, None, BRAND_PAGE),
        ([STORE_TARGET], None, BRAND, ""),
        ([BRAND_TARGET, {**STORE_TARGET, "newReviewUri": ""}], STORE, None, ""),
        ([BRAND_TARGET, {**STORE_TARGET, "enabled": False}], STORE, None, BRAND_PAGE),
        ([{**BRAND_TARGET, "enabled": False}], STORE, None, ""),
        ([], STORE, None, ""),
    ],
)
def test_redirect_prefers_target_of_store_to_target_of_brand(
    targets: list[Any], store: str | None, brand: str | None, page: str
) -> None:
    survey = saved_survey(targets=targets, postRedirect=True, postRedirectThreshold=0)
    context = SurveyContext.at(DIRECTORY, store_id=store, brand_id=brand)

    assert external_url(survey, context) == page
    assert redirect_to(survey, context, None) == page


@pytest.mark.parametrize(
    ("targets", "store", "brand", "page", "chosen_brand"),
    [
        ([BRAND_TARGET], None, None, BRAND_PAGE, BRAND),
        ([STORE_TARGET], None, None, STORE_PAGE, BRAND),
        ([STORE_TARGET, {**BRAND_TARGET, "enabled": False}], None, None, STORE_PAGE, BRAND),
        ([{**BRAND_TARGET, "enabled": False}], None, None, "", None),
        (BOTH, None, None, "", None),
        ([BRAND_TARGET], None, OTHER_BRAND, "", OTHER_BRAND),
        ([STORE_TARGET], SECOND_STORE, None, "", BRAND),
    ],
)
def test_request_without_store_and_brand_uses_single_target(
    targets: list[Any], store: str | None, brand: str | None, page: str, chosen_brand: str | None
) -> None:
    survey = saved_survey(targets=targets, postRedirect=True, postRedirectThreshold=0)
    context = SurveyContext.of_request(survey, DIRECTORY, store_id=store, brand_id=brand)

    assert external_url(survey, context) == redirect_to(survey, context, None) == page
    assert (context.brand.id if context.brand else None) == chosen_brand
