"""Preview the survey about a purchase: ``POST /partners/purchase/preview``."""

from chalicelib.domain import clock
from chalicelib.domain.purchases.partner_requests import PurchaseReport
from chalicelib.domain.solicitation.channel import OPTINS
from chalicelib.domain.solicitation.preview import SurveyPreview, preview
from chalicelib.services.purchases.record import check_request, fetch, save
from chalicelib.services.solicitation.case import facts_of
from chalicelib.storage import customers
from chalicelib.storage.dynamodb.unit_of_work import Rows


def preview_purchase(account_id: str, report: PurchaseReport) -> SurveyPreview:
    """Return the decision about the survey if the purchase was reported now. Nothing is written.

    Two AWS requests; one more if the customer exists, and one more if the stored purchase belongs
    to another customer.

    Raises:
        InvalidInput: the purchase violates a rule.
        RecordTooLarge: the purchase exceeds its size limit.
    """
    request = check_request(account_id, report)
    # A unit of work that is not committed.
    rows = Rows()
    fetch(rows, request)
    recorded = save(rows, request, clock.now(), solicit=report.solicit)
    customer, customer_id = recorded.customer, recorded.purchase.customer_id
    if not customer and customer_id and (stored := customers.find(account_id, customer_id)):
        optins = dict.fromkeys((OPTINS[channel] for channel in recorded.optins), True)
        customer = stored.model_copy(update=optins)
    facts = facts_of(rows, recorded.solicitation, recorded.purchase, customer)
    return preview(recorded.solicitation, facts)
