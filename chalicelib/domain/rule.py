"""Rules of a document, and which of them can be judged while a part of it is malformed.

A value that does not fit its model is not there: whoever asks for it meets `MalformedValue`. A
rule says nothing from there on, so that it never says something wrong.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import wraps
from typing import ParamSpec, TypeVar

from chalicelib.domain.input_errors import InputError

_Given = ParamSpec("_Given")
_Value = TypeVar("_Value")
_Otherwise = TypeVar("_Otherwise")


class MalformedValue(Exception):
    """What was asked for is malformed, or follows from something that is."""


def rule(
    validate: Callable[_Given, Iterator[InputError]],
) -> Callable[_Given, Iterator[InputError]]:
    """Makes a rule end, with the faults found so far, where it asks for a malformed value."""

    @wraps(validate)
    def judge_what_is_well_shaped(
        *args: _Given.args, **kwargs: _Given.kwargs
    ) -> Iterator[InputError]:
        with suppress(MalformedValue):
            yield from validate(*args, **kwargs)

    return judge_what_is_well_shaped


def unless_malformed(read: Callable[[], _Value], otherwise: _Otherwise) -> _Value | _Otherwise:
    """What ``read`` gives, or ``otherwise`` when it asks for a malformed value."""
    try:
        return read()
    except MalformedValue:
        return otherwise
