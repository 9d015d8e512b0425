"""An HTTP client for tests. It calls the app in the test process with a partner's credentials."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from chalice.test import Client

from admin.services.accounts.manage import create_account, issue_key
from chalicelib.domain.accounts.account import DEFAULT_PERMISSIONS, Permission
from chalicelib.domain.ids import new_id
from tests.policies import allowed

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Response:
    """An HTTP response.

    Attributes:
        headers: the header values by lower-case name.
    """

    status: int
    headers: dict[str, str]
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def errors(self) -> list[tuple[str, str]]:
        """Return the pointer and code of each error.

        Check that the body is a valid problem details object.
        """
        assert self.headers["content-type"] == "application/problem+json"
        assert self.json["status"] == self.status == 400
        assert self.json["faultCount"] >= len(self.json["errors"])
        assert all(error["detail"] for error in self.json["errors"])
        return [(error["pointer"], error["code"]) for error in self.json["errors"]]


@dataclass(frozen=True)
class Partner:
    """A client with the credentials of one account."""

    client: Client
    account_id: str
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, headers: dict[str, str] | None = None) -> Response:
        return self._send("GET", path, b"", headers or {})

    def post(self, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Response:
        """Send a request and return the response.

        A body of type bytes is sent unchanged. Any other body is sent as JSON.
        """
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self._send("POST", path, raw, {"Content-Type": "application/json"} | (headers or {}))

    def patch(self, path: str, body: Any) -> Response:
        """Send the body as JSON and return the response."""
        declared = {"Content-Type": "application/json"}
        return self._send("PATCH", path, json.dumps(body).encode(), declared)

    def _send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Response:
        sent_headers = {k: v for k, v in (self.headers | headers).items() if v is not None}
        with allowed("api_handler"):
            response = self.client.http.request(method, path, headers=sent_headers, body=body)
        return Response(
            response.status_code,
            {name.lower(): value for name, value in response.headers.items()},
            response.body.decode(),
        )


def new_partner(client: Client, *permissions: Permission) -> Partner:
    """Create an account and return a client with a key with these permissions.

    Without permissions, the key has the default permissions.
    """
    account = create_account("Maison Lumen", new_id())
    return with_permissions(Partner(client, account.id), *permissions)


def with_permissions(
    partner: Partner, *permissions: Permission, ends_at: datetime | None = None
) -> Partner:
    """Return a client of the same account with another key."""
    chosen = frozenset(permissions) or DEFAULT_PERMISSIONS
    credential, secret = issue_key(partner.account_id, "operator", "", chosen, ends_at)
    headers = {"X-API-KEY": credential.api_key, "X-API-SECRET": secret}
    return Partner(partner.client, partner.account_id, headers)
