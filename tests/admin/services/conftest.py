"""Fixtures for tests of the use cases of operators."""

from tests.services.conftest import empty_tables, one_group_of_shards, seed, seeded

__all__ = ["empty_tables", "one_group_of_shards", "seed", "seeded"]
