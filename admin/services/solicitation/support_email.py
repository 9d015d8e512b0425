"""Register the domains of support addresses, and store their state in the surveys that use them.

A domain belongs to one account, and so do its subdomains. Otherwise, an account could send surveys
from a domain that another account has verified.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial

from admin.outbound import mail_domains
from admin.services.accounts.manage import require_account
from admin.services.forms.manage import SavedForm, change_form
from admin.storage import mail_domains as owned_domains
from chalicelib.domain import clock
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.forms.survey import SavedSurvey, SupportEmail
from chalicelib.domain.ids import derived_id
from chalicelib.domain.paging import all_pages
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.mail_domain import (
    MailDomain,
    domain_of,
    is_same_or_subdomain,
)
from chalicelib.storage.dynamodb.transactions import retry_on_contention
from chalicelib.storage.forms import surveys


@dataclass(frozen=True)
class UsedSupportEmail:
    """A support address and the names of the surveys that use it."""

    support_email: SupportEmail
    survey_names: tuple[str, ...]


def register_mail_domain(email: str) -> MailDomain:
    """Register the domain of a sender address with SES. A repeated call changes nothing."""
    return mail_domains.register(domain_of(email))


def require_mail_domain(email: str) -> MailDomain:
    """Return the domain of a sender address with its current state.

    Raises:
        NotFound: the domain is not registered.
    """
    domain = mail_domains.find(domain_of(email))
    if domain is None:
        raise NotFound("registered mail domain")
    return domain


def create_support_email(
    account_id: str, email: str, survey_ids: Collection[str] = ()
) -> tuple[MailDomain, list[str]]:
    """Register the domain of a support address, and use the address in these surveys.

    Also update the surveys that already use the address. Return the domain, and the names of all
    changed surveys.

    Raises:
        NotFound: the account does not exist, or it has no survey with one of the ids.
        Conflict: the domain, a parent domain or a subdomain belongs to another account.
    """
    require_account(account_id)
    saved = list(_surveys(account_id))
    if not {survey.id for survey in saved}.issuperset(survey_ids):
        raise NotFound("survey")
    _claim(account_id, domain_of(email))
    domain = register_mail_domain(email)
    chosen = [survey for survey in saved if survey.id in survey_ids or _uses(survey, email)]
    return domain, _store(chosen, email, domain, survey_ids)


def check_support_email(account_id: str, email: str) -> tuple[MailDomain, list[str]]:
    """Read the state of a support address from SES, and store the state in the surveys.

    Return the domain, and the names of these surveys.

    Raises:
        NotFound: the account does not exist, or the domain is not registered.
        Conflict: the domain, a parent domain or a subdomain belongs to another account. The surveys
            are no longer sent from the address.
    """
    require_account(account_id)
    domain = require_mail_domain(email)
    try:
        _claim(account_id, domain.domain)
    except Conflict:
        _revoke(account_id, domain.domain)
        raise
    chosen = [survey for survey in _surveys(account_id) if _uses(survey, email)]
    return domain, _store(chosen, email, domain)


def release_mail_domain(account_id: str, email: str) -> tuple[str, list[str]]:
    """Release the domain of a support address, so that another account can use it.

    The account's surveys are no longer sent from addresses in this domain. Return the domain, and
    the names of these surveys. A repeated call changes nothing. SES keeps the domain.

    Raises:
        NotFound: the account does not exist.
    """
    require_account(account_id)
    domain = domain_of(email)
    names = _revoke(account_id, domain)

    def attempt() -> None:
        owners = owned_domains.load_owners(domain)
        if owners.get(domain) == account_id:
            others = {name: owner for name, owner in owners.items() if name != domain}
            owned_domains.replace_owners(domain, owners, others)

    retry_on_contention(attempt)
    return domain, names


def list_support_emails(account_id: str) -> list[UsedSupportEmail]:
    """Return the support addresses of the account's surveys, sorted by address.

    Raises:
        NotFound: the account does not exist.
    """
    require_account(account_id)
    addresses: dict[str, SupportEmail] = {}
    names: dict[str, list[str]] = {}
    for survey in _surveys(account_id):
        if support_email := survey.support_email:
            addresses.setdefault(support_email.email, support_email)
            names.setdefault(support_email.email, []).append(survey.name)
    return [UsedSupportEmail(addresses[email], tuple(names[email])) for email in sorted(addresses)]


def _claim(account_id: str, domain: str) -> None:
    """Make the account the owner of a domain.

    Raises:
        Conflict: the domain, a parent domain or a subdomain belongs to another account.
    """

    def attempt() -> None:
        owners = owned_domains.load_owners(domain)
        for name, owner in owners.items():
            overlaps = is_same_or_subdomain(name, domain) or is_same_or_subdomain(domain, name)
            if overlaps and owner != account_id:
                raise Conflict(f"The domain {name} belongs to account {owner}.")
        if domain not in owners:
            owned_domains.replace_owners(domain, owners, owners | {domain: account_id})

    retry_on_contention(attempt)


def _revoke(account_id: str, domain: str) -> list[str]:
    """Mark the account's support addresses in a domain as not verified.

    Return the names of the surveys that use these addresses.
    """
    unverified = {"dkim_verified": False, "return_path_verified": False}

    def change(survey: SavedForm) -> SavedForm:
        if not isinstance(survey, SavedSurvey) or not _is_in_domain(survey, domain):
            return survey
        address = survey.support_email
        changed = address and address.model_copy(update=unverified)
        if changed == address:
            return survey
        return survey.model_copy(update={"support_email": changed})

    chosen = [survey for survey in _surveys(account_id) if _is_in_domain(survey, domain)]
    for survey in chosen:
        change_form(FormKind.SURVEY, survey.id, change)
    return [survey.name for survey in chosen]


def _is_in_domain(survey: SavedSurvey, domain: str) -> bool:
    address = survey.support_email
    return address is not None and domain_of(address.email) == domain


def _surveys(account_id: str) -> Iterator[SavedSurvey]:
    for page, _ in all_pages(partial(surveys.page, account_id)):
        yield from (SavedSurvey.model_validate_json(stored.document) for stored in page)


def _uses(survey: SavedSurvey, email: str) -> bool:
    return survey.support_email is not None and survey.support_email.email == email


def _store(
    chosen: list[SavedSurvey], email: str, domain: MailDomain, new: Collection[str] = ()
) -> list[str]:
    def change(survey: SavedForm) -> SavedForm:
        if not isinstance(survey, SavedSurvey) or not (survey.id in new or _uses(survey, email)):
            return survey
        now = format_timestamp(clock.now())
        before = survey.support_email
        if before is None or before.email != email:
            before = SupportEmail(
                id=derived_id(survey.id, "support email", email),
                created_at=now,
                updated_at=now,
                email=email,
            )
        described = domain.describe(before)
        if described == survey.support_email:
            return survey
        dated = described.model_copy(update={"updated_at": now})
        return survey.model_copy(update={"support_email": dated})

    for survey in chosen:
        change_form(FormKind.SURVEY, survey.id, change)
    return [survey.name for survey in chosen]
