"""Enable and disable forms and workflows."""

from typing import TypeVar

from chalicelib.domain import clock
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.workflows.workflow import Workflow

Switched = TypeVar("Switched", bound=SavedContactForm | SavedSurvey | Workflow)


def with_enabled(record: Switched, is_enabled: bool) -> Switched:
    """Return the form or workflow with this state. Change nothing if it already has it."""
    if record.enabled == is_enabled:
        return record
    changed = {"enabled": is_enabled, "updated_at": format_timestamp(clock.now())}
    return record.model_copy(update=changed)  # type: ignore[return-value] # of the same class
