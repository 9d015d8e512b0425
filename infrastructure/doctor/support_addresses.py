"""Check that each account sends only from domains that it owns."""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from pydantic import ValidationError

from admin.domain.mail_domain import domain_of, is_same_or_subdomain
from admin.storage.mail_domains import MailDomainRow
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.storage.forms import DOCUMENT, SurveyRow
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Problem

_CHECK: Final = (
    "Run: bin/feedback-admin support-email check ACCOUNT ADDRESS, first for the account that owns"
    " the domain. The command then stops other accounts from sending from the domain."
)


def check_support_addresses(deployed: DeployedStage) -> Iterator[Problem]:
    """Check the verified support addresses of all surveys."""
    senders = set()
    tables = map(deployed.resource_name, (SurveyRow.Meta.name, MailDomainRow.Meta.name))
    surveys, domains = (deployed.listed("dynamodb", "scan", "Items", TableName=t) for t in tables)
    for item in surveys:
        if item["part"]["S"] != DOCUMENT:
            continue
        document = SurveyRow.document.deserialize(item["document"]["B"])
        try:
            address = SavedSurvey.model_validate_json(document).support_email
        except ValidationError:
            continue  # `check_forms` reports the survey.
        if address and address.dkim_verified and address.return_path_verified:
            senders.add((domain_of(address.email), item["account_id"]["S"]))
    owners: dict[str, str] = {}
    for item in domains:
        owners |= MailDomainRow.owners.deserialize(item["owners"]["S"])
    yield from address_problems(senders, owners)


def address_problems(
    senders: Collection[tuple[str, str]], owners: Mapping[str, str]
) -> Iterator[Problem]:
    """Yield the domains from which several accounts send, or an account that is not the owner.

    Args:
        senders: each domain from which surveys are sent, with the account of the surveys.
        owners: the account that owns each domain.
    """
    for domain, account in sorted(senders):
        others = {
            other
            for name, other in senders
            if is_same_or_subdomain(name, domain) or is_same_or_subdomain(domain, name)
        } - {account}
        if others:
            names = ", ".join(sorted(others))
            detail = f"Account {account} sends from this domain, like other accounts: {names}."
            yield Problem(domain, detail, _CHECK)
        elif owners.get(domain) != account:
            owner = owners.get(domain, "no account")
            detail = f"Account {account} sends from this domain, which belongs to {owner}."
            yield Problem(domain, detail, _CHECK)
