"""Show feedback records as rows of a table, or one record as text or as JSON."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from admin.services.feedback.find import FeedbackDescription, read_feedback
from admin.services.forms.manage import name_of_form
from admin.terminal import cell_text, prints_json, results, show_json, show_properties, show_table
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.wording import AnsweredQuestion
from chalicelib.domain.purchases.purchase import Purchase

_MAX_COMMENT: Final = 120
_FORM_KINDS: Final = {FormKind.CONTACT_FORM: "contact form", FormKind.SURVEY: "survey"}


def show_list(directory: Directory, found: Sequence[StoredFeedback]) -> None:
    """Print one row for each feedback record, with the names of its form and its store."""

    form_name = cache(name_of_form)
    show_table(
        "Id Created Rating Store Form Language Labels Test Partial Comment".split(),
        [
            [
                stored.feedback.id,
                stored.feedback.created_at,
                stored.feedback.rating,
                directory.name_of(stored.feedback.store_id or ""),
                form_name(stored.feedback.kind, stored.feedback.form_id),
                stored.feedback.language.value,
                _labels(stored.feedback),
                stored.is_test,
                stored.feedback.is_partial,
                comment_of(stored.feedback),
            ]
            for stored in found
        ],
        wide=["Store", "Form", "Language", "Labels", "Test", "Partial"],
    )


def comment_of(record: Feedback) -> str:
    """Return the start of the first long text, on one line; ``""`` if there is none.

    A short text is often a name.
    """
    comments = (a.values[0] for a in record.answers if a.type is FieldType.LONG_TEXT)
    comment = " ".join(next(comments, "").split())
    return comment if len(comment) <= _MAX_COMMENT else f"{comment[: _MAX_COMMENT - 1]}…"


def summary_of(feedback_id: str) -> str:
    """Describe a feedback record in one line, for a confirmation. Two AWS requests.

    Raises:
        NotFound: the feedback record does not exist.
    """
    record = read_feedback(feedback_id).feedback
    rating = "no rating" if record.rating is None else f"rating {cell_text(record.rating)}"
    comment = comment_of(record)
    parts = [
        f"{_FORM_KINDS[record.kind]} {name_of_form(record.kind, record.form_id)}",
        cell_text(record.created_at),
        rating,
        *([f'"{comment}"'] if comment else []),
    ]
    return f"the feedback {record.id} ({', '.join(parts)})"


def show_description(description: FeedbackDescription) -> None:
    """Print the feedback record with its answers, respondent, purchase and deliveries."""
    record = description.stored.feedback
    answers = description.wording.of_answers(record.answers, record.language)
    if prints_json():
        show_json(_record(description, answers))
        return
    show_properties(_properties(description))
    results().print("")
    show_table(
        ["Question", "Answer", "Type"],
        [
            [each.label, "\n".join(each.displayed_values), each.answer.type.value]
            for each in answers
        ],
        wraps=True,
    )
    if description.deliveries:
        results().print("")
        show_table(
            ["Delivery", "Workflow and action", "State", "Attempts", "Reason"],
            [
                [execution.id, name, execution.state.value, execution.attempt, execution.reason]
                for name, execution in description.deliveries
            ],
        )


def _properties(description: FeedbackDescription) -> dict[str, object]:
    record = description.stored.feedback
    form = description.form.saved.name if description.form else "deleted"
    return {
        "Feedback": record.id,
        "Account": record.account_id,
        "Form": f"{form} ({_FORM_KINDS[record.kind]} {record.form_id})",
        "Created": record.created_at,
        "State": _state(description),
        "Store": _place(description, record.store_id),
        "Brand": _place(description, record.brand_id),
        "Language": record.language.value,
        "Source": record.source.value,
        "Rating": "none" if record.rating is None else record.rating,
        "Labels": _labels(record) or "none",
        "Respondent": _respondent(description),
        "Purchase": _purchase(description),
        "Redirect": record.redirect_to or "none",
    }


def _labels(record: Feedback) -> str:
    return ", ".join(f"{name}={value}" for name, value in record.labels.items())


def _state(description: FeedbackDescription) -> str:
    stored = description.stored
    suffix = " (test)" * stored.is_test + " (partial)" * stored.feedback.is_partial
    return f"{stored.state.value}{suffix}"


def _place(description: FeedbackDescription, place_id: str | None) -> str:
    if place_id is None:
        return "none"
    return f"{description.directory.name_of(place_id) or 'deleted'} ({place_id})"


def _respondent(description: FeedbackDescription) -> str:
    customer, customer_id = description.customer, description.stored.feedback.customer_id
    if customer_id is None:
        return "unknown"
    if customer is None:
        return f"deleted (customer {customer_id})"
    known = (customer.display_name, customer.email, customer.phone_number)
    return ", ".join([*filter(None, known), f"customer {customer.id}"])


def _purchase(description: FeedbackDescription) -> str:
    purchase = description.purchase
    if purchase is None:
        return "none"
    return (
        f"{purchase.source.value} {purchase.external_id}, {cell_text(purchase.date)}, {purchase.id}"
    )


def _record(
    description: FeedbackDescription, answers: Sequence[AnsweredQuestion]
) -> dict[str, Any]:
    record, form = description.stored.feedback, description.form
    return {
        **record.model_dump(mode="json", by_alias=True, exclude={"answers"}),
        "formName": form.saved.name if form else None,
        "state": description.stored.state.value,
        "isTest": description.stored.is_test,
        "storeName": description.directory.name_of(record.store_id or ""),
        "brandName": description.directory.name_of(record.brand_id or ""),
        "answers": [
            {
                "label": each.label,
                **each.answer.model_dump(mode="json", by_alias=True),
                "displayedValues": each.displayed_values,
            }
            for each in answers
        ],
        "respondent": _model(description.customer),
        "purchase": _model(description.purchase),
        "deliveries": [
            {
                "id": execution.id,
                "action": name,
                "state": execution.state.value,
                "attempts": execution.attempt,
                "reason": execution.reason,
            }
            for name, execution in description.deliveries
        ],
    }


def _model(model: Customer | Purchase | None) -> Any:
    return model.model_dump(mode="json", by_alias=True) if model else None
