"""Tests that compare answer validation with a simple, slow reference implementation (oracle)."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.feedback.answers import Questionnaire, SubmittedAnswer
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.fields import ExpectedValue, FieldDependency, SavedField
from chalicelib.domain.forms.visibility import visible_fields
from chalicelib.domain.ids import derived_id
from tests.domain.forms.factories import NOW_TEXT, saved_contact_form

EMPTY = saved_contact_form()
WORDS = ["x", "y", "4", "7", "10", "7.0", "satisfied", "true"]
OPERATORS = ["$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte", "$contains", "$exists"]
LIMITS = st.fixed_dictionaries(
    {
        "allow_min_replies": st.sampled_from([True, False, False, False]),
        "min_replies": st.integers(0, 2),
        "allow_max_replies": st.booleans(),
        "max_replies": st.integers(1, 2),
    }
)
ALLOWED: dict[str, list[str]] = {
    "SINGLE_SELECT": ["x", "y"],
    "MULTI_SELECT": ["x", "y"],
    "NPS": [str(n) for n in range(11)],
    "CSAT_STAR": ["1", "2", "3", "4", "5"],
    "BINARY": ["satisfied", "unsatisfied"],
    "CHECKBOX": ["true", "false"],
}
KINDS = [*ALLOWED, "TEXT", "NUMBER"]


def field_id(position: int) -> str:
    return derived_id("field", str(position))


@st.composite
def forms(draw: st.DrawFn) -> SavedContactForm:
    """Generate a form whose field dependencies contain no cycle and are listed in random order."""
    count = draw(st.integers(1, 7))
    order = draw(st.permutations(range(count)))
    fields = []
    for position in range(count):
        kind = draw(st.sampled_from(KINDS))
        fields.append(
            SavedField.model_validate(
                {
                    "id": field_id(position),
                    "key": f"f{position}",
                    "created_at": NOW_TEXT,
                    "updated_at": NOW_TEXT,
                    "type": kind,
                    "values": ["x", "y"] if "SELECT" in kind else [],
                    "required": draw(st.sampled_from([True, False, False, False])),
                    "operator": draw(st.sampled_from(["$and", "$or"])),
                    "allow_custom_value": draw(st.booleans()),
                    "vertical_index": draw(st.integers(0, 2)),
                    "horizontal_index": draw(st.integers(0, 2)),
                    **draw(LIMITS),
                }
            )
        )
    dependencies = []
    for number in range(draw(st.integers(0, 2 * (count - 1)))):
        later = draw(st.integers(1, count - 1))
        earlier = draw(st.integers(0, later - 1))
        expected = st.builds(
            lambda operator, value: ExpectedValue.model_validate(
                {"operator": operator, "value": value}
            ),
            st.sampled_from(OPERATORS),
            st.sampled_from([*WORDS, "x,7", "false", '["y","true"]']),
        )
        dependencies.append(
            FieldDependency.model_validate(
                {
                    "id": derived_id("dependency", str(number)),
                    "created_at": NOW_TEXT,
                    "updated_at": NOW_TEXT,
                    "field": field_id(order[later]),
                    "depends_on_field": field_id(order[earlier]),
                    "operator": draw(st.sampled_from(["$and", "$or"])),
                    "depends_on_field_values": draw(st.lists(expected, min_size=1, max_size=2)),
                }
            )
        )
    return EMPTY.model_copy(update={"fields": fields, "field_dependencies": dependencies})


ANYTHING = st.lists(st.sampled_from(["", *WORDS, "1", "4"]), max_size=3)


@st.composite
def forms_and_submissions(draw: st.DrawFn) -> tuple[SavedContactForm, list[SubmittedAnswer]]:
    """Generate a form and a submission to it. Most of the submitted values are valid."""
    form = draw(forms())
    submitted_answers = []
    for position in draw(st.permutations(range(len(form.fields) + 1))):
        if not draw(st.sampled_from([True, True, True, False])):
            continue
        kind = form.fields[position].type if position < len(form.fields) else "TEXT"
        valid_value = st.sampled_from(ALLOWED.get(kind, ["7", "10", "7.0", "4"]))
        max_values = 2 if kind == "MULTI_SELECT" else 1
        values = draw(st.lists(valid_value, min_size=1, max_size=max_values, unique=True))
        if draw(st.integers(0, 9)) == 0:
            values = draw(ANYTHING)
        if position < len(form.fields) or draw(st.integers(0, 9)) == 0:
            is_duplicate = draw(st.integers(0, 29)) == 0
            answer = SubmittedAnswer.model_validate({"id": field_id(position), "values": values})
            submitted_answers += [answer, answer] if is_duplicate else [answer]
    return form, submitted_answers


# --- the oracle


def number(text: str) -> Fraction | None:
    try:
        return Fraction(text)
    except ValueError:
        return None


def compare(left_text: str, right_text: str, test: Callable[[Any, Any], bool]) -> bool:
    left, right = number(left_text), number(right_text)
    return test(left_text, right_text) if left is None or right is None else test(left, right)


LISTS = {"x,7": ["x", "7"], '["y","true"]': ["y", "true"]}
SIMPLE: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda a, b: bool(a == b),
    "$gt": lambda a, b: bool(a > b),
    "$gte": lambda a, b: bool(a >= b),
    "$lt": lambda a, b: bool(a < b),
    "$lte": lambda a, b: bool(a <= b),
}


def expected_result(operator: str, values: list[str], expected: str) -> bool:
    if operator == "$ne":
        return not expected_result("$eq", values, expected)
    if operator == "$nin":
        return not expected_result("$in", values, expected)
    if operator == "$exists":
        return (len(values) > 0) is (expected != "false")
    if operator == "$contains":
        return any(expected in value for value in values)
    if operator == "$in":
        items = LISTS.get(expected, [expected])
        return any(expected_result("$eq", values, item) for item in items)
    return any(compare(value, expected, SIMPLE[operator]) for value in values)


def combine(operator: str, results: list[bool]) -> bool:
    return all(results) if operator == "$and" else any(results)


def expected_visible(form: SavedContactForm, answers: dict[str, list[str]]) -> set[str]:
    """Return the ids of the visible fields.

    Start with all fields. Remove the fields whose dependencies are not met, and repeat this until
    no field is removed.
    """
    visible = {field.id for field in form.fields}
    while True:
        after = set()
        for field in form.fields:
            results = [
                combine(
                    dependency.operator,
                    [
                        expected_result(
                            expected.operator,
                            answers.get(dependency.depends_on_field, [])
                            if dependency.depends_on_field in visible
                            else [],
                            expected.value,
                        )
                        for expected in dependency.depends_on_field_values
                    ],
                )
                for dependency in form.field_dependencies
                if dependency.field == field.id
            ]
            if not results or combine(field.operator, results):
                after.add(field.id)
        if after == visible:
            return visible
        visible = after


@settings(max_examples=100)
@given(forms(), st.dictionaries(st.integers(0, 6), st.lists(st.sampled_from(WORDS), max_size=2)))
def test_visible_fields_equal_visible_fields_of_oracle(
    form: SavedContactForm, given_values: dict[int, list[str]]
) -> None:
    answers = {field_id(position): values for position, values in given_values.items()}
    conditions = Questionnaire.of(form).conditions

    assert visible_fields(conditions, answers) == expected_visible(form, answers)
