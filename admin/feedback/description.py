"""Show a feedback record as text or as JSON."""

from collections.abc import Sequence
from typing import Any, Final

from admin.feedback.rows import comment_of
from admin.terminal import cell_text, prints_json, results, show_json, show_table
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.feedback.answers import Answer
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.layout import fields_in_order
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.services.feedback.describe import FeedbackDescription
from chalicelib.services.feedback.find import read_feedback
from chalicelib.services.forms.saved import find_form

FORM_KINDS: Final = {FormKind.CONTACT_FORM: "contact form", FormKind.SURVEY: "survey"}


def labelled_answers(answers: Sequence[Answer], form: SavedForm | None) -> list[tuple[str, Answer]]:
    """Return the answers with their labels, in the order of the form's fields.

    Answers to fields that were removed from the form follow at the end, labelled with their keys.
    """
    fields = {field.id: field for field in fields_in_order(form)} if form else {}
    order = {field_id: position for position, field_id in enumerate(fields)}
    in_order = sorted(answers, key=lambda answer: order.get(answer.field_id, len(order)))
    return [
        (fields[answer.field_id].label if answer.field_id in fields else answer.key, answer)
        for answer in in_order
    ]


def summary_of(feedback_id: str) -> str:
    """Describe a feedback record in one line, for a confirmation. Two AWS requests.

    Raises:
        NotFound: the feedback record does not exist.
    """
    record = read_feedback(feedback_id).feedback
    form = find_form(record.kind, record.form_id)
    rating = "no rating" if record.rating is None else f"rating {cell_text(record.rating)}"
    comment = comment_of(record)
    parts = [
        f"{FORM_KINDS[record.kind]} {form.saved.name if form else record.form_id}",
        cell_text(record.created_at),
        rating,
        *([f'"{comment}"'] if comment else []),
    ]
    return f"the feedback {record.id} ({', '.join(parts)})"


def show_description(description: FeedbackDescription) -> None:
    """Print the feedback record with its answers, respondent, purchase and deliveries."""
    form = description.form.saved if description.form else None
    answers = labelled_answers(description.stored.feedback.answers, form)
    if prints_json():
        show_json(_record(description, answers))
        return
    for title, value in _properties(description).items():
        results().print(f"{title:<12} {cell_text(value)}")
    results().print("")
    show_table(
        ["Question", "Answer", "Type"],
        [[label, "\n".join(answer.values), answer.type.value] for label, answer in answers],
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
        "Form": f"{form} ({FORM_KINDS[record.kind]} {record.form_id})",
        "Created": record.created_at,
        "State": _state(description),
        "Store": _place(description, record.store_id),
        "Brand": _place(description, record.brand_id),
        "Language": record.language.value,
        "Source": record.source.value,
        "Rating": "none" if record.rating is None else record.rating,
        "Respondent": _respondent(description),
        "Purchase": _purchase(description),
        "Redirect": record.redirect_to or "none",
    }


def _state(description: FeedbackDescription) -> str:
    suffix = " (test)" if description.stored.is_test else ""
    return f"{description.stored.state.value}{suffix}"


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
    description: FeedbackDescription, answers: Sequence[tuple[str, Answer]]
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
            {"label": label, **answer.model_dump(mode="json", by_alias=True)}
            for label, answer in answers
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
