"""The ids and credentials of the demo data: the JSON file for scripts, and example requests."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from admin.output_file import replaced_file
from infrastructure.demo.ids import MAIN_ACCOUNT, demo_id

_AWS: Final = (
    "AWS_ENDPOINT_URL",
    "AWS_REGION",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "STAGE",
)
"""The environment variables that select the local cloud."""


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
        mailbox: the URL that lists all sent messages as JSON.
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
    mailbox: str
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

    def examples(self) -> str:
        """Return the credentials, commands with example requests, and the links of pages."""
        headers = f"-H 'X-API-KEY: {self.api_key}' -H 'X-API-SECRET: {self.api_secret}'"
        customer = f"{self.base_url}/partners/customer"
        survey = f"{self.base_url}/partners/survey"
        return f"""
Base URL      {self.base_url}
X-API-KEY     {self.api_key}
X-API-SECRET  {self.api_secret}
Mailbox       {self.mailbox}

Try:
curl -s {headers} '{customer}?id={self.customer_id}'
curl -s {headers} -H 'Content-Type: application/json' -d '{{"limit": 5}}' '{customer}/list'
curl -s {headers} '{survey}?id={self.survey_id}'

Import a purchase of a new customer. Seconds later, the mailbox contains the survey:
{purchase_command(os.environ)}

Open in a browser:
{self.contact_form_page}
{self.survey_page}
{self.rtl_survey_page}
"""


def purchase_command(environment: Mapping[str, str]) -> str:
    """Return a shell command that imports a purchase with the current time and requests a survey.

    The id and the e-mail address contain the time, so each run sends a survey.

    Args:
        environment: the environment variables that select the local cloud, among others.
    """
    purchase = {
        "source": "Site",
        "externalId": "demo-NOW",
        "storeId": demo_id("store lyon"),
        "date": "DATE",
        "customer": {"firstName": "Zoé", "email": "zoe.NOW@example.com", "emailOptin": True},
    }
    line = json.dumps(purchase, ensure_ascii=False)
    line = line.replace("NOW", "'$(date +%s)'").replace("DATE", "'$(date -u +%FT%TZ)'")
    variables = [f"{name}={quote(environment[name])}" for name in _AWS if name in environment]
    options = f"--account {MAIN_ACCOUNT} --solicit"
    command = f"{quote(sys.executable)} -m admin purchase import - {options}"
    return f"echo '{line}' | {' '.join(variables)} {command}"
