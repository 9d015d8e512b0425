"""Fixtures for tests of the use cases of operators."""

from tests.services.conftest import empty_tables, one_group_of_shards, seed, seeded
from tests.services.solicitation.conftest import provider, shop

__all__ = ["empty_tables", "one_group_of_shards", "provider", "seed", "seeded", "shop"]
