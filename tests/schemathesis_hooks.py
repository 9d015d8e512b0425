"""What holds and no schema can say, so that schemathesis does not take it for a fault.

Loaded by the tests in process, and by the command that tests the deployed service.
"""

import json
from typing import Any

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData, Failure
from schemathesis.core.parameters import ParameterLocation
from schemathesis.openapi.checks import RejectedPositiveData


@schemathesis.hook
def filter_failure(context: Any, failure: Failure, case: Any, response: Any) -> bool:
    """Whether this is a fault of the service."""
    if isinstance(failure, RejectedPositiveData):
        return not (_says_nothing(response) or _key_was_used_before(response))
    if isinstance(failure, AcceptedNegativeData):
        return not (
            response.status_code == 413  # refused for its size, before its faults
            or _names_the_bad_rows(response)
            or _was_trimmed(case.body)
            or _differs_in_what_is_ignored(case)
        )
    return True


def _says_nothing(response: Any) -> bool:
    """A customer of nothing but blank texts and nulls, which count as not given."""
    errors = _body(response).get("errors", [])
    return bool(errors) and all(error["code"] == "empty" for error in errors)


def _key_was_used_before(response: Any) -> bool:
    return bool(response.status_code == 422)


def _names_the_bad_rows(response: Any) -> bool:
    """A partial batch is taken with its bad rows listed in the answer."""
    return bool(response.status_code == 201 and _body(response).get("rejected"))


def _was_trimmed(value: Any) -> bool:
    """A text with white space at an end is longer than what is measured of it."""
    if isinstance(value, dict):
        return any(map(_was_trimmed, [*value, *value.values()]))
    if isinstance(value, list):
        return any(map(_was_trimmed, value))
    return isinstance(value, str) and value != value.strip()


def _differs_in_what_is_ignored(case: Any) -> bool:
    """Unknown query parameters are ignored; credentials left out are put in by the tests."""
    broken = {place for place, part in case.meta.components.items() if part.mode.is_negative}
    known = {name: case.query[name] for name in case.query or {} if name in ("id", "partial")}
    return broken <= {ParameterLocation.QUERY, ParameterLocation.HEADER} and all(
        str(value).lower() in ("true", "false") for value in known.values()
    )


def _body(response: Any) -> dict[str, Any]:
    document = json.loads(response.content)
    return document if isinstance(document, dict) else {}
