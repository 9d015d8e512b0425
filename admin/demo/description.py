"""Read and write the JSON file with the ids and credentials of the demo data for scripts."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from admin.feedback.output_file import replaced_file


class _Described(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, extra="forbid")


class OtherAccount(_Described):
    """The ids and credentials of the second account."""

    api_key: str
    api_secret: str
    customer_id: str
    purchase_id: str
    contact_form_id: str
    survey_id: str
    store_id: str


class DemoDescription(_Described):
    """The ids and credentials of the main account, and the description of the second account.

    Attributes:
        store_ids: the ids of the brand's stores. The contact form and the public survey are about
            these stores.
        trackers: the ids of unused trackers of the private survey.
        contact_form_page, survey_page, rtl_survey_page: the URLs of pages for respondents. The
            language of ``rtl_survey_page`` is written from right to left.
        mailbox: the URL that lists all sent messages as JSON; None if messages are sent to the
            customers.
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
    contact_form_page: str
    survey_page: str
    rtl_survey_page: str
    mailbox: str | None = None
    other: OtherAccount

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Load the description from a file. Return None if the file is missing or invalid."""
        try:
            return cls.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            return None

    def write(self, path: Path) -> None:
        """Write the description to a file that only the current user can read."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced_file(path) as file:
            file.write(self.model_dump_json(by_alias=True, indent=2).encode() + b"\n")
