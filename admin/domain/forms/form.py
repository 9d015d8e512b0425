"""The definition of a form: the properties that contact forms and surveys share.

Fields and groups have a `key`, an `id`, or both. An omitted id is derived from the key, so loading
a definition twice gives the same ids. A definition refers to a field or a group by id or by key. An
omitted property has the default value that the API reference documents.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, tzinfo
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, WithJsonSchema

from admin.domain.definitions import ID, KEY, Key, NormalizedInput
from chalicelib.domain.comparison import Combination
from chalicelib.domain.forms.fields import MAX_INDEX, ExpectedValue, FieldTraits
from chalicelib.domain.forms.labels import LABEL_NAME, MAX_LABELS, LabelRule
from chalicelib.domain.forms.presentation import (
    Body,
    ExternalLink,
    Footer,
    GeneralStyle,
    Header,
    Image,
    Layout,
    Submission,
    Thanks,
)
from chalicelib.domain.forms.translation import FormTranslation
from chalicelib.domain.language import Language
from chalicelib.domain.schema import Identifier, Input, InputTimestamp, must, with_offset

LanguageName = Annotated[Language, Field(strict=False)]
_Time = Annotated[
    InputTimestamp,
    BeforeValidator(lambda value: with_offset(value, UTC)),  # see `with_offsets`
    WithJsonSchema({"type": "string", "examples": ["2026-12-01T09:00"]}),
]
TRANSLATIONS: Final = "Texts in other languages, by language; see [Translations](#translations)."


LabelName = Annotated[
    str,
    must(
        LABEL_NAME.fullmatch,
        "invalid",
        "Must be 1 to 32 letters, digits, hyphens and underscores, starting with a letter.",
    ),
]


class KeyedPart(Input):
    """A part of a form definition, such as a field. Other parts refer to it by id or key."""

    id: Identifier | None = Field(
        default=None, description="The id. Default: derived from the key, or from the position."
    )
    key: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="The name by which other parts of the form, and exports, refer to it.",
    )


class FieldDefinition(KeyedPart, FieldTraits):
    """The definition of a field. `verticalIndex` defaults to the field's position in the list."""

    model_config = Input.model_config

    group: str = Field(default="", description="The id or the key of the field's group.")
    vertical_index: int = Field(
        default=0,
        ge=0,
        le=MAX_INDEX,
        description="Row of the field, within its group if it has one. Default: the position in the"
        " list.",
    )


class FieldGroupDefinition(KeyedPart):
    """The definition of a field group. `verticalIndex` defaults to the position in the list."""

    name: str = ""
    vertical_index: int = Field(
        default=0,
        ge=0,
        le=MAX_INDEX,
        description="Position of the group. Default: the position in the list.",
    )


class FieldDependencyDefinition(Input):
    """A condition that shows or hides a field, depending on the answer to another field."""

    id: Identifier | None = Field(
        default=None, description="The id. Default: derived from the ids of the two fields."
    )
    field: str = Field(description="The id or the key of the field to show or hide.")
    depends_on_field: str = Field(
        description="The id or the key of the field whose answer decides."
    )
    operator: Combination = Combination.AND
    depends_on_field_values: list[ExpectedValue]


class FormDefinition(NormalizedInput):
    """The properties that contact form and survey definitions share."""

    id: Identifier = Field(description=ID)
    key: Key = Field(default="", description=KEY)
    name: str = Field(min_length=1, max_length=255)
    description: str | None = Field(default=None, max_length=2000)
    language: LanguageName
    enabled: bool = Field(
        default=True,
        description="Whether the form accepts submissions. An existing form stays as it is if this"
        " field is absent.",
    )
    opens_at: _Time | None = Field(
        default=None,
        description="The time from which the form accepts submissions, if it is enabled. Without an"
        " offset, it is in the account's time zone; a date is its midnight.",
    )
    closes_at: _Time | None = Field(
        default=None, description="The time until before which the form accepts submissions."
    )
    labels: dict[LabelName, LabelRule] = Field(
        default={},
        max_length=MAX_LABELS,
        description="The parameters `l.<name>` of links that feedback contains, by name.",
    )
    auto_translate: bool = False
    general_style: GeneralStyle = GeneralStyle()
    header: Header = Header()
    body: Body = Body()
    footer: Footer = Footer()
    external_link: ExternalLink = ExternalLink()
    submission: Submission = Submission()
    layout: Layout = Field(
        default=Layout.PAGE, description="`STEPS` shows one question at a time, `PAGE` all of them."
    )
    thanks: list[Thanks] = Field(
        default=[], max_length=11, description="The texts of the thank-you page by rating."
    )
    logo: Image | None = None
    footer_logo: Image | None = None
    cover: Image | None = None
    submission_image: Image | None = None
    fields: list[FieldDefinition] = []
    field_groups: list[FieldGroupDefinition] = []
    field_dependencies: list[FieldDependencyDefinition] = []
    translations: Mapping[LanguageName, FormTranslation] = Field(
        default={}, description=TRANSLATIONS
    )


def with_offsets(definition: Any, zone: Callable[[], tzinfo]) -> Any:
    """Return a definition whose opening times without an offset have that of this time zone."""
    if not isinstance(definition, dict):
        return definition
    times = {name: definition[name] for name in ("opensAt", "closesAt") if definition.get(name)}
    return definition | {name: with_offset(at, zone()) for name, at in times.items()}
