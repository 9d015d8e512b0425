"""Check that the service can read all contact forms and surveys."""

from collections.abc import Iterator
from typing import Final

from pydantic import ValidationError

from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.services.forms.saved import is_archived
from chalicelib.storage.forms import DOCUMENT, ContactFormRow, SurveyRow
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Problem

_KINDS: Final = (
    ("form", ContactFormRow, SavedContactForm),
    ("survey", SurveyRow, SavedSurvey),
)
"""The noun of the commands, the table and the model of each kind of form."""


def check_forms(deployed: DeployedStage) -> Iterator[Problem]:
    """Find the contact forms and surveys that this version cannot read, without archived ones."""
    for noun, row, model in _KINDS:
        table = deployed.resource_name(row.Meta.name)
        for item in deployed.listed("dynamodb", "scan", "Items", TableName=table):
            if item["part"]["S"] != DOCUMENT:
                continue
            document = row.document.deserialize(item["document"]["B"])
            form_id, account_id = item["form_id"]["S"], item["account_id"]["S"]
            try:
                model.model_validate_json(document)
            except ValidationError:
                if not is_archived(document):
                    detail = f"This version cannot read the {noun} of the account {account_id}."
                    fix = (
                        "Deploy the version of the service that saved it, or archive it:"
                        f" bin/feedback-admin {noun} archive {form_id}"
                    )
                    yield Problem(form_id, detail, fix)
