"""What holds and no schema can say, so that schemathesis does not take it for a fault.

Loaded by the tests in process, and by the command that tests the deployed service.
"""

import json
from typing import Any

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData, Failure
from schemathesis.openapi.checks import RejectedPositiveData


@schemathesis.hook
def filter_failure(context: Any, failure: Failure, case: Any, response: Any) -> bool:
    """Whether this is a fault of the service."""
    if isinstance(failure, RejectedPositiveData):
        return not (_says_nothing(response) or _key_was_used_before(response))
    if isinstance(failure, AcceptedNegativeData):
        return not _names_the_bad_rows(response)
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


def _body(response: Any) -> dict[str, Any]:
    document = json.loads(response.content)
    return document if isinstance(document, dict) else {}
