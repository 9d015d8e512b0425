"""What scripts need to know of the demo data: its ids and credentials, as one JSON file."""

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
        store_ids: the stores of ``brand_id``, which the contact form and the public survey are for.
        trackers: unused ones of the private survey.
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
        """The description that the file holds, or None."""
        try:
            return cls.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            return None

    def write(self, path: Path) -> None:
        """Put it into the file, which only the caller may read from then on."""
        path.parent.mkdir(parents=True, exist_ok=True)
        # A temporary file is made with mode 0600; readers see the old file or the new, whole.
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as made:
            made.write(self.model_dump_json(by_alias=True, indent=2) + "\n")
        os.replace(made.name, path)  # noqa: PTH105 - the name is a text
