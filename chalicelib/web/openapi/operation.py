"""Declare the OpenAPI operation of a route in the module that defines the route.

A declaration contains only strings and numbers, so it imports no models at start-up.
`make generate` reads the declarations, imports the models, and writes the document.
"""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, NotRequired, TypedDict, TypeVar, Unpack

if TYPE_CHECKING:
    from pydantic import BaseModel

View = TypeVar("View", bound=Callable[..., Any])


_Permission = Literal["read", "write", "erase"]


class Operation(TypedDict):
    """An operation of the OpenAPI document.

    Its id is the name of the view function in camel case, and its summary is the first line of the
    function's docstring.

    The generator adds the error responses that it derives from the route: 400 for a request body
    and a required parameter, 401 and 403 for partner routes, 413 and 415 for a request body, 422
    for an idempotency key, and 429, 500 and 503 for every route.

    Attributes:
        response: model of the response body, as a path below `chalicelib.domain`.
        parameters: descriptions by name of query parameter or header.
        body: model of the request body, as a path below `chalicelib.domain`.
        examples: request bodies by title.
        invalid: a request body whose validation errors are the example of the response 400.
        media_types: media types of a response that is not JSON.
        cache_header: the name of the header `Cache-Control` in `infrastructure/openapi/base.yaml`,
            if the response can be cached.
        status: the status of a successful response, if it differs from the default.
        no_content: when the response is 204 instead.
        permission: the permission that the API key of a partner needs, or several. Default:
            ``read``.
        missing: the kind of record that a response 404 names.
        errors: codes of further errors, which the generator cannot derive from the route.
    """

    tag: str
    description: str
    returns: str
    response: NotRequired[str]
    parameters: NotRequired[dict[str, str]]
    body: NotRequired[str]
    body_description: NotRequired[str]
    body_optional: NotRequired[bool]
    examples: NotRequired[dict[str, Any]]
    invalid: NotRequired[dict[str, Any]]
    media_types: NotRequired[tuple[str, ...]]
    cache_header: NotRequired[str]
    status: NotRequired[int]
    no_content: NotRequired[str]
    permission: NotRequired[_Permission | tuple[_Permission, ...]]
    missing: NotRequired[str]
    errors: NotRequired[tuple[str, ...]]


OPERATIONS: Final[dict[Callable[..., Any], Operation]] = {}
"""The declared operation of each view function."""

IDEMPOTENCY_KEY: Final = {
    "Idempotency-Key": "Makes retries safe. Use a new key of 1 to 255 printable ASCII characters"
    " for each record. A second request with the same key and the same input returns the record"
    " that the first request created and creates nothing."
}


def operation(**declared: Unpack[Operation]) -> Callable[[View], View]:
    """Declare the operation of a view function.

    Place this decorator directly above the function.
    """

    def declare(view: View) -> View:
        OPERATIONS[view] = declared
        return view

    return declare


def list_operation(tag: str, response: str, records: str = "", description: str = "") -> Operation:
    """Return the operation of a list with page numbers."""
    records = records or tag.lower()
    return Operation(
        tag=tag,
        description=description
        or f"Returns one page of the account's {records}, oldest first. A page after the last page"
        " has no items, but the same totals.",
        body="paging.PageRequest",
        body_description="The requested page. An empty body requests the first 10 records and needs"
        " no content type.",
        body_optional=True,
        examples={
            "The first page": {},
            "The second page with a limit of one record": {"limit": 1, "page": 2},
        },
        invalid={"limit": 101, "offset": 0},
        response=response,
        returns=f"The page of {records}.",
    )


def permissions_of(declared: Operation) -> tuple[str, ...]:
    """Return the permissions that an operation of a partner requires."""
    permission = declared.get("permission", "read")
    return (permission,) if isinstance(permission, str) else permission


def model_named(declared: str) -> type["BaseModel"]:
    """Import the model of a request or response body, declared as a path below the domain."""
    module, _, name = declared.rpartition(".")
    model: type[BaseModel] = getattr(importlib.import_module(f"chalicelib.domain.{module}"), name)
    return model
