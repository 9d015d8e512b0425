"""The common part of partner endpoints: credentials, request parsing, problem responses."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from chalice import Blueprint, Response
from chalice.app import Request
from pydantic import BaseModel

from chalicelib.domain.errors import FeedbackError, InvalidInput
from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER
from chalicelib.domain.idempotency import read_key
from chalicelib.domain.input_errors import InputError
from chalicelib.log import logger
from chalicelib.services.accounts.authenticate import authenticate
from chalicelib.web import json_body, query
from chalicelib.web.problems import problem, unhandled_exception
from chalicelib.web.request_log import note_account, request_id_of

KEY_HEADER: Final = "X-API-KEY"
SECRET_HEADER: Final = "X-API-SECRET"  # noqa: S105 - the header's name

Body = TypeVar("Body", bound=BaseModel)


@dataclass(frozen=True)
class PartnerRequest:
    """A request from a partner whose credentials hold.

    Attributes:
        account_id: the partner's account.
        http: the request as it came.
    """

    account_id: str
    http: Request

    def identifier(self, name: str = "id") -> str:
        """The query parameter of this name, as `query.identifier` reads it."""
        return query.identifier(self.http, name)

    def idempotency_key(self) -> str | None:
        """The request's ``Idempotency-Key``, as `read_key` reads it."""
        return read_key(self.http.headers.get(IDEMPOTENCY_HEADER))

    def flag(self, name: str) -> bool:
        """The query parameter of this name, ``true`` or ``false``; false when it is missing.

        Raises:
            InvalidInput: it is anything else.
        """
        parameters = self.http.query_params
        given = parameters.get(name, "false") if parameters else "false"
        if given not in ("true", "false"):
            detail = "This must be true or false."
            raise InvalidInput([InputError(f"?{name}", "wrong_type", detail)])
        return given == "true"

    def json(self) -> Any:
        """The JSON body, as `json_body.read_json` reads it."""
        return json_body.read_json(self.http)

    def body(self, model: type[Body]) -> Body:
        """The JSON body, as `json_body.read_model` reads it."""
        return json_body.read_model(self.http, model)

    def optional_body(self, model: type[Body]) -> Body:
        """The JSON body, or the model's defaults when there is none."""
        return json_body.read_optional_model(self.http, model)


PartnerView = Callable[[PartnerRequest], Response]


def partner_endpoint(routes: Blueprint) -> Callable[[PartnerView], Callable[[], Response]]:
    """Turns a view of a `PartnerRequest` into one that Chalice can route to.

    Credentials are judged before anything else of the request is looked at.
    """

    def decorate(view: PartnerView) -> Callable[[], Response]:
        @functools.wraps(view)
        def endpoint() -> Response:
            http = routes.current_request
            try:
                account_id = authenticate(
                    http.headers.get(KEY_HEADER, ""), http.headers.get(SECRET_HEADER, "")
                )
                note_account(account_id)
                return view(PartnerRequest(account_id, http))
            except FeedbackError as error:
                return problem(error, request_id_of(http))
            except Exception:
                logger.exception("unhandled exception", request_id=request_id_of(http))
                return unhandled_exception(request_id_of(http))

        return endpoint

    return decorate


def answer(resource: BaseModel, status: int = 200) -> Response:
    """A resource as JSON. Partner answers hold customers' data, so nobody may keep a copy."""
    return Response(
        body=resource.model_dump_json(),
        status_code=status,
        headers={"Content-Type": "application/json", "Cache-Control": "no-store"},
    )
