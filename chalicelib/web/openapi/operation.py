"""What the interface description says of one endpoint, before it becomes OpenAPI."""

from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from chalicelib.domain.errors import FeedbackError, NotAuthenticated, TooManyRequests, Unavailable

JSON: Final = "application/json"

Schema = dict[str, Any]


@dataclass(frozen=True)
class Parameter:
    """Something that a request carries in its query or its headers.

    Attributes:
        place: ``query`` or ``header``.
    """

    name: str
    description: str
    schema: Schema
    example: Any
    place: str = "query"
    required: bool = False


@dataclass(frozen=True)
class RequestBody:
    """What a request carries in its body.

    Attributes:
        model: the model that validates it.
        examples: whole bodies, each under a title of a few words.
        required: whether a request may come without a body.
    """

    model: type[BaseModel]
    description: str
    examples: dict[str, Any]
    required: bool = True
    media_type: str = JSON


@dataclass(frozen=True)
class Answer:
    """What an endpoint answers when all is well.

    Attributes:
        content: the model that is answered, a schema where there is no model, None for no body.
        headers: names of headers among the description's components.
    """

    status: int
    description: str
    content: type[BaseModel] | Schema | None
    example: Any = None
    headers: tuple[str, ...] = ("NoStore",)
    media_type: str = JSON


@dataclass(frozen=True)
class Operation:
    """One endpoint.

    Attributes:
        identifier: names the operation to generated clients.
        answers: the good answers, the usual one first.
        errors: how it may fail, one instance for each status; `ALWAYS` need not be named, and
            neither need `NotAuthenticated` where credentials are asked for.
        needs_credentials: whether both credential headers must be there.
    """

    method: str
    path: str
    identifier: str
    tag: str
    summary: str
    description: str
    answers: tuple[Answer, ...]
    parameters: tuple[Parameter, ...] = ()
    body: RequestBody | None = None
    errors: tuple[FeedbackError, ...] = ()
    needs_credentials: bool = True

    @property
    def all_errors(self) -> tuple[FeedbackError, ...]:
        """Every error that the operation may answer with."""
        credentials = (NotAuthenticated(),) if self.needs_credentials else ()
        return (*self.errors, *credentials, *ALWAYS)


ALWAYS: Final = (
    TooManyRequests(retry_after=1),
    Unavailable("The database is busy; try again in a moment."),
)
"""Errors that any request may meet: the gateway's throttle, and a database that is busy."""
