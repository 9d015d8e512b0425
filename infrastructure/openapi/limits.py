"""The maximum number of items of arrays in responses, whose models do not contain it."""

from typing import Any, Final

from admin.domain.forms.build import MAX_FORM_BYTES
from admin.domain.tags import MAX_TAGS
from admin.domain.workflows.definition import MAX_ACTIONS
from chalicelib.domain.accounts.account import Permission
from chalicelib.domain.customers.import_batch import MAX_LISTED_ERRORS
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.feedback.answers import MAX_VALUES
from chalicelib.domain.feedback.statistics import MAX_GROUPS
from chalicelib.domain.feedback.submission import MAX_ANSWERS
from chalicelib.domain.forms.survey import SendMode
from chalicelib.domain.input_errors import MAX_ERRORS
from chalicelib.domain.paging import MAX_LIMIT, MAX_LISTED_BYTES
from chalicelib.domain.parsing import MAX_ROWS
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.webhooks.partner_view import MAX_ATTEMPTS_SHOWN
from chalicelib.services.erasure.erase import MAX_LISTED
from chalicelib.services.purchases.report import MAX_ROW_ERRORS

_PAGE: Final = MAX_LIMIT
_FORM: Final = MAX_FORM_BYTES // 2
"""Each item of an array in the JSON of a form takes at least two bytes, with its comma."""
_RECORD: Final = MAX_LISTED_BYTES // 2
"""The same for a customer or a purchase."""

_MAX_ITEMS: Final = {
    "AcceptedBatch.rejected": MAX_ROWS,
    "CustomerConsent.addresses": len(Channel),
    "FeedPage.removed": _PAGE,
    "ImportProgress.errors": MAX_LISTED_ERRORS,
    "OptedOut.channels": len(Channel),
    "OtherCustomers.ids": MAX_LISTED,
    "ErasureReceipt.suppressedChannels": len(Channel),
    "PartnerAccount.permissions": len(Permission),
    "PartnerAnswer.displayedValues": MAX_VALUES,
    "PartnerAnswer.values": MAX_VALUES,
    "PartnerCustomer.attributes": _RECORD,
    "PartnerCustomer.dataSources": len(DataSource),
    "PartnerCustomer.tags": MAX_TAGS,
    "PartnerFeedback.answers": MAX_ANSWERS,
    "PartnerPurchase.attributes": _RECORD,
    "PartnerSurvey.sendingChannels": len(SendMode),
    "PartnerWorkflow.actions": MAX_ACTIONS,
    "Problem.errors": MAX_ERRORS,
    "PublicContactForm.brandName": 1,
    "RecordedRow.errors": MAX_ROW_ERRORS,
    "RejectedRow.errors": MAX_ERRORS,
    "Statistics.items": MAX_GROUPS,
    "WebhookDeliveryDetails.attempts": MAX_ATTEMPTS_SHOWN,
}
_PARTS_OF_FORMS: Final = (
    "FieldDependency", "PartnerContactForm", "PartnerField", "PartnerSurvey", "PublicContactForm",
    "PublicField", "PublicFieldDependency", "PublicSurvey",
)  # fmt: skip
UNLIMITED: Final = frozenset(
    (
        "ErasureReceipt.remainingCopies",
        "PublicContactForm.storeList",
        "PublicSurvey.storeList",
    )
)
"""Arrays without a limit."""


def limit_arrays(schemas: dict[str, dict[str, Any]]) -> None:
    """Add the maximum number of items to the arrays that have a limit.

    Raises:
        KeyError: the limit of an array is not known.
    """
    for name, schema in schemas.items():
        for field, described in schema.get("properties", {}).items():
            path = f"{name}.{field}"
            is_array = "array" in described.get("type", ())
            if is_array and "maxItems" not in described and path not in UNLIMITED:
                described["maxItems"] = _limit_of(name, field)


def _limit_of(name: str, field: str) -> int:
    limit = _MAX_ITEMS.get(f"{name}.{field}")
    if limit is not None:
        return limit
    if field == "items":
        return _PAGE
    if name in _PARTS_OF_FORMS:
        return _FORM
    raise KeyError(f"{name}.{field}")
