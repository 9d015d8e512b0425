"""The partner view of feedback, with the wording that the respondent saw."""

from typing import Final

from pydantic import Field

from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.wording import AnsweredQuestion, FormWording
from chalicelib.domain.language import Language
from chalicelib.domain.schema import Resource, Timestamp, UuidText


class NamedReference(Resource):
    """A form, brand or store, with its current name."""

    id: UuidText = Field(description="Unique identifier.")
    name: str = Field(description="Current name.", examples=["After your visit"])


class PartnerAnswer(Resource):
    """The answer to one field."""

    field_id: UuidText = Field(description="Identifier of the field.")
    key: str = Field(description="Key of the field.", examples=["nps"])
    type: FieldType = Field(description="Type of the field.", examples=["NPS"])
    label: str = Field(
        description="Label of the field as the respondent saw it.", examples=["Tell us more"]
    )
    values: list[str] = Field(
        description="Values in the form's original language.", examples=[["9"]]
    )
    displayed_values: list[str] = Field(
        description="Values as the respondent saw them: options are in the respondent's language.",
        examples=[["9"]],
    )
    rating: int | None = Field(
        description="The answer as a rating from 0 to 10; null if the field is not a rating.",
        examples=[9],
    )


class PartnerFeedback(Resource):
    """A submission to a contact form or a survey, with its answers."""

    id: UuidText
    created_at: Timestamp
    updated_at: Timestamp
    kind: FormKind = Field(description="Kind of the form.", examples=["SURVEY"])
    form: NamedReference = Field(description="The contact form or the survey.")
    brand: NamedReference | None = Field(
        description="The brand that the feedback is about.",
        examples=[{"id": "723ba1ce-c10c-5e5f-a88d-1dfb2a5b80fe", "name": "Maison Lumen"}],
    )
    store: NamedReference | None = Field(
        description="The store that the feedback is about.",
        examples=[{"id": "f648f0af-0303-5230-b619-1c59f038ec1e", "name": "Lyon Bellecour"}],
    )
    purchase_id: UuidText | None = Field(description="The purchase of the survey link.")
    customer_id: UuidText | None = Field(description="The customer who answered, if known.")
    tracker_id: UuidText | None = Field(description="The tracker of the survey link.")
    context_id: UuidText = Field(
        description="Identifier of the tracker, store, brand or form: the first of these that the"
        " feedback has. Webhooks contain the same id."
    )
    language: Language = Field(
        description="Language in which the respondent saw the form.", examples=["fr"]
    )
    source: DataSource = Field(description="Data source of the feedback.", examples=["Survey"])
    rating: int | None = Field(
        description="First rating in display order, from 0 to 10; null if there is none.",
        examples=[9],
    )
    answers: list[PartnerAnswer] = Field(description="The answers in display order.")
    labels: dict[str, str] = Field(
        description="Labels of the link that the respondent opened, by name.",
        examples=[{"table": "12"}],
    )
    redirect_to: str = Field(
        description="URL of the review page to which the respondent was redirected; empty if there"
        " is none.",
        examples=["https://reviews.example.com/new?place=1"],
    )
    anonymized: bool = Field(
        description="Whether the answers were anonymized. Only ratings remain, without labels."
    )
    test: bool = Field(description="Whether an operator marked the feedback as a test.")
    partial: bool = Field(
        description="Whether the respondent tapped ratings and choices on the page of a tracker,"
        " and did not send the survey."
    )


def partner_view(
    stored: StoredFeedback, form_name: str, directory: Directory, wording: FormWording
) -> PartnerFeedback:
    """Return the partner view of a feedback record.

    Args:
        form_name: the current name of the form.
        directory: the account's brands and stores.
        wording: the wording that the respondent saw.
    """
    record = stored.feedback
    copied = {name: getattr(record, name) for name in _COPIED}
    return PartnerFeedback(
        **copied,
        updated_at=stored.updated_at,
        form=NamedReference(id=record.form_id, name=form_name),
        brand=_place(directory, record.brand_id),
        store=_place(directory, record.store_id),
        answers=[_answer(each) for each in wording.of_answers(record.answers, record.language)],
        anonymized=record.is_anonymized,
        test=stored.is_test,
        partial=record.is_partial,
    )


_COPIED: Final = (
    "id created_at kind purchase_id customer_id tracker_id context_id language source rating"
    " labels redirect_to"
).split()


def _place(directory: Directory, place_id: str | None) -> NamedReference | None:
    return NamedReference(id=place_id, name=directory.name_of(place_id)) if place_id else None


def _answer(seen: AnsweredQuestion) -> PartnerAnswer:
    answer = seen.answer
    return PartnerAnswer(
        field_id=answer.field_id,
        key=answer.key,
        type=answer.type,
        label=seen.label,
        values=answer.values,
        displayed_values=seen.displayed_values,
        rating=answer.type.rules.options.get(answer.values[0]),
    )
