"""What tests of services share: an empty cloud whose queues hand nothing over by themselves."""

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.services.caching import clear_caches


@pytest.fixture
def account(cloud: None) -> str:
    """The id of a new account."""
    clear_caches()
    return new_id()
