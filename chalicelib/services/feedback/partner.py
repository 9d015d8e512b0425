"""Read feedback for partners."""

from collections.abc import Sequence

from chalicelib.domain.errors import NotFound
from chalicelib.domain.feedback.partner_view import PartnerFeedback, partner_view
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.services.accounts.directory import account_directory
from chalicelib.services.forms.wordings import current_form, wordings_of
from chalicelib.storage import feedback


def read_partner_feedback(account_id: str, feedback_id: str) -> PartnerFeedback:
    """Return a feedback record of the account.

    One AWS request if the form has not changed since and is cached.

    Raises:
        NotFound: the account has no feedback record with this id.
    """
    stored = feedback.find(feedback_id)
    if stored is None or stored.feedback.account_id != account_id:
        raise NotFound("feedback")
    return partner_views(account_id, [stored])[0]


def partner_views(account_id: str, records: Sequence[StoredFeedback]) -> list[PartnerFeedback]:
    """Return the partner views of feedback records of the account, in the same order."""
    directory = account_directory(account_id)
    views = []
    for stored, wording in zip(records, wordings_of([r.feedback for r in records]), strict=True):
        form = current_form(stored.feedback)
        name = form.saved.name if form else ""
        views.append(partner_view(stored, name, directory, wording))
    return views
