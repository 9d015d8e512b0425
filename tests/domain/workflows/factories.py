"""Build valid workflow definitions and feedback records."""

from datetime import UTC, datetime
from typing import Any

from admin.domain.workflows.definition import build_workflow, parse_workflow_definition
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.ids import new_id
from chalicelib.domain.workflows.workflow import Workflow

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
URL = "https://hooks.example.com/feedback"


def action_definition(**fields: Any) -> dict[str, Any]:
    return {"key": "crm", "url": URL} | fields


def workflow_definition(**fields: Any) -> dict[str, Any]:
    return {"id": new_id(), "name": "Everything", "actions": [action_definition()]} | fields


def workflow(**fields: Any) -> Workflow:
    return build_workflow(parse_workflow_definition(workflow_definition(**fields)), NOW)


def feedback(**fields: Any) -> Feedback:
    defaults = {
        "id": new_id(),
        "account_id": new_id(),
        "kind": "SURVEY",
        "form_id": new_id(),
        "form_version": "0" * 32,
        "language": "fr",
        "source": "Survey",
        "context_id": new_id(),
        "answers": (),
        "rating": None,
        "created_at": NOW,
    }
    return Feedback.model_validate(defaults | fields)
