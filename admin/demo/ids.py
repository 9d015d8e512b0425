"""Ids of the demo data, derived from names."""

from chalicelib.domain.ids import derived_id


def demo_id(name: str) -> str:
    """Return the id for a name such as ``store lyon``."""
    return derived_id("demo", *name.split())


MAIN_ACCOUNT = demo_id("account main")
OTHER_ACCOUNT = demo_id("account other")
