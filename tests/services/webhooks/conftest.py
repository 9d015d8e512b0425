"""Fixtures for tests of webhooks."""

import pytest

from chalicelib.services.workflows.cached_workflows import signing_secrets_of, workflows_of
from tests.domain.workflows.factories import action_document
from tests.services.moved_time import Time
from tests.services.webhooks.delivering import Receiver, react
from tests.web.opened import Opened, open_account


@pytest.fixture
def opened(account: str, time: Time, receiver: Receiver) -> Opened:
    """Create an account with forms. The receiver gets its webhooks."""
    return open_account()


@pytest.fixture
def two_actions(opened: Opened) -> None:
    """Add a workflow with two actions, and cache it together with the signing secrets."""
    react(opened.account_id, action_document(key="a"), action_document(key="b"))
    assert workflows_of(opened.account_id)
    assert signing_secrets_of(opened.account_id)
