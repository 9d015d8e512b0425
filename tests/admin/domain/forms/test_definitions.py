"""Tests of the validation of form definitions and of building forms from valid definitions."""

import json
from contextlib import nullcontext
from datetime import datetime
from typing import Any

import pytest

from admin.domain.forms.build import MAX_FORM_BYTES
from admin.domain.forms.contact_form import define_contact_form
from admin.domain.forms.survey import define_survey
from chalicelib.domain.accounts.places import Directory, Place, PlaceKind
from chalicelib.domain.errors import InvalidInput, RecordTooLarge
from chalicelib.domain.forms.contact_form import PartnerContactForm, SavedContactForm
from chalicelib.domain.forms.survey import PartnerSurvey, SavedSurvey
from chalicelib.domain.ids import derived_id
from chalicelib.domain.paging import MAX_LISTED_BYTES
from tests.domain.forms.factories import (
    BRAND,
    DIRECTORY,
    FORM,
    LATER,
    LATER_TEXT,
    NOW,
    NOW_TEXT,
    NOWHERE,
    OTHER_BRAND,
    STORE,
    contact_form,
    contact_form_errors,
    depends,
    field,
    saved_contact_form,
    saved_survey,
    select,
    survey,
    survey_errors,
)

ID = "abcdef00-0000-4000-8000-000000000001"


def replace_contact_form(
    earlier: SavedContactForm, now: datetime = LATER, **overrides: Any
) -> SavedContactForm:
    return define_contact_form(contact_form(**overrides), DIRECTORY, now, earlier)


def test_minimal_definition_is_valid() -> None:
    assert contact_form_errors() == []
    assert survey_errors() == []


@pytest.mark.parametrize(
    ("overrides", "input_error"),
    [
        ({"colour": "red"}, ("/colour", "unknown_key")),
        ({"header": {"tilte": "x"}}, ("/header/tilte", "unknown_key")),
        ({"generalStyle": {"font": {"size": 1}}}, ("/generalStyle/font/size", "unknown_key")),
        ({"generalStyle": {"zoneColor": "#fff"}}, ("/generalStyle/zoneColor", "unknown_key")),
        ({"enabled": "yes"}, ("/enabled", "wrong_type")),
        ({"enabled": 1}, ("/enabled", "wrong_type")),
        ({"name": ""}, ("/name", "required")),
        ({"name": "   "}, ("/name", "required")),
        ({"name": "x" * 256}, ("/name", "too_long")),
        ({"name": None}, ("/name", "required")),
        ({"name": "\ud800"}, ("/name", "not_unicode")),
        ({"id": "7"}, ("/id", "invalid_uuid")),
        ({"language": "klingon"}, ("/language", "not_allowed")),
        ({"fields": {}}, ("/fields", "wrong_type")),
        ({"fields": [3]}, ("/fields/0", "wrong_type")),
        ({"fields": [field("a", "SLIDER")]}, ("/fields/0/type", "not_allowed")),
        ({"fields": [field("a", id="a")]}, ("/fields/0/id", "invalid_uuid")),
        ({"fields": [field("")]}, ("/fields/0/key", "required")),
        ({"fields": [field("a", operator="$xor")]}, ("/fields/0/operator", "not_allowed")),
        ({"fields": [field("a", verticalIndex=-1)]}, ("/fields/0/verticalIndex", "out_of_range")),
        (
            {"fields": [field("a", verticalIndex=2**31)]},
            ("/fields/0/verticalIndex", "out_of_range"),
        ),
        ({"fields": [field("a", minReplies=-1)]}, ("/fields/0/minReplies", "out_of_range")),
        ({"fields": [field("a", maxReplies=-1)]}, ("/fields/0/maxReplies", "out_of_range")),
        ({"fields": [field("a", minReplies="1")]}, ("/fields/0/minReplies", "wrong_type")),
        ({"generalStyle": {"fieldRadius": "ROUND"}}, ("/generalStyle/fieldRadius", "not_allowed")),
        (
            {"fieldGroups": [{"key": "g", "verticalIndex": -1}]},
            ("/fieldGroups/0/verticalIndex", "out_of_range"),
        ),
        ({"footer": {"display": "yes"}}, ("/footer/display", "wrong_type")),
        ({"logo": {"size": "1"}}, ("/logo/size", "wrong_type")),
        ({"logo": {"size": -1}}, ("/logo/size", "out_of_range")),
        ({"logo": {"width": -1}}, ("/logo/width", "out_of_range")),
        ({"logo": {"height": -1}}, ("/logo/height", "out_of_range")),
        ({"translations": {"xx": {}}}, ("/translations/xx", "not_allowed")),
        ({"translations": {"fr": {"title": ""}}}, ("/translations/fr/title", "unknown_key")),
        ({"brandName": "x"}, ("/brandName", "unknown_key")),
        ({"submissionCount": 3}, ("/submissionCount", "unknown_key")),
    ],
)
def test_schema_error_is_reported(overrides: dict[str, Any], input_error: tuple[str, str]) -> None:
    assert contact_form_errors(**overrides) == [input_error]


@pytest.mark.parametrize("definition", [None, [], "form", 3])
def test_definition_that_is_not_object_is_rejected(definition: Any) -> None:
    with pytest.raises(InvalidInput) as raised:
        define_contact_form(definition, DIRECTORY, NOW)

    assert raised.value.errors[0].pointer == ""


@pytest.mark.parametrize("key", ["field_groups", "brand_id", "auto_translate"])
def test_snake_case_field_name_is_rejected(key: str) -> None:
    assert (f"/{key}", "unknown_key") in contact_form_errors(**{key: []})


def test_all_schema_errors_are_reported_at_once() -> None:
    errors = survey_errors(name=3, enabled="x", fields=[field("a", "TXT")], resolicitationMode="x")

    assert {pointer for pointer, _ in errors} == {
        "/name",
        "/enabled",
        "/fields/0/type",
        "/resolicitationMode",
    }


def test_strings_are_trimmed_and_nulls_are_removed() -> None:
    form = saved_contact_form(
        name=" Contact\n", description=None, logo=None, header={"title": " Hi ", "subtitle": None}
    )

    assert (form.name, form.description, form.logo) == ("Contact", None, None)
    assert (form.header.title, form.header.subtitle) == ("Hi", "")


def test_control_characters_are_stored_unchanged() -> None:
    form = saved_contact_form(name="\u2003\x1cContact\x1f\u00a0", header={"title": "\x1d"})

    assert (form.name, form.header.title) == ("\x1cContact\x1f", "\x1d")


def test_ids_are_stored_in_lower_case() -> None:
    form = saved_contact_form(
        id=FORM.upper(), brandId=BRAND.upper(), fields=[field("a", id=ID.upper())]
    )

    assert (form.id, form.brand_id, form.fields[0].id) == (FORM, BRAND, ID)


def test_omitted_field_ids_are_derived_from_form_id_and_field_key() -> None:
    first = saved_contact_form(fields=[field("a"), field("b")])
    second = saved_contact_form(fields=[field("b"), field("c"), field("a")])
    ids = {item.key: item.id for item in second.fields}

    assert [item.id for item in first.fields] == [ids["a"], ids["b"]]
    assert len(set(ids.values())) == 3


def test_field_and_group_with_same_key_get_different_ids() -> None:
    form = saved_contact_form(fields=[field("a")], fieldGroups=[{"key": "a"}])

    assert form.fields[0].id != form.field_groups[0].id


def test_omitted_field_key_defaults_to_field_id() -> None:
    form = saved_contact_form(fields=[{"id": ID, "type": "TEXT"}])

    assert form.fields[0].key == ID


def test_ids_of_dependencies_between_same_fields_depend_on_their_order() -> None:
    form = saved_contact_form(
        fields=[field("a"), field("b")],
        fieldDependencies=[depends("b", "a", ("$ne", "x")), depends("b", "a", ("$ne", "y"))],
    )

    ends = [item.id for item in reversed(form.fields)]
    assert [dependency.id for dependency in form.field_dependencies] == [
        derived_id(FORM, "dependency", *ends, "1"),
        derived_id(FORM, "dependency", *ends, "2"),
    ]
    assert form.fields[1].dependencies == [item.id for item in form.field_dependencies]


def test_field_and_group_references_accept_key_or_id() -> None:
    form = saved_contact_form(
        fields=[field("a", id=ID, group="g"), field("b", group=STORE.upper()), field("c")],
        fieldGroups=[{"key": "g", "id": STORE}],
        fieldDependencies=[depends("b", "a", "x"), depends("c", ID.upper(), "x")],
    )

    assert {item.depends_on_field for item in form.field_dependencies} == {ID}
    assert [item.group for item in form.fields] == [STORE, STORE, ""]


def test_omitted_vertical_index_defaults_to_position_in_list() -> None:
    form = saved_contact_form(
        fields=[field("a"), field("b", verticalIndex=7), field("c")],
        fieldGroups=[{"key": "g"}, {"key": "h"}],
    )

    assert [item.vertical_index for item in form.fields] == [0, 7, 2]
    assert [item.vertical_index for item in form.field_groups] == [0, 1]


def test_new_form_has_current_time_as_timestamps() -> None:
    form = saved_contact_form(fields=[field("a")], fieldGroups=[{"key": "g"}])

    for item in (form, *form.fields, *form.field_groups):
        assert (item.created_at, item.updated_at) == (NOW_TEXT, NOW_TEXT)


def test_replaced_form_keeps_timestamps_of_existing_fields_and_groups() -> None:
    before = saved_contact_form(
        fields=[field("same"), field("changed"), field("gone")], fieldGroups=[{"key": "g"}]
    )
    after = replace_contact_form(
        before,
        fields=[field("same"), field("changed", required=True), field("new")],
        fieldGroups=[{"key": "g"}],
    )

    assert (after.created_at, after.updated_at) == (NOW_TEXT, LATER_TEXT)
    assert [(item.key, item.created_at, item.updated_at) for item in after.fields] == [
        ("same", NOW_TEXT, NOW_TEXT),
        ("changed", NOW_TEXT, LATER_TEXT),
        ("new", LATER_TEXT, LATER_TEXT),
    ]
    assert after.field_groups == before.field_groups


def test_saving_same_definition_again_does_not_change_form() -> None:
    before = saved_contact_form(fields=[field("a")])

    assert replace_contact_form(before, fields=[field("a")]) == before


def test_replaced_survey_keeps_timestamps_of_targets_and_support_email() -> None:
    parts: dict[str, Any] = {
        "targets": [{"type": "BRAND", "targetId": BRAND}],
        "supportEmail": {"email": "help@example.com"},
    }
    before = saved_survey(**parts)
    parts["targets"].append({"type": "STORE", "targetId": STORE})
    after = define_survey(survey(**parts), DIRECTORY, LATER, before)

    assert [target.created_at for target in after.targets] == [NOW_TEXT, LATER_TEXT]
    assert after.support_email == before.support_email


# --- fields, groups, dependencies


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([{"type": "TEXT"}], [("/fields/0/key", "required")]),
        ([field("a"), field("a")], [("/fields/1/key", "duplicate")]),
        ([field("a", id=ID), field("b", id=ID)], [("/fields/1/id", "duplicate")]),
        ([field("a"), field("b")], []),
        ([field("a", group="g")], [("/fields/0/group", "unknown_reference")]),
        ([field("a", group=NOWHERE)], [("/fields/0/group", "unknown_reference")]),
        ([field("a", "SINGLE_SELECT")], [("/fields/0/values", "required")]),
        ([field("a", "MULTI_SELECT")], [("/fields/0/values", "required")]),
        ([select("a", "x", "y")], []),
        ([select("a", "x", "x")], [("/fields/0/values/1", "duplicate")]),
        ([select("a", "x", " ")], [("/fields/0/values/1", "required")]),
    ],
)
def test_field_with_invalid_key_group_or_values_is_rejected(
    fields: list[Any], expected: list[tuple[str, str]]
) -> None:
    assert contact_form_errors(fields=fields) == expected


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"allowMaxReplies": True, "maxReplies": 1}, []),
        ({"allowMaxReplies": True, "maxReplies": 0}, ["/fields/0/maxReplies"]),
        ({"allowMaxReplies": False, "maxReplies": 0}, []),
        ({"allowMinReplies": True, "minReplies": 2}, []),
        ({"allowMinReplies": True, "minReplies": 3}, ["/fields/0/minReplies"]),
        ({"allowMinReplies": True, "minReplies": 3, "allowCustomValue": True}, []),
        (
            {"values": ["x"], "allowMinReplies": True, "minReplies": 2},
            ["/fields/0/minReplies"],
        ),
        ({"allowMinReplies": False, "minReplies": 3}, []),
        (
            {"allowMinReplies": True, "minReplies": 2, "allowMaxReplies": True, "maxReplies": 2},
            [],
        ),
        (
            {"allowMinReplies": True, "minReplies": 2, "allowMaxReplies": True, "maxReplies": 1},
            ["/fields/0/maxReplies"],
        ),
    ],
)
def test_reply_limits_that_no_answer_satisfies_are_rejected(
    limits: dict[str, Any], expected: list[str]
) -> None:
    definition = select("a", "x", "y", kind="MULTI_SELECT") | limits
    errors = contact_form_errors(fields=[definition])

    assert errors == [(pointer, "out_of_range") for pointer in expected]


@pytest.mark.parametrize(("minimum", "is_rejected"), [(1, False), (2, True)])
def test_field_with_single_reply_rejects_min_replies_above_one(
    minimum: int, is_rejected: bool
) -> None:
    errors = contact_form_errors(fields=[field("a", allowMinReplies=True, minReplies=minimum)])

    assert errors == ([("/fields/0/minReplies", "out_of_range")] if is_rejected else [])


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([{"name": "x"}], [("/fieldGroups/0/key", "required")]),
        ([{"key": "g"}, {"key": "g"}], [("/fieldGroups/1/key", "duplicate")]),
        ([{"id": ID}, {"id": ID}], [("/fieldGroups/1/id", "duplicate")]),
        ([{"id": ID}, {"key": "g"}], []),
    ],
)
def test_field_group_requires_unique_key_or_id(
    groups: list[Any], expected: list[tuple[str, str]]
) -> None:
    assert contact_form_errors(fieldGroups=groups) == expected


@pytest.mark.parametrize(
    ("dependency", "expected"),
    [
        (depends("b", "a"), []),
        (depends("x", "a"), [("field", "unknown_reference")]),
        (depends("b", "x"), [("dependsOnField", "unknown_reference")]),
        (depends(NOWHERE, "a"), [("field", "unknown_reference")]),
        (depends("b", "b"), [("dependsOnField", "cycle")]),
        ({**depends("b", "a"), "dependsOnFieldValues": []}, [("dependsOnFieldValues", "required")]),
        (depends("b", "a", "Maybe"), [("dependsOnFieldValues/0/value", "not_allowed")]),
        (depends("b", "a", "Yes", "Maybe"), [("dependsOnFieldValues/1/value", "not_allowed")]),
        (depends("b", "a", ("$in", "Yes, No")), []),
        (depends("b", "a", ("$nin", '["Yes", "No"]')), []),
        (depends("b", "a", ("$in", "Yes, X")), [("dependsOnFieldValues/0/value", "not_allowed")]),
        (depends("b", "a", ("$contains", "Ye")), []),
        (depends("b", "a", ("$contains", "")), [("dependsOnFieldValues/0/value", "required")]),
        (depends("b", "a", ("$exists", "true")), []),
        (depends("b", "a", ("$exists", "1")), [("dependsOnFieldValues/0/value", "not_allowed")]),
        (depends("b", "nps", ("$lte", "6")), []),
        (depends("b", "nps", "7"), []),
        (depends("b", "nps", "7.0"), []),
        (depends("b", "nps", "11"), [("dependsOnFieldValues/0/value", "not_allowed")]),
        (depends("b", "open", "anything"), []),
        (depends("b", "text", "anything"), []),
    ],
)
def test_dependency_requires_existing_fields_and_possible_values(
    dependency: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    fields = [
        select("a"),
        field("b"),
        field("nps", "NPS"),
        select("open", allowCustomValue=True),
        field("text"),
    ]
    errors = contact_form_errors(fields=fields, fieldDependencies=[dependency])

    assert errors == [(f"/fieldDependencies/0/{where}", code) for where, code in expected]


@pytest.mark.parametrize("operator", ["$equals", "eq", "$and"])
def test_unknown_comparison_operator_is_rejected(operator: str) -> None:
    errors = contact_form_errors(
        fields=[select("a"), field("b")], fieldDependencies=[depends("b", "a", (operator, "Yes"))]
    )

    assert errors == [("/fieldDependencies/0/dependsOnFieldValues/0/operator", "not_allowed")]


def test_duplicate_dependency_id_is_rejected() -> None:
    errors = contact_form_errors(
        fields=[select("a"), field("b")],
        fieldDependencies=[depends("b", "a", id=ID), depends("b", "a", id=ID)],
    )

    assert errors == [("/fieldDependencies/1/id", "duplicate")]


def test_only_dependencies_on_cycle_are_reported() -> None:
    fields = [select(key) for key in ("a", "b", "c", "d", "e")]
    ring = [depends("a", "b"), depends("b", "c"), depends("c", "a")]
    outside = [depends("d", "a"), depends("a", "e")]

    assert contact_form_errors(fields=fields, fieldDependencies=[*outside, *ring]) == [
        (f"/fieldDependencies/{position}/dependsOnField", "cycle") for position in (2, 3, 4)
    ]
    assert contact_form_errors(fields=fields, fieldDependencies=[*outside, *ring[:2]]) == []


# --- colours, URLs, translations


@pytest.mark.parametrize("colour", ["", "#fff", "#FFF8", "#a0B1c2", "#a0b1c2d3"])
def test_hexadecimal_or_empty_colour_is_accepted(colour: str) -> None:
    assert contact_form_errors(generalStyle={"titleColor": colour}) == []


@pytest.mark.parametrize("colour", ["red", "fff", "#ff", "#fffff", "#ggg", "#fff; x", "#１２３"])
def test_invalid_colour_is_rejected(colour: str) -> None:
    assert survey_errors(
        generalStyle={"starBorderColor": colour},
        footer={"iconColor": colour},
        preRedirectConfig={"type": "NPS", "button": {"topic": {"color": colour}}},
    ) == [
        ("/generalStyle/starBorderColor", "invalid_colour"),
        ("/footer/iconColor", "invalid_colour"),
        ("/preRedirectConfig/button/topic/color", "invalid_colour"),
    ]


@pytest.mark.parametrize("address", ["", "https://a.example", "https://a.example/p?q=1#f"])
def test_https_or_empty_url_is_accepted(address: str) -> None:
    assert survey_errors(externalLink={"website": address}, logo={"url": address}) == []


@pytest.mark.parametrize(
    "address",
    ["www.example.com", "javascript:alert(1)", "ftp://a.example", "http://a.example", "https://",
     "https://a b/", "https://[a", "https://a.example/" + "x" * 2048, "https://a\u0000.example"],
)  # fmt: skip
def test_invalid_url_is_rejected(address: str) -> None:
    assert survey_errors(
        externalLink={"website": address},
        logo={"url": address, "sourceUrl": address},
        generalStyle={"font": {"url": address}},
        targets=[{"type": "BRAND", "targetId": BRAND, "newReviewUri": address}],
    ) == [
        ("/generalStyle/font/url", "invalid_url"),
        ("/externalLink/website", "invalid_url"),
        ("/logo/url", "invalid_url"),
        ("/logo/sourceUrl", "invalid_url"),
        ("/targets/0/newReviewUri", "invalid_url"),
    ]


def test_translation_with_unknown_field_or_wrong_value_count_is_rejected() -> None:
    form: dict[str, Any] = {"fields": [select("a", "x", "y")], "fieldGroups": [{"key": "g"}]}

    def errors(**texts: Any) -> list[tuple[str, str]]:
        return contact_form_errors(**form, translations={"zh-TW": texts})

    assert errors(fields={"a": {"values": ["1", "2"]}}, groups={"g": {"name": "G"}}) == []
    assert errors(fields={"a": {"values": []}}) == []
    assert errors(fields={"a": {"values": ["1"]}}) == [
        ("/translations/zh-TW/fields/a/values", "out_of_range")
    ]
    assert errors(fields={"b": {}}, groups={"h": {}}) == [
        ("/translations/zh-TW/fields/b", "unknown_reference"),
        ("/translations/zh-TW/groups/h", "unknown_reference"),
    ]


def test_thank_you_texts_have_different_ratings_and_complete_translations() -> None:
    thanks = [{"minRating": 0, "title": "a"}, {"minRating": 10, "title": "b"}]
    assert contact_form_errors(thanks=thanks) == []
    assert contact_form_errors(thanks=[thanks[0], thanks[0]]) == [
        ("/thanks/1/minRating", "duplicate")
    ]
    assert contact_form_errors(thanks=[{"minRating": 0, "title": "{shop}"}]) == [
        ("/thanks/0/title", "unknown_placeholder")
    ]
    assert contact_form_errors(thanks=thanks, translations={"zh-TW": {"thanks": [{}]}}) == [
        ("/translations/zh-TW/thanks", "out_of_range")
    ]
    assert [code for _, code in contact_form_errors(thanks=[{"minRating": 11}])] != []


@pytest.mark.parametrize("part", ["header", "submission"])
def test_unknown_placeholder_is_rejected(part: str) -> None:
    assert contact_form_errors(**{part: {"title": "{store|us}", "subtitle": "{date}"}}) == []
    texts = {part: {"subtitle": "{shop}"}}
    code = "unknown_placeholder"
    assert contact_form_errors(**texts) == [(f"/{part}/subtitle", code)]
    assert contact_form_errors(translations={"zh-TW": texts}) == [
        (f"/translations/zh-TW/{part}/subtitle", code)
    ]


@pytest.mark.parametrize("part", ["header", "submission"])
@pytest.mark.parametrize("key", ["title", "subtitle"])
def test_title_of_more_than_500_characters_is_rejected(part: str, key: str) -> None:
    assert contact_form_errors(**{part: {key: "a" * 500}}) == []
    texts = {part: {key: "a" * 501}}
    assert contact_form_errors(**texts) == [(f"/{part}/{key}", "too_long")]
    assert contact_form_errors(translations={"zh-TW": texts}) == [
        (f"/translations/zh-TW/{part}/{key}", "too_long")
    ]
    assert contact_form_errors(thanks=[{"minRating": 0, key: "a" * 501}]) == [
        (f"/thanks/0/{key}", "too_long")
    ]


@pytest.mark.parametrize(
    ("values", "positions"),
    [(["1", "2", "1"], [2]), (["1", "1", "1"], [1, 2]), (["", "", "1"], [])],
)
def test_duplicate_translated_value_is_rejected_unless_empty(
    values: list[str], positions: list[int]
) -> None:
    translations = {"fr": {"fields": {"a": {"values": values}}}}
    assert contact_form_errors(fields=[select("a", "x", "y", "z")], translations=translations) == [
        (f"/translations/fr/fields/a/values/{position}", "duplicate") for position in positions
    ]


def test_translation_into_form_language_is_rejected() -> None:
    assert contact_form_errors(translations={"en": {}}) == [("/translations/en", "not_allowed")]
    assert contact_form_errors(translations={"fr": {}}) == []


# --- brands and stores of the account


@pytest.mark.parametrize(
    ("brand", "expected"),
    [
        (BRAND, []),
        (STORE, [("/brandId", "unknown_reference")]),
        (NOWHERE, [("/brandId", "unknown_reference")]),
    ],
)
def test_brand_of_contact_form_must_belong_to_account(
    brand: str, expected: list[tuple[str, str]]
) -> None:
    assert contact_form_errors(brandId=brand) == expected


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        ([("BRAND", BRAND), ("STORE", STORE), ("BRAND", OTHER_BRAND)], []),
        ([("BRAND", STORE)], [("/targets/0/targetId", "unknown_reference")]),
        ([("STORE", BRAND)], [("/targets/0/targetId", "unknown_reference")]),
        (
            [("BRAND", BRAND), ("STORE", NOWHERE)],
            [("/targets/1/targetId", "unknown_reference")],
        ),
        ([("BRAND", BRAND), ("BRAND", BRAND)], [("/targets/1/targetId", "duplicate")]),
        ([("REGION", BRAND)], [("/targets/0/type", "not_allowed")]),
    ],
)
def test_survey_targets_must_be_unique_brands_and_stores_of_account(
    targets: list[tuple[str, str]], expected: list[tuple[str, str]]
) -> None:
    definitions = [{"type": kind, "targetId": place} for kind, place in targets]

    assert survey_errors(targets=definitions) == expected


# --- sending options and redirects


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ({"sendingChannels": []}, [("/sendingChannels", "required")]),
        ({"sendingChannels": [], "publiclyAvailable": True}, []),
        ({"sendingChannels": ["SMS", "EMAIL"]}, []),
        ({"sendingChannels": ["SMS", "SMS"]}, [("/sendingChannels/1", "duplicate")]),
        ({"sendingChannels": ["PIGEON"]}, [("/sendingChannels/0", "not_allowed")]),
        ({"sendingChannels": ["LINK"]}, [("/sendingChannels/0", "not_allowed")]),
        ({"sendingChannels": ["LINK"], "publiclyAvailable": True}, []),
        ({"solicitationThreshold": 0, "resolicitationDelay": 0}, []),
        ({"solicitationThreshold": -1}, [("/solicitationThreshold", "out_of_range")]),
        ({"resolicitationDelay": -1}, [("/resolicitationDelay", "out_of_range")]),
        ({"resolicitationDelay": 366 * 24 * 3600}, []),
        ({"solicitationDelay": 90 * 24 * 3600, "solicitationDelayFrom": "END_DATE"}, []),
        (
            {"solicitationDelay": 90 * 24 * 3600 + 1},
            [("/solicitationDelay", "out_of_range")],
        ),
        ({"solicitationDelay": -1}, [("/solicitationDelay", "out_of_range")]),
        ({"reminderDelay": 24 * 3600}, []),
        ({"reminderDelay": 30 * 24 * 3600}, []),
        ({"reminderDelay": 24 * 3600 - 1}, [("/reminderDelay", "out_of_range")]),
        ({"reminderDelay": 30 * 24 * 3600 + 1}, [("/reminderDelay", "out_of_range")]),
        (
            {"resolicitationDelay": 366 * 24 * 3600 + 1},
            [("/resolicitationDelay", "out_of_range")],
        ),
        ({"resolicitationMode": "STORE"}, []),
        ({"resolicitationMode": "CITY"}, [("/resolicitationMode", "not_allowed")]),
        ({"supportEmail": {"email": "x"}}, [("/supportEmail/email", "invalid_email")]),
        (
            {"supportEmail": {"email": "hélène@example.com"}},
            [("/supportEmail/email", "invalid_email")],
        ),
        ({"supportEmail": {"email": "help@bücher.example"}}, []),
        ({"supportEmail": {}}, [("/supportEmail/email", "required")]),
    ],
)
def test_invalid_sending_options_of_survey_are_rejected(
    overrides: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert survey_errors(**overrides) == expected


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ({"preRedirect": True}, [("/preRedirectConfig", "required")]),
        (
            {"preRedirect": True, "preRedirectConfig": {"type": "NPS"}},
            [("/preRedirectConfig/threshold", "required")],
        ),
        ({"preRedirect": True, "preRedirectConfig": {"type": "NPS", "threshold": 0}}, []),
        ({"preRedirect": True, "preRedirectConfig": {"type": "BINARY", "threshold": 10}}, []),
        ({"preRedirectConfig": {"type": "NPS"}}, []),
        (
            {"preRedirectConfig": {"type": "NPS", "threshold": 11}},
            [("/preRedirectConfig/threshold", "out_of_range")],
        ),
        (
            {"preRedirectConfig": {"type": "NPS", "threshold": -1}},
            [("/preRedirectConfig/threshold", "out_of_range")],
        ),
        (
            {"preRedirectConfig": {"type": "STARS", "threshold": 1}},
            [("/preRedirectConfig/type", "not_allowed")],
        ),
        ({"preRedirectThreshold": 3}, [("/preRedirectThreshold", "unknown_key")]),
        ({"postRedirect": True}, [("/postRedirectThreshold", "required")]),
        ({"postRedirect": True, "postRedirectThreshold": 0}, []),
        ({"postRedirect": True, "postRedirectThreshold": 10}, []),
        (
            {"postRedirect": True, "postRedirectThreshold": 11},
            [("/postRedirectThreshold", "out_of_range")],
        ),
        ({"postRedirectThreshold": -1}, [("/postRedirectThreshold", "out_of_range")]),
    ],
)
def test_invalid_redirect_options_of_survey_are_rejected(
    overrides: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert survey_errors(**overrides) == expected


def test_all_rule_errors_are_reported_at_once() -> None:
    errors = survey_errors(
        preRedirect=True,
        postRedirect=True,
        postRedirectThreshold=11,
        solicitationThreshold=-1,
        sendingChannels=[],
        targets=[{"type": "STORE", "targetId": NOWHERE}],
        generalStyle={"titleColor": "red"},
        fields=[select("a"), select("b", group="nowhere"), field("c", "MULTI_SELECT")],
        fieldDependencies=[depends("a", "b"), depends("b", "a"), depends("a", "x")],
    )

    assert set(errors) == {
        ("/preRedirectConfig", "required"),
        ("/postRedirectThreshold", "out_of_range"),
        ("/solicitationThreshold", "out_of_range"),
        ("/sendingChannels", "required"),
        ("/targets/0/targetId", "unknown_reference"),
        ("/generalStyle/titleColor", "invalid_colour"),
        ("/fields/1/group", "unknown_reference"),
        ("/fields/2/values", "required"),
        ("/fieldDependencies/0/dependsOnField", "cycle"),
        ("/fieldDependencies/1/dependsOnField", "cycle"),
        ("/fieldDependencies/2/dependsOnField", "unknown_reference"),
    }
    assert len(errors) == 11


# --- size limit


@pytest.mark.parametrize("letter", ["x", "é"])
def test_form_larger_than_50_kilobytes_is_rejected(letter: str) -> None:
    def translated(text: str) -> SavedContactForm:
        return saved_contact_form(translations={"fr": {"footer": {"text": text}}})

    def of_size(size: int) -> SavedContactForm:
        rest = size - len(translated("a").model_dump_json().encode()) + 1
        width = len(letter.encode())
        return translated(letter * (rest // width) + "a" * (rest % width))

    assert len(of_size(MAX_FORM_BYTES).model_dump_json().encode()) == MAX_FORM_BYTES == 51200
    with pytest.raises(RecordTooLarge) as raised:
        of_size(MAX_FORM_BYTES + 1)
    assert raised.value.limit == MAX_FORM_BYTES


def view_bytes(form: SavedContactForm | SavedSurvey) -> int:
    """Return the size of the partner view as Lambda marshals it."""
    model = PartnerSurvey if isinstance(form, SavedSurvey) else PartnerContactForm
    view = model.read(form.model_dump_json(), DIRECTORY, submission_count=0)
    return len(json.dumps(view.model_dump_json())) - 2


@pytest.mark.parametrize("letter", ["Ж", "é", "€", '"', "\\"])
def test_form_with_partner_view_over_61000_escaped_bytes_is_rejected(letter: str) -> None:
    def of_size(size: int) -> SavedContactForm:
        rest = size - view_bytes(saved_contact_form(footer={"text": "a"})) + 1
        width = len(json.dumps(json.dumps(letter, ensure_ascii=False))) - 6
        return saved_contact_form(footer={"text": letter * (rest // width) + "a" * (rest % width)})

    assert view_bytes(of_size(MAX_LISTED_BYTES)) == MAX_LISTED_BYTES
    with pytest.raises(RecordTooLarge) as raised:
        of_size(MAX_LISTED_BYTES + 1)
    assert raised.value.limit == MAX_LISTED_BYTES


def test_size_of_partner_view_includes_names_of_targets() -> None:
    def saved(name: str, count: int) -> SavedSurvey:
        brands = [
            Place(id=derived_id(str(n)), kind=PlaceKind.BRAND, name=name) for n in range(count)
        ]
        targets = [{"type": "BRAND", "targetId": brand.id} for brand in brands]
        directory = Directory.of(brands)
        return define_survey(survey(targets=targets), directory, LATER)

    saved("Lumen", 35)
    with pytest.raises(RecordTooLarge):
        saved("Ж" * 255, 35)


@pytest.mark.parametrize(
    ("delay_s", "is_valid"), [(59, False), (60, True), (30 * 24 * 3600, True), (2_592_001, False)]
)
def test_reminder_follows_from_a_minute_on_in_emulated_stage(delay_s: int, is_valid: bool) -> None:
    definition = survey(reminderDelay=delay_s)
    with nullcontext() if is_valid else pytest.raises(InvalidInput):
        saved = define_survey(definition, DIRECTORY, NOW, is_emulated=True)
        assert saved.reminder_delay == delay_s
