"""Build feedback records."""

from datetime import UTC, datetime
from typing import Any

from chalicelib.domain.feedback.feedback import SOURCES, Feedback, FormKind
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.wording import Answer
from chalicelib.domain.ids import derived_id, new_id
from chalicelib.domain.language import Language

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


def answer(key: str, *values: str, kind: str = "TEXT") -> Answer:
    """Build an answer. The id of its field is derived from the key."""
    return Answer(
        field_id=derived_id("field", key), key=key, type=FieldType(kind), values=list(values)
    )


def build_feedback(*answers: Answer, **overrides: Any) -> Feedback:
    """Build a feedback record of a contact form."""
    kind = overrides.pop("kind", FormKind.CONTACT_FORM)
    defaults: dict[str, Any] = {
        "id": new_id(),
        "account_id": new_id(),
        "form_id": new_id(),
        "form_version": "0" * 32,
        "language": Language("en"),
        "rating": None,
        "created_at": NOW,
    }
    values = {"context_id": new_id(), "source": SOURCES[kind], **defaults, **overrides}
    return Feedback(kind=kind, answers=answers, **values)
