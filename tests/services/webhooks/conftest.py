"""Fixtures for tests of webhooks."""

from collections.abc import Callable

import pytest

from chalicelib.services.workflows.read import signing_secrets_of, workflows_of
from tests.domain.workflows.factories import action_definition
from tests.services.moved_time import Time
from tests.services.webhooks.delivering import Receiver, ReceivingAccount, add_workflow
from tests.web.seeded_account import SeededAccount


@pytest.fixture
def seeded(
    account: str, time: Time, receiver: Receiver, seed: Callable[[], SeededAccount]
) -> ReceivingAccount:
    """Create an account with forms. The test's receiver receives the webhooks of the account."""
    return ReceivingAccount(**vars(seed()), receiver=receiver, time=time)


@pytest.fixture
def two_actions(seeded: ReceivingAccount) -> None:
    """Add a workflow with two actions. Load the workflow and the secrets into the caches."""
    add_workflow(seeded.account_id, action_definition(key="a"), action_definition(key="b"))
    assert workflows_of(seeded.account_id)
    assert signing_secrets_of(seeded.account_id)
