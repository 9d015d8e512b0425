"""Build all demo data as definitions."""

import json
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import yaml

from admin.services.definitions.definition import Kind, RawDefinition
from admin.services.definitions.plain_yaml import PlainLoader, read_yaml
from infrastructure.demo.customers import main_customers, other_customers
from infrastructure.demo.ids import MAIN_ACCOUNT, OTHER_ACCOUNT, demo_id
from infrastructure.demo.purchases import main_purchases, other_purchases

ACCOUNTS: Final = {MAIN_ACCOUNT: "Groupe Lumen", OTHER_ACCOUNT: "Café Minuit"}

EXAMPLE_DAY: Final = date(2026, 10, 26)
"""The day on which the documentation's examples load the demo data."""

_FOLDER: Final = Path(__file__).parent
_FILES: Final = {
    MAIN_ACCOUNT: ("places.yaml", "contact-forms.yaml", "surveys.yaml"),
    OTHER_ACCOUNT: ("other-account.yaml",),
}
_RECORDS: Final = {
    MAIN_ACCOUNT: (main_customers, main_purchases),
    OTHER_ACCOUNT: (other_customers, other_purchases),
}


class _DemoLoader(PlainLoader):
    """A YAML loader that replaces ``!id NAME`` with the id derived from the name."""


def _id(loader: PlainLoader, node: yaml.ScalarNode) -> str:
    return demo_id(str(loader.construct_scalar(node)))


_DemoLoader.add_constructor("!id", _id)


def demo_definitions(day: date = EXAMPLE_DAY) -> list[RawDefinition]:
    """Return the definitions of both accounts.

    Args:
        day: the day on which the demo data is loaded for the first time. The dates of purchases are
            relative to this day. Everything else is always the same.
    """
    return [
        RawDefinition(f"demo data of {ACCOUNTS[account]}, definition {number}", content)
        for account in ACCOUNTS
        for number, content in enumerate(_contents_of(account, day), start=1)
    ]


def version_of(definitions: list[RawDefinition]) -> str:
    """Return a hash of the definitions. The hash identifies this version of the demo data."""
    text = json.dumps([definition.content for definition in definitions], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def _contents_of(account_id: str, day: date) -> list[dict[str, Any]]:
    # One document, so that the files share YAML anchors.
    texts = ((_FOLDER / name).read_text(encoding="utf-8") for name in _FILES[account_id])
    (from_files,) = read_yaml("".join(texts), _DemoLoader)
    build_customers, build_purchases = _RECORDS[account_id]
    people = build_customers()
    contents = (*from_files, *people, *build_purchases([person["id"] for person in people], day))
    return [{**content, "account": account_id} for content in contents]


def stores_of(definitions: list[RawDefinition], brand_id: str) -> list[str]:
    """Return the ids of a brand's stores in the order of the definitions."""
    return [
        definition.content["id"]
        for definition in definitions
        if definition.content["kind"] == Kind.STORE and definition.content["brandId"] == brand_id
    ]
