"""The definition of a form: the properties that contact forms and surveys share.

Fields and groups have a `key`, an `id`, or both. An omitted id is derived from the key, so loading
a definition twice gives the same ids. A definition refers to a field or a group by id or by key. An
omitted property has the default value that the API reference documents.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from chalicelib.domain.comparison import Combination
from chalicelib.domain.definitions import Key, NormalizedInput
from chalicelib.domain.forms.fields import MAX_INDEX, ExpectedValue, FieldTraits
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
from chalicelib.domain.schema import Identifier, Input

LanguageName = Annotated[Language, Field(strict=False)]


class KeyedPart(Input):
    """A part of a form definition, such as a field. Other parts refer to it by id or key."""

    id: Identifier | None = None
    key: str | None = Field(default=None, min_length=1, max_length=100)


class FieldDefinition(KeyedPart, FieldTraits):
    """The definition of a field. `verticalIndex` defaults to the field's position in the list."""

    model_config = Input.model_config

    group: str = ""


class FieldGroupDefinition(KeyedPart):
    """The definition of a field group. `verticalIndex` defaults to the position in the list."""

    name: str = ""
    vertical_index: int = Field(default=0, ge=0, le=MAX_INDEX)


class FieldDependencyDefinition(Input):
    """A condition that shows or hides a field, depending on the answer to another field."""

    id: Identifier | None = None
    field: str
    depends_on_field: str
    operator: Combination = Combination.AND
    depends_on_field_values: list[ExpectedValue]


class FormDefinition(NormalizedInput):
    """The properties that contact form and survey definitions share."""

    id: Identifier
    key: Key = ""
    name: str = Field(min_length=1, max_length=255)
    description: str | None = Field(default=None, max_length=2000)
    language: LanguageName
    enabled: bool = True
    auto_translate: bool = False
    general_style: GeneralStyle = GeneralStyle()
    header: Header = Header()
    body: Body = Body()
    footer: Footer = Footer()
    external_link: ExternalLink = ExternalLink()
    submission: Submission = Submission()
    layout: Layout = Layout.PAGE
    thanks: list[Thanks] = Field(default=[], max_length=11)
    logo: Image | None = None
    footer_logo: Image | None = None
    cover: Image | None = None
    submission_image: Image | None = None
    fields: list[FieldDefinition] = []
    field_groups: list[FieldGroupDefinition] = []
    field_dependencies: list[FieldDependencyDefinition] = []
    translations: Mapping[LanguageName, FormTranslation] = {}
