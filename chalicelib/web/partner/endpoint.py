"""Code that all partner endpoints share: credentials, request parsing and problem responses."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from chalice import Blueprint, Response
from chalice.app import Request
from pydantic import BaseModel

from chalicelib.domain.accounts.account import Credential, Permission, is_api_key
from chalicelib.domain.errors import InvalidInput, NotAuthenticated
from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER
from chalicelib.domain.idempotency import read_key
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.parsing import parse
from chalicelib.log import logger
from chalicelib.services.accounts.authenticate import authenticate
from chalicelib.web import query
from chalicelib.web.json_body import MAX_VALUES, read_json
from chalicelib.web.openapi.operation import OPERATIONS, permissions_of
from chalicelib.web.problems import problem
from chalicelib.web.request_log import log_unless_domain_error, request_id_of, source_of

KEY_HEADER: Final = "X-API-KEY"
SECRET_HEADER: Final = "X-API-SECRET"  # noqa: S105 - the header's name

Body = TypeVar("Body", bound=BaseModel)


@dataclass(frozen=True)
class PartnerRequest:
    """An authenticated request from a partner.

    Attributes:
        credential: the API key of the request, with its permissions.
        http: the request from Chalice.
    """

    credential: Credential
    http: Request

    def has(self, permission: Permission) -> bool:
        """Return whether the API key has a permission."""
        return permission in self.credential.permissions

    @property
    def account_id(self) -> str:
        """The id of the partner's account."""
        return self.credential.account_id

    def identifier(self, name: str = "id") -> str:
        """Return a required query parameter that is a UUID; see `query.identifier`."""
        return query.identifier(self.http, name)

    def idempotency_key(self) -> str | None:
        """Return the request's ``Idempotency-Key``, or None; see `read_key`."""
        return read_key(self.http.headers.get(IDEMPOTENCY_HEADER))

    def flag(self, name: str) -> bool:
        """Return a boolean query parameter; False if it is missing.

        Raises:
            InvalidInput: the value is neither ``true`` nor ``false``.
        """
        value = query.parameters(self.http).get(name)
        if value not in (None, "true", "false"):
            detail = "Must be true or false."
            raise InvalidInput([InputError(f"?{name}", "wrong_type", detail)])
        return value == "true"

    def json(self) -> Any:
        """Return the parsed JSON body; see `read_json`."""
        return read_json(self.http)

    def body(self, model: type[Body]) -> Body:
        """Parse the JSON body into the model; see `read_json`."""
        return parse(read_json(self.http, max_values=MAX_VALUES), model)

    def optional_body(self, model: type[Body]) -> Body:
        """Parse the JSON body into the model; an empty body gives the model's defaults."""
        return parse(read_json(self.http, max_values=MAX_VALUES, is_optional=True), model)


PartnerView = Callable[[PartnerRequest], BaseModel]


def partner_route(
    routes: Blueprint, method: str, path: str
) -> Callable[[PartnerView], Callable[[], Response]]:
    """Route requests to a view function that accepts a `PartnerRequest` and returns the response.

    The credentials and the permissions that the operation declares are checked before the rest of
    the request is read.
    """

    def decorate(view: PartnerView) -> Callable[[], Response]:
        permissions = [Permission(each) for each in permissions_of(OPERATIONS[view])]

        @functools.wraps(view)
        def endpoint() -> Response:
            http = routes.current_request
            try:
                credential = authenticate(
                    http.headers.get(KEY_HEADER, ""), http.headers.get(SECRET_HEADER, "")
                )
                logger.append_keys(account_id=credential.account_id)
                for permission in permissions:
                    credential.require(permission)
                return _json_response(view(PartnerRequest(credential, http)), method)
            except Exception as raised:
                error = raised
                if isinstance(error, NotAuthenticated):
                    logger.append_keys(source=source_of(http), api_key=_api_key_of(http))
                    error = _naming_missing_headers(http, error)
                if isinstance(error, InvalidInput):
                    # Imported here: most processes never respond to invalid input.
                    from chalicelib.web.hints import add_hints

                    add_hints(error, http, OPERATIONS[view])
                return problem(log_unless_domain_error(error), request_id_of(http))

        routes.route(path, methods=[method], content_types=[])(endpoint)
        return endpoint

    return decorate


def _naming_missing_headers(http: Request, error: NotAuthenticated) -> NotAuthenticated:
    missing = [name for name in (KEY_HEADER, SECRET_HEADER) if not http.headers.get(name)]
    match missing:
        case []:
            return error
        case [name]:
            return NotAuthenticated(f"The header {name} is missing or empty.")
    return NotAuthenticated(f"The headers {' and '.join(missing)} are missing or empty.")


def _api_key_of(http: Request) -> str:
    # Log no text without the format of an API key: it can be a secret in the wrong header.
    key = http.headers.get(KEY_HEADER, "")
    return key if is_api_key(key) else ""


def _json_response(resource: BaseModel, method: str) -> Response:
    """Return a JSON response. It contains customers' data and must not be cached."""
    return Response(
        body=resource.model_dump_json(),
        status_code=201 if method == "POST" else 200,
        headers={"Content-Type": "application/json", "Cache-Control": "no-store"},
    )
