"""Show contact forms, surveys and workflows as their definitions describe them, in words."""

from collections.abc import Iterator, Mapping

from admin.display.words import comparison_in_words, joined, sending_rules
from admin.services.definitions.export import form_definition, workflow_definition
from admin.services.forms.manage import AccountForm, SavedForm
from admin.terminal import prints_json, results, show_json, show_properties, show_table
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.fields import SavedField
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.workflows.workflow import Condition, Subject, Workflow


def show_form(form: AccountForm, directory: Directory) -> None:
    """Print a form and its questions or, with ``--json``, its definition."""
    saved = form.saved
    if prints_json():
        show_json(form_definition(form.account_id, saved))
        return
    languages = dict.fromkeys([saved.language, *saved.translations])
    state = "archived" if saved.archived else "enabled" if saved.enabled else "disabled"
    properties: dict[str, object] = {
        "Name": saved.name,
        "Id": saved.id,
        "Key": saved.key,
        "Description": saved.description,
        "Account": form.account_id,
        "State": f"{state}, {form.submission_count} submission(s)",
        "Opens": saved.opens_at,
        "Closes": saved.closes_at,
        "Title": saved.header.title,
        "Languages": [language.value for language in languages],
        "Labels": [
            f"{name}: {', '.join(rule.values) or 'numbers up to ' + '9' * rule.max_digits}"
            for name, rule in saved.labels.items()
        ],
        **dict(_of_kind(saved, directory)),
    }
    show_properties({name: value for name, value in properties.items() if value})
    results().print()
    conditions = _conditions(saved)
    fields = sorted(saved.fields, key=lambda field: (field.vertical_index, field.horizontal_index))
    show_table(
        ["Question", "Type", "Required", "Options", "Shown if"],
        [
            [
                field.label or field.key,
                field.type.value,
                field.required,
                field.values,
                joined(conditions.get(field.id, []), field.operator),
            ]
            for field in fields
        ],
        wraps=True,
    )


def _of_kind(saved: SavedForm, directory: Directory) -> Iterator[tuple[str, object]]:
    if isinstance(saved, SavedContactForm):
        yield "Brand", directory.name_of(saved.brand_id) or "deleted"
        return
    yield (
        "Targets",
        [
            (directory.name_of(target.target_id) or "deleted")
            + ("" if target.enabled else " (disabled)")
            for target in saved.targets
        ],
    )
    yield "Access", "public" if saved.publicly_available else "only through the link of a message"
    yield "Sending", "\n".join(sending_rules(saved))
    yield "Saved taps", "ratings and choices" if saved.save_taps else "none"
    yield from _offers(saved)
    yield "Support e-mail", saved.support_email.email if saved.support_email else None


def _offers(survey: SavedSurvey) -> Iterator[tuple[str, object]]:
    if survey.pre_redirect and (before := survey.pre_redirect_config):
        question, _ = before.topic_and_labels
        yield "Review before", f"from a rating of {before.threshold}: {question}"
    if survey.post_redirect:
        threshold = survey.post_redirect_threshold
        yield "Review after", f"from a rating of {threshold}" if threshold else "always"


def _conditions(saved: SavedForm) -> dict[str, list[str]]:
    """Return the conditions of each field that is not always shown, in words."""
    labels: Mapping[str, SavedField] = {field.id: field for field in saved.fields}
    conditions: dict[str, list[str]] = {}
    for each in saved.field_dependencies:
        field = labels[each.depends_on_field]
        comparisons = [
            comparison_in_words(v.operator, v.value) for v in each.depends_on_field_values
        ]
        text = f"{field.label or field.key} {joined(comparisons, each.operator)}"
        conditions.setdefault(each.field, []).append(text)
    return conditions


def show_workflow(account_id: str, workflow: Workflow, names: Mapping[str, str]) -> None:
    """Print a workflow, its conditions and its actions or, with ``--json``, its definition.

    Args:
        names: the names of brands, stores and forms by id.
    """
    if prints_json():
        show_json(workflow_definition(account_id, workflow))
        return
    conditions = [_condition(condition, names) for condition in workflow.conditions]
    show_properties(
        {
            "Name": workflow.name,
            "Id": workflow.id,
            "State": "enabled" if workflow.enabled else "disabled",
            "Condition": joined(conditions, workflow.operator) or "all feedback",
        }
    )
    for action in workflow.actions:
        properties = {
            "Action": action.key,
            "Description": action.description,
            "URL": action.url,
            "Headers": list(action.headers),
            "Metadata": "\n".join(f"{name}: {value}" for name, value in action.metadata.items()),
            "Attempts": action.attempts,
        }
        results().print()
        show_properties({name: value for name, value in properties.items() if value})


def _condition(condition: Condition, names: Mapping[str, str]) -> str:
    if condition.combination:
        nested = [_condition(each, names) for each in condition.conditions]
        return f"({joined(nested, condition.combination)})"
    what = "answer to" if condition.subject is Subject.ANSWER else str(condition.subject)
    subject = f"{what} {condition.field}".rstrip()
    value = condition.value
    if condition.subject not in (Subject.ANSWER, Subject.RATING, Subject.LABEL):
        for known, name in names.items():
            value = value.replace(known, name)
    return f"{subject} {comparison_in_words(condition.operator, value)}"
