"""Preview the survey about a purchase: ``POST /partners/purchase/preview``."""

from chalicelib.domain.purchases.partner_requests import PurchaseReport
from chalicelib.domain.solicitation.preview import SurveyPreview, preview
from chalicelib.services.purchases.record import (
    check_request,
    load,
    plan_recording,
    require_customer,
)
from chalicelib.services.solicitation.case import facts_of
from chalicelib.storage import customers


def preview_purchase(account_id: str, report: PurchaseReport) -> SurveyPreview:
    """Return the decision about the survey if the purchase was reported now. Nothing is written.

    Two AWS requests; three if the customer exists.

    Raises:
        InvalidInput: the purchase violates a rule.
        RecordTooLarge: the purchase exceeds its size limit.
    """
    request = check_request(account_id, report)
    known, now = load(request)
    require_customer(request, known)
    new = plan_recording(request, known, now, solicit=report.solicit)
    customer = new.customer
    if known.customer_id and (stored := customers.find(account_id, known.customer_id)):
        customer = stored.model_copy(update=dict.fromkeys(new.optins, True))
    solicitation = known.solicitation or new.solicitation
    facts = facts_of(solicitation, new.version.purchase, customer)
    return preview(solicitation, facts)
