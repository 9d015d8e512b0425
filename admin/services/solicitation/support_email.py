"""Register the domains of support addresses, and store their state in the surveys that use them.

A domain belongs to one account, and so do its subdomains. Otherwise, an account could send surveys
from a domain that another account has verified.
"""

from collections.abc import Callable, Collection, Iterator

from admin.domain.mail_domain import MailDomain, domain_of, is_same_or_subdomain
from admin.outbound import mail_domains
from admin.services.accounts.manage import require_account
from admin.services.forms.manage import SavedForm, change_form, list_forms
from admin.storage import mail_domains as owned_domains
from chalicelib.domain import clock
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.forms.survey import SavedSurvey, SupportEmail
from chalicelib.domain.ids import derived_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit


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

    Also store the state of the domain in the surveys that already use the address. Return the
    domain, and the names of all these surveys.

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

    def release(rows: Rows) -> None:
        owners = owned_domains.owners(rows, domain)
        if owners.get(domain) == account_id:
            others = {name: owner for name, owner in owners.items() if name != domain}
            owned_domains.set_owners(rows, domain, others)

    commit(release)
    return domain, names


def list_support_emails(account_id: str) -> list[tuple[SupportEmail, list[str]]]:
    """Return the support addresses of the account, sorted, with the names of their surveys.

    Raises:
        NotFound: the account does not exist.
    """
    require_account(account_id)
    used: dict[str, tuple[SupportEmail, list[str]]] = {}
    for survey in _surveys(account_id):
        if address := survey.support_email:
            used.setdefault(address.email, (address, []))[1].append(survey.name)
    return [used[email] for email in sorted(used)]


def _claim(account_id: str, domain: str) -> None:
    """Make the account the owner of a domain.

    Raises:
        Conflict: the domain, a parent domain or a subdomain belongs to another account.
    """

    def claim(rows: Rows) -> None:
        owners = owned_domains.owners(rows, domain)
        for name, owner in owners.items():
            overlaps = is_same_or_subdomain(name, domain) or is_same_or_subdomain(domain, name)
            if overlaps and owner != account_id:
                raise Conflict(f"The domain {name} belongs to account {owner}.")
        if domain not in owners:
            owned_domains.set_owners(rows, domain, {**owners, domain: account_id})

    commit(claim)


def _revoke(account_id: str, domain: str) -> list[str]:
    """Mark the account's support addresses in a domain as not verified.

    Return the names of the surveys that use these addresses.
    """

    def is_in_domain(address: SupportEmail | None) -> bool:
        return address is not None and domain_of(address.email) == domain

    def revoked(survey: SavedSurvey) -> SupportEmail | None:
        address = survey.support_email
        unverified = {"dkim_verified": False, "return_path_verified": False}
        return (
            address.model_copy(update=unverified) if address and is_in_domain(address) else address
        )

    chosen = [survey for survey in _surveys(account_id) if is_in_domain(survey.support_email)]
    return _change_addresses(chosen, revoked)


def _surveys(account_id: str) -> Iterator[SavedSurvey]:
    for form in list_forms(account_id, FormKind.SURVEY):
        if isinstance(form.saved, SavedSurvey):
            yield form.saved


def _uses(survey: SavedSurvey, email: str) -> bool:
    return survey.support_email is not None and survey.support_email.email == email


def _store(
    chosen: list[SavedSurvey], email: str, domain: MailDomain, new: Collection[str] = ()
) -> list[str]:
    """Store the state of the address in these surveys, and return their names.

    Args:
        new: the ids of surveys that use the address from now on.
    """

    def described(survey: SavedSurvey) -> SupportEmail | None:
        stored, now = survey.support_email, format_timestamp(clock.now())
        if not (survey.id in new or _uses(survey, email)):
            return stored
        if stored is None or stored.email != email:
            id_ = derived_id(survey.id, "support email", email)
            stored = SupportEmail(id=id_, created_at=now, updated_at=now, email=email)
        address = domain.describe(stored)
        is_same = address == survey.support_email
        return address if is_same else address.model_copy(update={"updated_at": now})

    return _change_addresses(chosen, described)


def _change_addresses(
    chosen: list[SavedSurvey], address_of: Callable[[SavedSurvey], SupportEmail | None]
) -> list[str]:
    """Replace the support addresses of surveys. Return the names of the surveys."""

    def change(form: SavedForm) -> SavedForm:
        if not isinstance(form, SavedSurvey):
            return form
        return form.model_copy(update={"support_email": address_of(form)})

    for survey in chosen:
        change_form(FormKind.SURVEY, survey.id, change)
    return [survey.name for survey in chosen]
