"""What tests of services share: an empty cloud whose queues hand nothing over by themselves."""

from collections.abc import Iterator

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.services.held import forget_everything_held


@pytest.fixture
def account(cloud: None) -> Iterator[str]:
    """The id of a new account."""
    forget_everything_held()
    yield new_id()
