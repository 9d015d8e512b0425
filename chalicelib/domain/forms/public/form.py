"""The properties that the public views of contact forms and surveys share."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import Field

from chalicelib.domain.accounts.places import Place
from chalicelib.domain.forms.fields import (
    MAX_INDEX,
    FieldDependency,
    FieldTraits,
    PublicFieldDependency,
    SavedField,
)
from chalicelib.domain.forms.form import Images, SavedForm
from chalicelib.domain.forms.option_texts import option_texts, translated_values
from chalicelib.domain.forms.option_words import OptionWords, option_words_in
from chalicelib.domain.forms.part import Part
from chalicelib.domain.forms.placeholders import fill, fill_titles
from chalicelib.domain.forms.presentation import Body, ExternalLink, Footer, Header, Submission
from chalicelib.domain.forms.translation import FieldTranslation, FormTranslation, GroupTranslation
from chalicelib.domain.language import Language
from chalicelib.domain.schema import UuidText

_Part = TypeVar("_Part", bound=Part)
_FIELD_TRAITS = tuple(FieldTraits.model_fields)
_COPIED = ("id", "enabled", "auto_translate", "external_link", *Images.model_fields)


class PublicPlace(Part):
    """A brand or store in the public view of a form."""

    id: UuidText = Field(description="Identifier of the brand or store.")
    name: str = Field(description="Current name.", examples=["Lyon Bellecour"])
    color: str = Field(description="Hexadecimal colour.", examples=["#0b7285"])

    @classmethod
    def of(cls, place: Place) -> "PublicPlace":
        """Create the public view of a brand or store."""
        return cls(id=place.id, name=place.name, color=place.color)


class PublicField(FieldTraits):
    """A field in the public view of a form."""

    id: UuidText = Field(description="Unique identifier.")
    key: str = Field(
        description="Key of the field. Unlike the label, the key is the same in every language.",
        examples=["what"],
    )
    group: str = Field(
        description="Identifier of the field's group; empty if the field belongs to no group.",
        examples=["521617b6-5b5f-5311-bb5b-bcd1c1ae24d2"],
    )
    values: list[str] = Field(
        description="Values that an answer can have: the options of a select field, or the accepted"
        " values of a checkbox, `BINARY`, smiley, star, `NPS` or `RATING` field.",
        examples=[["Service", "Food", "Price"]],
    )
    translated_values: list[str] = Field(
        description="Texts to display for `values`, in the same order and in the language of this"
        " view. Submit the item of `values` at the same position.",
        examples=[["Service", "Food", "Price"]],
    )
    dependencies: list[PublicFieldDependency] = Field(
        description="Dependencies that show or hide this field."
    )
    dependency_of: list[PublicFieldDependency] = Field(
        description="Dependencies that evaluate this field's answer."
    )


class PublicFieldGroup(Part):
    """A group of fields in the public view of a form."""

    id: UuidText = Field(description="Unique identifier.")
    key: str = Field(
        description="Key of the group. Unlike the name, the key is the same in every language.",
        examples=["visit"],
    )
    name: str = Field(description="Name of the group.", examples=["Your visit"])
    vertical_index: int = Field(
        ge=0, le=MAX_INDEX, description="Position of the group in the form.", examples=[0]
    )


class PublicForm(Images):
    """The properties that the public views of contact forms and surveys share."""

    id: UuidText = Field(description="Unique identifier.")
    language: Language = Field(description="Language of the texts.", examples=["en"])
    enabled: bool = Field(description="Whether the form accepts submissions.", examples=[True])
    auto_translate: bool = Field(
        description="Whether to show the form in the respondent's language if a translation exists."
    )
    header: Header = Field(description="Texts above the fields.")
    body: Body = Field(description="Texts of the form body.")
    footer: Footer = Field(description="Content below the form.")
    submission: Submission = Field(description="Content shown after submission.")
    external_link: ExternalLink = Field(description="Links to the form owner's websites.")
    store_list: list[PublicPlace] = Field(description="Stores that a respondent can select.")
    fields: list[PublicField] = Field(description="The form's fields.")
    field_groups: list[PublicFieldGroup] = Field(description="The groups of the form's fields.")
    field_dependencies: list[PublicFieldDependency] = Field(
        description="Conditions that show or hide fields."
    )


def public_parts(
    form: SavedForm, language: Language, stores: Iterable[Place], names: Mapping[str, str]
) -> dict[str, Any]:
    """Return the values of all `PublicForm` properties, with the texts in this language.

    Args:
        names: the values of the placeholders in the texts.
    """
    texts = form.translations.get(language, FormTranslation())
    dependencies = {item.id: item for item in form.field_dependencies}
    return {name: getattr(form, name) for name in _COPIED} | {
        "language": language,
        "header": fill_titles(translate(form.header, texts.header), names),
        "body": translate(form.body, texts.body),
        "footer": translate(form.footer, texts.footer),
        "submission": fill_titles(translate(form.submission, texts.submission), names),
        "store_list": [PublicPlace.of(store) for store in stores],
        "fields": [
            _field(
                field,
                texts.fields.get(field.key, FieldTranslation()),
                dependencies,
                option_words_in(language),
            )
            for field in form.fields
        ],
        "field_groups": [
            PublicFieldGroup(
                id=group.id,
                key=group.key,
                name=texts.groups.get(group.key, GroupTranslation()).name or group.name,
                vertical_index=group.vertical_index,
            )
            for group in form.field_groups
        ],
        "field_dependencies": form.field_dependencies,
    }


def translate(part: _Part, texts: Part) -> _Part:
    """Return a copy of the part with translated texts.

    A text without a translation is unchanged.
    """
    changed: dict[str, Any] = {}
    for name, text in texts:
        if isinstance(text, Part):
            changed[name] = translate(getattr(part, name), text)
        elif text:
            changed[name] = text
    return part.model_copy(update=changed) if changed else part


def thanks_for(
    form: SavedForm,
    submission: Submission,
    language: Language,
    rating: int | None,
    names: Mapping[str, str],
) -> Submission:
    """Replace the thank-you texts in a view by the form's texts for this rating.

    A text that the form does not define for the rating stays unchanged.

    Args:
        submission: the view's texts, which are shown after the submission.
        names: the values of the placeholders in the texts.
    """
    matching = [
        (each.min_rating, position)
        for position, each in enumerate(form.thanks)
        if rating is not None and each.min_rating <= rating
    ]
    if not matching:
        return submission
    _, position = max(matching)
    translations = form.translations.get(language, FormTranslation()).thanks
    texts = form.thanks[position]
    if translations:
        texts = translate(texts, translations[position])
    titles = {"title": texts.title, "subtitle": texts.subtitle}
    filled = {name: fill(text, names) for name, text in titles.items() if text}
    return submission.model_copy(update=filled)


def _field(
    field: SavedField,
    texts: FieldTranslation,
    dependencies: dict[str, FieldDependency],
    words: OptionWords,
) -> PublicField:
    values, displayed = field.values, translated_values(field.values, texts.values)
    if field.type.rules.options:
        fixed = option_texts(field, texts, words)
        values, displayed = list(fixed), list(fixed.values())
    properties = {name: getattr(field, name) for name in ("id", "key", "group", *_FIELD_TRAITS)} | {
        "label": texts.label or field.label,
        "placeholder": texts.placeholder or field.placeholder,
        "values": values,
        "translated_values": displayed,
        "dependencies": [dependencies[item] for item in field.dependencies],
        "dependency_of": [dependencies[item] for item in field.dependency_of],
    }
    return PublicField(**properties)
