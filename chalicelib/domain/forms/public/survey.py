"""The public view of a survey: ``GET /public/survey``."""

from pydantic import Field

from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.forms.pre_redirect import PreRedirectConfig
from chalicelib.domain.forms.presentation import Image, PartnerImage, SurveyStyle
from chalicelib.domain.forms.public.form import PublicForm, PublicPlace, public_parts, translate
from chalicelib.domain.forms.survey import SavedSurvey, SendMode
from chalicelib.domain.forms.survey_context import SurveyContext, external_url
from chalicelib.domain.language import Language


class PublicSurvey(PublicForm):
    """A survey in the public view."""

    general_style: SurveyStyle = Field(description="Style of the survey.")
    pre_redirect: bool = Field(
        description="Whether a satisfaction question is shown before the survey.", examples=[True]
    )
    pre_redirect_config: PreRedirectConfig | None = Field(
        description="Question before the survey; null if there is none."
    )
    external_url: str = Field(
        description="URL of the external site that the pre-redirect question redirects to.",
        examples=["https://reviews.example.com/new?place=1"],
    )
    send_mode: SendMode = Field(
        description="Channel through which the survey was sent; `LINK` if not by a message.",
        examples=["SMS"],
    )
    store: PublicPlace | None = Field(
        description="Store that the survey is about; null if unknown."
    )
    brand: PublicPlace | None = Field(
        description="Brand that the survey is about; null if unknown.",
        examples=[
            {
                "id": "723ba1ce-c10c-5e5f-a88d-1dfb2a5b80fe",
                "name": "Maison Lumen",
                "color": "#c0392b",
            }
        ],
    )
    order: str = Field(
        description="External id of the purchase that the survey is about.", examples=["A-20413"]
    )
    email_logo: PartnerImage | None = Field(description="Logo in e-mails.")
    email_cover: PartnerImage | None = Field(description="Cover image in e-mails.")


def build_public_survey(
    survey: SavedSurvey, directory: Directory, language: Language, context: SurveyContext
) -> PublicSurvey:
    """Return the public view of the survey with the texts in this language."""
    return PublicSurvey(
        **public_parts(
            survey, language, stores_of_targets(survey, directory), context.names(language)
        ),
        general_style=survey.general_style,
        pre_redirect=survey.pre_redirect,
        pre_redirect_config=_pre_redirect_config(survey, language),
        external_url=external_url(survey, context),
        send_mode=context.send_mode,
        store=PublicPlace.of(context.store) if context.store else None,
        brand=PublicPlace.of(context.brand) if context.brand else None,
        order=context.order,
        email_logo=_partner_image(survey.email_logo),
        email_cover=_partner_image(survey.email_cover),
    )


def stores_of_targets(survey: SavedSurvey, directory: Directory) -> list[Place]:
    """Return the stores of the survey's enabled targets.

    The stores are in target order, without duplicates.
    """
    stores: dict[str, Place] = {}
    for target in survey.targets:
        if target.enabled and target.type is PlaceKind.BRAND:
            stores |= {store.id: store for store in directory.stores_of(target.target_id)}
        elif target.enabled and (store := directory.store(target.target_id)):
            stores[store.id] = store
    return list(stores.values())


def _pre_redirect_config(survey: SavedSurvey, language: Language) -> PreRedirectConfig | None:
    config, texts = survey.pre_redirect_config, survey.translations.get(language)
    translated = texts.pre_redirect_config if texts else None
    return translate(config, translated) if config and translated else config


def _partner_image(image: Image | None) -> PartnerImage | None:
    return PartnerImage.model_validate(image.model_dump()) if image else None
