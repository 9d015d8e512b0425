"""A form as an operator writes it, and how such a document is read.

Fields and groups carry a `key`, an `id`, or both; without an id one is derived from the key, so
that a document saved twice has the same ids. Wherever a part points at a field or a group, either
its id or its key will do. What is left out has the default that the interface gives it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import Field

from chalicelib.domain.comparison import Combination
from chalicelib.domain.definitions import bounded_depth, parse_and_validate
from chalicelib.domain.forms.fields import MAX_INDEX, CombinationName, ExpectedValue, FieldTraits
from chalicelib.domain.forms.image import Image
from chalicelib.domain.forms.presentation import (
    Body,
    ExternalLink,
    Footer,
    GeneralStyle,
    Header,
    Submission,
)
from chalicelib.domain.forms.translation import FormTranslation
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.language import Language
from chalicelib.domain.schema import WHITE_SPACE, Identifier, Input

LanguageName = Annotated[Language, Field(strict=False)]

_Document = TypeVar("_Document", bound=Input)


class KeyedPart(Input):
    """A part that others may point at, by its id or by its key."""

    id: Identifier | None = None
    key: str | None = Field(default=None, min_length=1, max_length=100)


class FieldDefinition(KeyedPart, FieldTraits):
    """A field. Without a `verticalIndex` it stands in the row of its place in the list."""

    model_config = Input.model_config

    group: str = ""


class FieldGroupDefinition(KeyedPart):
    """A group of fields. Without a `verticalIndex` it stands at its place in the list."""

    name: str = ""
    vertical_index: int = Field(default=0, ge=0, le=MAX_INDEX)


class FieldDependencyDefinition(Input):
    """A condition on one field's answer that decides whether another field is shown."""

    id: Identifier | None = None
    field: str
    depends_on_field: str
    operator: CombinationName = Combination.AND
    depends_on_field_values: list[ExpectedValue]


class FormDefinition(Input):
    """What the documents of contact forms and surveys have in common."""

    id: Identifier
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
    logo: Image | None = None
    footer_logo: Image | None = None
    cover: Image | None = None
    submission_image: Image | None = None
    fields: list[FieldDefinition] = []
    field_groups: list[FieldGroupDefinition] = []
    field_dependencies: list[FieldDependencyDefinition] = []
    translations: Mapping[LanguageName, FormTranslation] = {}


@bounded_depth()
def parse_definition(
    model: type[_Document], document: Any, rule_errors: Callable[[_Document], Iterable[InputError]]
) -> _Document:
    """The document as its model: no unknown key, no value of another type, no rule broken.

    Raises:
        InvalidInput: with every key and value that does not fit, and every rule that is broken.
    """
    return parse_and_validate(
        _tidy(document), model, rule_errors, extra="forbid", by_alias=True, by_name=False
    )


def _tidy(value: Any) -> Any:
    """The value with its texts trimmed and without the keys whose value is null."""
    match value:
        case str():
            return value.strip(WHITE_SPACE)
        case list():
            return [_tidy(item) for item in value]
        case dict():
            return {key: _tidy(item) for key, item in value.items() if item is not None}
    return value
