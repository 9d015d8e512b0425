"""The description of the demo data for scripts: ids and credentials in one JSON file."""

import os
import tempfile
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel


class _Described(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, extra="forbid")


class OtherAccount(_Described):
    """The second account."""

    api_key: str
    api_secret: str
    customer_id: str
    purchase_id: str
    contact_form_id: str
    survey_id: str
    store_id: str


class DemoDescription(_Described):
    """The main account.

    Attributes:
        store_ids: the stores of ``brand_id``, which the contact form and the public survey target.
        trackers: unused trackers of the private survey.
    """

    base_url: str
    account_id: str
    api_key: str
    api_secret: str
    webhook_secret: str
    brand_id: str
    store_ids: list[str]
    contact_form_id: str
    survey_id: str
    private_survey_id: str
    trackers: list[str]
    purchase_id: str
    customer_id: str
    other: OtherAccount

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Load the description from the file. Return None if there is none."""
        try:
            return cls.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            return None

    def write(self, path: Path) -> None:
        """Write the description to the file, readable by the caller only."""
        path.parent.mkdir(parents=True, exist_ok=True)
        # The temporary file has mode 0600. Readers see either the old or the new file.
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as made:
            made.write(self.model_dump_json(by_alias=True, indent=2) + "\n")
        os.replace(made.name, path)  # noqa: PTH105 - the name is a text
