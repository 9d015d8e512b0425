"""What of a malformed document is well-shaped: the same model, without the values that do not fit.

Whoever asks such a model for a value that is malformed, or required and missing, meets
`MalformedValue`. A list or mapping of objects keeps all its items, in their places, each without
its own malformed values; any other value is either well-shaped as a whole or not there.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError, create_model

from chalicelib.domain.rule import MalformedValue

_Read = TypeVar("_Read", bound=BaseModel)

# Unknown keys make nothing else malformed.
_READING: Final[dict[str, Any]] = {"extra": "ignore", "by_alias": True, "by_name": False}


def well_shaped(model: type[_Read], document: Any) -> _Read:
    """The document as its model, without the values that do not fit it."""
    given = document if isinstance(document, dict) else {}
    values: dict[str, Any] = {}
    if document is given:
        for name in model.model_fields:
            with suppress(MalformedValue):
                values[name] = _value(model, name, given)
    return _holding(model, values, given)


class _WithoutMalformed:
    """What a model's own class is led by where values may be missing."""

    def __getattr__(self, name: str) -> Any:
        if name in cast(type[BaseModel], type(self)).model_fields:
            raise MalformedValue
        raise AttributeError(name)


def _holding(model: type[_Read], values: dict[str, Any], given: dict[str, Any]) -> _Read:
    names = {name for name, field in model.model_fields.items() if (field.alias or name) in given}
    read = _without_malformed(model).model_construct(_fields_set=names)
    vars(read).clear()
    vars(read).update(values)
    return cast(_Read, read)


@cache
def _without_malformed(model: type[BaseModel]) -> type[BaseModel]:
    bases: Any = (_WithoutMalformed, model)
    return create_model(model.__name__, __base__=bases)


def _value(model: type[BaseModel], name: str, document: dict[str, Any]) -> Any:
    key = model.model_fields[name].alias or name
    given = document.get(key)
    try:
        alone = _alone(model, name).model_validate(
            {} if given is None else {key: given}, **_READING
        )
    except ValidationError:
        return _parts(model.model_fields[name].annotation, given)
    return getattr(alone, name)


@cache
def _alone(model: type[BaseModel], name: str) -> type[BaseModel]:
    """A model of this one value."""
    field = model.model_fields[name]
    only: dict[str, Any] = {name: (field.annotation, field)}
    return create_model(name, __config__=model.model_config, **only)


def _parts(annotation: Any, given: Any) -> Any:
    """The well-shaped parts of an object, or of a list or mapping of objects."""
    origin = get_origin(annotation)
    inner = [each for each in get_args(annotation) if each is not NoneType]
    if origin in (Union, UnionType):
        return _parts(inner[0], given)
    if origin is list and isinstance(given, list):
        return [_object(inner[0], item) for item in given]
    if origin in (dict, Mapping) and isinstance(given, dict):
        return {
            key: _object(inner[1], item)
            for text, item in given.items()
            for key in _keys(inner[0], text)
        }
    if isinstance(given, dict):
        return _object(annotation, given)
    raise MalformedValue


def _object(annotation: Any, given: Any) -> BaseModel:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return well_shaped(annotation, given)
    raise MalformedValue


def _keys(annotation: Any, text: Any) -> list[Any]:
    try:
        return [TypeAdapter(annotation).validate_python(text)]
    except ValidationError:
        return []
