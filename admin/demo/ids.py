"""The ids of the demo data, which follow from names."""

from chalicelib.domain.ids import derived_id


def demo_id(name: str) -> str:
    """The id of what the demo data calls so: ``store lyon``."""
    return derived_id("demo", *name.split())


MAIN_ACCOUNT = demo_id("account main")
OTHER_ACCOUNT = demo_id("account other")
