"""What tests of services share: an empty cloud whose queues hand nothing over by themselves."""

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.services.caching import forget_everything_held


@pytest.fixture
def account(cloud: None) -> str:
    """The id of a new account."""
    forget_everything_held()
    return new_id()
