"""Add an operation of SES that moto lacks."""

from typing import Final

import pytest
from moto.core.responses import EmptyResult
from moto.ses.responses import EmailResponse

SET_HEADERS: Final = "set_identity_headers_in_notifications_enabled"


def accept_headers_in_notifications(patch: pytest.MonkeyPatch) -> None:
    """Accept requests to include the headers of e-mails in notifications."""
    patch.setattr(EmailResponse, SET_HEADERS, lambda _: EmptyResult(), raising=False)
