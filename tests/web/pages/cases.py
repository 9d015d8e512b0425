"""Load the cases that the server and the page's script must evaluate in the same way."""

import json
from pathlib import Path
from typing import Any, Final

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.feedback.answers import Questionnaire, SubmittedAnswer
from tests.domain.forms.factories import depends, field, saved_contact_form

CASES: Final[dict[str, list[Any]]] = json.loads(Path(__file__).with_name("cases.json").read_text())


def submitted(questionnaire: Questionnaire, *values: list[str]) -> list[SubmittedAnswer]:
    """Return the answers as a browser submits them, with CR LF as the line break."""
    return [
        SubmittedAnswer.model_validate(
            {"id": field_id, "values": [text.replace("\n", "\r\n") for text in texts]}
        )
        for field_id, texts in zip(sorted_ids(questionnaire), values, strict=False)
    ]


def sorted_ids(questionnaire: Questionnaire) -> list[str]:
    """Return the ids of the fields, sorted by key."""
    return [shown.id for shown in sorted(questionnaire.fields.values(), key=lambda f: f.key)]


def comparison_form(operator: str, expected: str) -> Questionnaire:
    """Return a form whose field `b` is visible if the answer to `a` satisfies the comparison."""
    fields = [field("a", "MULTI_SELECT", values=["v"], allowCustomValue=True), field("b")]
    definition = depends("b", "a", (operator, expected or "v"))
    form = saved_contact_form(fields=fields, fieldDependencies=[definition])
    return Questionnaire.of(form)


def answer_form(definition: dict[str, Any]) -> Questionnaire:
    """Return a form with one field."""
    return Questionnaire.of(saved_contact_form(fields=[{"key": "a", **definition}]))


def error_code(questionnaire: Questionnaire, answers: list[SubmittedAnswer]) -> str:
    """Return the code of the first error of a submission, or ``""``."""
    try:
        questionnaire.validate(answers)
    except InvalidInput as error:
        return error.errors[0].code
    return ""
