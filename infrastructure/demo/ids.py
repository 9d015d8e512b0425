"""Derive the ids of the demo data from names."""

from chalicelib.domain.ids import derived_id


def demo_id(name: str) -> str:
    """Derive an id from a name such as ``store lyon``."""
    return derived_id("demo", *name.split())


MAIN_ACCOUNT = demo_id("account main")
OTHER_ACCOUNT = demo_id("account other")
