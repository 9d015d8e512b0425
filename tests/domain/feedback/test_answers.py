"""Tests of the validation of answers: formats, limits, hidden fields, translations and ratings."""

from itertools import pairwise
from typing import Any

import pytest
from pydantic import ValidationError

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.feedback.answers import (
    MAX_VALUES,
    Questionnaire,
    SubmittedAnswer,
    ValidatedAnswers,
)
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.language import Language
from tests.domain.forms.factories import NOWHERE, depends, field, saved_contact_form, select
from tests.domain.workflows.factories import feedback


def form_of(*fields: dict[str, Any], **overrides: Any) -> SavedForm:
    return saved_contact_form(fields=list(fields), **overrides)


def validate(form: SavedForm, *answers: tuple[str, Any]) -> ValidatedAnswers:
    """Validate answers, passed as pairs of a field key and one value or a list of values."""
    ids = {item.key: item.id for item in form.fields}
    return Questionnaire.of(form).validate(
        [
            SubmittedAnswer.model_validate(
                {
                    "id": ids.get(key, key),
                    "values": [submitted] if isinstance(submitted, str) else submitted,
                }
            )
            for key, submitted in answers
        ]
    )


def errors(form: SavedForm, *answers: tuple[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(InvalidInput) as raised:
        validate(form, *answers)
    return [(input_error.pointer, input_error.code) for input_error in raised.value.errors]


def values(validated: ValidatedAnswers) -> dict[str, list[str]]:
    return {answer.key: answer.values for answer in validated.answers}


VALID = [
    ("TEXT", "anything\nat all"),
    ("LONG_TEXT", "النص"),
    ("EMAIL", "ana@example.com"),
    ("PHONE", "+33 6 12.34-56 (78)"),
    ("PHONE", "0612345678"),
    ("NUMBER", "12"),
    ("NUMBER", "-12.50"),
    ("DATE", "2026-02-28"),
    ("CHECKBOX", "true"),
    ("CHECKBOX", "false"),
    ("NPS", "0"),
    ("NPS", "10"),
    ("CSAT_STAR", "1"),
    ("CSAT_STAR", "5"),
    ("CSAT_SMILEY", "5"),
    ("BINARY", "unsatisfied"),
    ("RATING", "10"),
]
INVALID = [
    ("EMAIL", "ana", "invalid_email"),
    ("EMAIL", "Ana <ana@example.com>", "invalid_email"),
    ("EMAIL", "a" * 250 + "@example.com", "invalid_email"),
    ("PHONE", "123", "invalid_phone"),
    ("PHONE", "call me", "invalid_phone"),
    ("PHONE", "1" * 21, "invalid_phone"),
    ("NUMBER", "twelve", "invalid_number"),
    ("NUMBER", "1e3", "invalid_number"),
    ("NUMBER", "NaN", "invalid_number"),
    ("NUMBER", "١٢", "invalid_number"),
    ("DATE", "2026-02-30", "invalid_date"),
    ("DATE", "20260228", "invalid_date"),
    ("DATE", "28/02/2026", "invalid_date"),
    ("CHECKBOX", "on", "not_allowed"),
    ("NPS", "11", "not_allowed"),
    ("NPS", "-1", "not_allowed"),
    ("NPS", "7.5", "not_allowed"),
    ("CSAT_STAR", "0", "not_allowed"),
    ("CSAT_STAR", "6", "not_allowed"),
    ("CSAT_SMILEY", "six", "not_allowed"),
    ("BINARY", "Satisfied", "not_allowed"),
    ("RATING", "11", "not_allowed"),
]


@pytest.mark.parametrize(("kind", "value"), VALID)
def test_valid_value_of_field_type_is_accepted(kind: str, value: str) -> None:
    assert values(validate(form_of(field("a", kind)), ("a", value))) == {"a": [value]}


@pytest.mark.parametrize(("kind", "value", "code"), INVALID)
def test_invalid_value_of_field_type_is_rejected(kind: str, value: str, code: str) -> None:
    assert errors(form_of(field("a", kind)), ("a", value)) == [("/fields/0/values/0", code)]


def test_valid_examples_cover_every_field_type() -> None:
    selects = {"SINGLE_SELECT", "MULTI_SELECT"}

    assert {kind for kind, _ in VALID} | selects == set(FieldType)


@pytest.mark.parametrize("kind", FieldType)
def test_documented_example_of_field_type_is_valid(kind: FieldType) -> None:
    example = kind.rules.example
    form = form_of(field("a", kind, values=[example]))

    assert values(validate(form, ("a", example))) == {"a": [example]}


@pytest.mark.parametrize("kind", ["SINGLE_SELECT", "MULTI_SELECT"])
def test_select_field_accepts_only_its_values(kind: str) -> None:
    form = form_of(select("a", "x", "y", kind=kind))

    assert values(validate(form, ("a", "y"))) == {"a": ["y"]}
    assert errors(form, ("a", "z")) == [("/fields/0/values/0", "not_allowed")]
    assert errors(form, ("a", "X")) == [("/fields/0/values/0", "not_allowed")]


@pytest.mark.parametrize("kind", ["SINGLE_SELECT", "MULTI_SELECT"])
def test_select_field_with_custom_values_accepts_any_text(kind: str) -> None:
    form = form_of(select("a", "x", kind=kind, allowCustomValue=True))

    assert values(validate(form, ("a", "z"))) == {"a": ["z"]}


def test_only_multi_select_accepts_several_values() -> None:
    form = form_of(field("a"), select("b", "x", "y"), select("c", "x", "y", kind="MULTI_SELECT"))

    # The other values of these answers are not validated.
    assert errors(form, ("a", ["1", "2"]), ("b", ["x", "?"]), ("c", ["x", "y"])) == [
        ("/fields/0", "too_many"),
        ("/fields/1", "too_many"),
    ]


def test_duplicate_value_in_answer_is_rejected() -> None:
    form = form_of(select("a", "x", "y", kind="MULTI_SELECT"))

    assert errors(form, ("a", ["x", "y", "x"])) == [("/fields/0/values/2", "duplicate")]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (["a"], [("/fields/0", "too_few")]),
        (["a", "b"], []),
        (["a", "b", "c"], []),
        (["a", "b", "c", "d"], [("/fields/0", "too_many")]),
        (["a", "b", "c", "?"], [("/fields/0", "too_many"), ("/fields/0/values/3", "not_allowed")]),
    ],
)
def test_number_of_values_must_be_within_reply_limits(
    chosen: list[str], expected: list[tuple[str, str]]
) -> None:
    limits = {"allowMinReplies": True, "minReplies": 2, "allowMaxReplies": True, "maxReplies": 3}
    form = form_of(select("m", "a", "b", "c", "d", kind="MULTI_SELECT", **limits))

    if expected:
        assert errors(form, ("m", chosen)) == expected
    else:
        assert values(validate(form, ("m", chosen))) == {"m": chosen}


def test_disabled_reply_limits_are_ignored() -> None:
    form = form_of(select("m", "a", "b", kind="MULTI_SELECT", minReplies=2, maxReplies=1))

    assert values(validate(form, ("m", ["a"]))) == {"m": ["a"]}
    assert values(validate(form, ("m", ["a", "b"]))) == {"m": ["a", "b"]}


def test_optional_field_with_min_replies_accepts_no_answer() -> None:
    form = form_of(select("m", "a", "b", kind="MULTI_SELECT", allowMinReplies=True, minReplies=2))

    assert values(validate(form)) == {}


@pytest.mark.parametrize(
    ("limit", "chosen", "detail"),
    [
        (1, ["a", "b"], "Must have at most 1 value."),
        (2, ["a", "b", "c"], "Must have at most 2 values."),
    ],
)
def test_error_of_reply_limit_states_number_of_values(
    limit: int, chosen: list[str], detail: str
) -> None:
    limits = {"allowMaxReplies": True, "maxReplies": limit}
    form = form_of(select("m", "a", "b", "c", kind="MULTI_SELECT", **limits))

    with pytest.raises(InvalidInput) as raised:
        validate(form, ("m", chosen))
    assert [error.detail for error in raised.value.errors] == [detail]


def test_missing_answer_to_required_field_is_rejected() -> None:
    form = form_of(field("a", required=True), field("b"))

    assert values(validate(form, ("a", "x"))) == {"a": ["x"]}
    assert errors(form) == [("/fields", "required")]
    assert errors(form, ("b", "x")) == [("/fields", "required")]
    assert errors(form, ("b", "x"), ("a", [])) == [("/fields/1", "required")]
    assert errors(form, ("a", "  ")) == [("/fields/0", "required")]


def test_error_of_unanswered_required_field_contains_field_id() -> None:
    form = form_of(field("a", required=True))

    with pytest.raises(InvalidInput) as raised:
        validate(form)
    assert form.fields[0].id in raised.value.errors[0].detail


def test_empty_string_counts_as_no_answer() -> None:
    form = form_of(field("a", "EMAIL"), select("m", "x", "y", kind="MULTI_SELECT"))

    assert values(validate(form, ("a", ""), ("m", ["", "x", " "]))) == {"m": ["x"]}
    assert errors(form, ("m", ["", "z"])) == [("/fields/0/values/1", "not_allowed")]


def test_unknown_field_is_rejected() -> None:
    assert errors(form_of(field("a")), ("a", "x"), (NOWHERE, "x")) == [
        ("/fields/1", "unknown_reference")
    ]


def test_second_answer_to_same_field_is_rejected() -> None:
    assert errors(form_of(field("a")), ("a", "x"), ("a", "x")) == [("/fields/1", "duplicate")]


def test_errors_are_listed_in_order_of_submitted_answers() -> None:
    form = form_of(
        field("a", required=True), field("b", "NPS"), field("c", "EMAIL"), field("d", "DATE")
    )

    assert errors(form, ("d", "x"), (NOWHERE, "x"), ("c", "y"), ("b", "11"), ("b", "1")) == [
        ("/fields", "required"),
        ("/fields/0/values/0", "invalid_date"),
        ("/fields/1", "unknown_reference"),
        ("/fields/2/values/0", "invalid_email"),
        ("/fields/3/values/0", "not_allowed"),
        ("/fields/4", "duplicate"),
    ]


# --- hidden fields


def conditional(**overrides: Any) -> SavedForm:
    return form_of(
        select("happy", "Yes", "No"),
        field("why", "NUMBER", required=True),
        field("how", "NUMBER", required=True),
        fieldDependencies=[depends("why", "happy", "No"), depends("how", "why", ("$gt", "9"))],
        **overrides,
    )


def test_answer_to_hidden_field_is_optional_and_discarded() -> None:
    form = conditional()

    assert values(validate(form)) == {}
    assert values(validate(form, ("happy", "Yes"))) == {"happy": ["Yes"]}
    assert values(validate(form, ("happy", "Yes"), ("why", ["not", "numbers"]))) == {
        "happy": ["Yes"]
    }


def test_answer_to_visible_dependent_field_is_validated() -> None:
    form = conditional()

    assert errors(form, ("happy", "No")) == [("/fields", "required")]
    assert errors(form, ("happy", "No"), ("why", "x")) == [
        ("/fields", "required"),
        ("/fields/1/values/0", "invalid_number"),
    ]
    assert values(validate(form, ("happy", "No"), ("why", "9"))) == {"happy": ["No"], "why": ["9"]}
    assert errors(form, ("happy", "No"), ("why", "10")) == [("/fields", "required")]


def test_hidden_field_counts_as_unanswered_in_dependencies() -> None:
    form = conditional()

    assert values(validate(form, ("happy", "Yes"), ("why", "10"), ("how", "x"))) == {
        "happy": ["Yes"]
    }


@pytest.mark.parametrize(("kind", "is_shown"), [("SINGLE_SELECT", False), ("MULTI_SELECT", True)])
def test_dependency_compares_all_values_only_of_multi_select(kind: str, is_shown: bool) -> None:
    form = form_of(
        select("happy", "Yes", "No", kind=kind),
        field("why"),
        fieldDependencies=[depends("why", "happy", "No")],
    )
    happy, why = form.fields

    shown = Questionnaire.of(form).visible_fields({happy.id: ["Yes", "No"]})
    assert (why.id in shown) is is_shown


def test_field_operator_combines_dependencies() -> None:
    def is_visible(operator: str, *answers: tuple[str, Any]) -> bool:
        form = form_of(
            field("a"),
            field("b"),
            field("c", operator=operator),
            fieldDependencies=[depends("c", "a", "1"), depends("c", "b", "1")],
        )
        return "c" in values(validate(form, *answers, ("c", "x")))

    assert is_visible("$and", ("a", "1"), ("b", "1"))
    assert not is_visible("$and", ("a", "1"))
    assert is_visible("$or", ("a", "1"))
    assert not is_visible("$or", ("a", "2"))


def test_dependency_operator_combines_comparisons() -> None:
    def is_visible(operator: str, answer: str) -> bool:
        form = form_of(
            field("a"),
            field("b"),
            fieldDependencies=[depends("b", "a", ("$gte", "3"), ("$lt", "5"), operator=operator)],
        )
        return "b" in values(validate(form, ("a", answer), ("b", "x")))

    assert is_visible("$and", "4")
    assert not is_visible("$and", "5")
    assert is_visible("$or", "5")


def test_long_dependency_chain_is_evaluated_completely() -> None:
    keys = [f"f{n}" for n in range(40)]
    chain = [depends(after, before, "1") for before, after in pairwise(keys)]
    form = form_of(*(field(key) for key in reversed(keys)), fieldDependencies=chain)
    all_one = [(key, "1") for key in keys]

    assert len(validate(form, *all_one).answers) == 40
    assert len(validate(form, ("f0", "0"), *all_one[1:]).answers) == 1
    assert len(validate(form, *all_one[:20], ("f20", "0"), *all_one[21:]).answers) == 21


# --- translations

TRANSLATIONS: dict[str, Any] = {
    "translations": {
        "fr": {"fields": {"what": {"values": ["Cuisine", "Prix", ""]}}},
        "de": {"fields": {"what": {"values": ["Küche", "Preis", "Food"]}}},
    }
}


@pytest.mark.parametrize(
    ("submitted", "canonical"),
    [
        ("Food", "Food"),
        ("Cuisine", "Food"),
        ("Küche", "Food"),
        ("Prix", "Price"),
        ("Other", "Other"),
    ],
)
def test_translated_option_is_stored_in_form_language(submitted: str, canonical: str) -> None:
    form = form_of(
        select("what", "Food", "Price", "Other"),
        field("more", required=True),
        fieldDependencies=[depends("more", "what", "Price")],
        **TRANSLATIONS,
    )
    answers = [("what", submitted), *([("more", "x")] if canonical == "Price" else [])]

    assert values(validate(form, *answers))["what"] == [canonical]


def test_option_and_its_translation_are_duplicate_values() -> None:
    form = form_of(select("what", "Food", "Price", "Other", kind="MULTI_SELECT"), **TRANSLATIONS)

    assert errors(form, ("what", ["Price", "Prix"])) == [("/fields/0/values/1", "duplicate")]


def test_text_answer_equal_to_translated_option_is_stored_unchanged() -> None:
    form = form_of(select("what", "Food", "Price", "Other"), field("text"), **TRANSLATIONS)

    assert values(validate(form, ("text", "Prix"))) == {"text": ["Prix"]}


def labelled(kind: str, labels: list[str], translated: list[str]) -> SavedForm:
    return form_of(
        field("what", kind, values=labels),
        field("more"),
        fieldDependencies=[depends("more", "what", list(FieldType(kind).rules.options)[-1])],
        translations={"fr": {"fields": {"what": {"values": translated}}}},
    )


@pytest.mark.parametrize(
    ("submitted", "stored"),
    [("Yes", "satisfied"), ("No", "unsatisfied"), ("Oui", "satisfied"), ("Non", "unsatisfied")],
)
def test_label_of_binary_field_is_stored_as_accepted_value(submitted: str, stored: str) -> None:
    form = labelled("BINARY", ["Yes", "No"], ["Oui", "Non"])

    validated = validate(form, ("what", submitted), ("more", "x"))

    hidden = {"more": ["x"]} if stored == "unsatisfied" else {}
    assert values(validated) == {"what": [stored], **hidden}
    assert validated.rating == (10 if stored == "satisfied" else 0)


def test_label_of_smiley_field_is_stored_as_accepted_value() -> None:
    form = labelled("CSAT_SMILEY", [*"ABCDE"], [*"VWXYZ"])

    assert values(validate(form, ("what", "B"))) == {"what": ["2"]}
    assert values(validate(form, ("what", "Z"))) == {"what": ["5"]}


def test_accepted_value_precedes_equal_label() -> None:
    form = labelled("CSAT_SMILEY", [*"54321"], ["5", "", "", "", ""])
    binary = labelled("BINARY", ["unsatisfied", "satisfied"], ["No", "Yes"])

    assert values(validate(form, ("what", "5"))) == {"what": ["5"]}
    assert values(validate(binary, ("what", "satisfied"))) == {"what": ["satisfied"]}


def test_label_in_form_language_precedes_equal_translation() -> None:
    form = labelled("BINARY", ["A", "B"], ["B", "A"])

    assert values(validate(form, ("what", "B"), ("more", "x")))["what"] == ["unsatisfied"]


@pytest.mark.parametrize(
    ("kind", "labels"), [("NPS", ["Bad", "Good"]), ("BINARY", ["Bad"]), ("CHECKBOX", ["Bad"])]
)
def test_text_that_is_no_label_of_an_option_is_rejected(kind: str, labels: list[str]) -> None:
    form = form_of(field("what", kind, values=labels))

    assert errors(form, ("what", "Bad")) == [("/fields/0/values/0", "not_allowed")]


# --- ratings and display order


@pytest.mark.parametrize(
    ("kind", "value", "rating"),
    [
        ("NPS", "0", 0),
        ("NPS", "7", 7),
        ("RATING", "10", 10),
        ("CSAT_STAR", "1", 2),
        ("CSAT_STAR", "5", 10),
        ("CSAT_SMILEY", "3", 6),
        ("BINARY", "satisfied", 10),
        ("BINARY", "unsatisfied", 0),
        ("TEXT", "9", None),
        ("NUMBER", "9", None),
        ("CHECKBOX", "true", None),
    ],
)
def test_rating_is_converted_to_scale_from_0_to_10(
    kind: str, value: str, rating: int | None
) -> None:
    assert validate(form_of(field("a", kind)), ("a", value)).rating == rating


def test_feedback_rating_is_first_rating_in_display_order() -> None:
    form = form_of(
        field("last", "NPS", verticalIndex=2),
        field("second", "NPS", verticalIndex=1, horizontalIndex=1),
        field("first", "NPS", verticalIndex=1, horizontalIndex=0),
    )
    validated = validate(form, ("last", "1"), ("second", "2"), ("first", "3"))

    assert [answer.key for answer in validated.answers] == ["first", "second", "last"]
    assert validated.rating == 3
    assert validate(form, ("last", "1"), ("second", "2")).rating == 2
    assert validate(form).rating is None


def test_feedback_rating_is_first_rating_in_display_order_of_groups() -> None:
    form = form_of(
        field("last", "NPS", verticalIndex=0, group="details"),
        field("first", "NPS", verticalIndex=1, group="visit"),
        fieldGroups=[{"key": "visit", "name": "Visit"}, {"key": "details", "name": "Details"}],
    )
    assert validate(form, ("last", "1"), ("first", "3")).rating == 3


def test_answer_to_hidden_rating_field_does_not_set_rating() -> None:
    form = form_of(
        select("a"),
        field("hidden", "NPS"),
        field("shown", "CSAT_STAR"),
        fieldDependencies=[depends("hidden", "a", "Yes")],
    )

    assert validate(form, ("a", "No"), ("hidden", "9"), ("shown", "1")).rating == 2


def test_first_email_and_phone_number_identify_respondent() -> None:
    form = form_of(
        field("a", "EMAIL", verticalIndex=1),
        field("b", "EMAIL", verticalIndex=0),
        field("c", "PHONE", verticalIndex=2),
    )
    emails = [("a", "a@example.com"), ("b", "b@example.com")]
    identified = feedback(answers=tuple(validate(form, *emails).answers))
    with_phone = feedback(answers=tuple(validate(form, *emails, ("c", "0612345678")).answers))

    assert identified.email == "b@example.com"
    assert identified.phone_number is None
    assert with_phone.phone_number == "0612345678"


def test_answers_to_unknown_fields_do_not_affect_visible_fields() -> None:
    form = form_of(select("a"), field("b"), fieldDependencies=[depends("b", "a", "Yes")])
    select_id, text_id = (item.id for item in form.fields)
    questionnaire = Questionnaire.of(form)

    assert questionnaire.visible_fields({NOWHERE: ["Yes"]}) == {select_id}
    answers = {select_id: ["Yes"], NOWHERE: ["x"]}
    assert questionnaire.visible_fields(answers) == {select_id, text_id}


@pytest.mark.parametrize(
    ("language", "given", "stored"),
    [
        ("fr", "12,5", "12.5"),
        ("fr", "-12,5", "-12.5"),
        ("fr", "12.5", "12.5"),
        ("fr", "1,2,3", "1,2,3"),
        ("en", "12,5", "12,5"),
    ],
)
def test_decimal_comma_becomes_point_in_languages_that_use_it(
    language: str, given: str, stored: str
) -> None:
    form = form_of(field("n", "NUMBER"), field("text"))
    number, text = (item.id for item in form.fields)
    submitted = [
        SubmittedAnswer(id=number, values=[given]),
        SubmittedAnswer(id=text, values=[given]),
    ]

    read = Questionnaire.of(form).with_decimal_points(submitted, Language(language))

    assert [answer.values for answer in read] == [[stored], [given]]


# --- the schema of a submitted answer


@pytest.mark.parametrize("count", [MAX_VALUES, MAX_VALUES + 1])
def test_answer_with_too_many_values_is_rejected(count: int) -> None:
    answer = {"id": NOWHERE, "values": ["x"] * count}

    if count <= MAX_VALUES:
        assert len(SubmittedAnswer.model_validate(answer).values) == count
    else:
        with pytest.raises(ValidationError):
            SubmittedAnswer.model_validate(answer)


def test_field_id_of_answer_is_case_insensitive() -> None:
    form = form_of(field("a"))
    answer = SubmittedAnswer.model_validate({"id": form.fields[0].id.upper(), "values": ["x"]})

    assert values(Questionnaire.of(form).validate([answer])) == {"a": ["x"]}


def test_text_answer_with_unusual_characters_is_stored_unchanged() -> None:
    texts = ["\u0000", "a\u0000b", "<script>", "‮rtl", "👩‍👩‍👧‍👦", "' OR 1=1 --", "%s%n", "\x7f"]
    form = form_of(field("a"))

    for text in texts:
        assert values(validate(form, ("a", text))) == {"a": [text]}
