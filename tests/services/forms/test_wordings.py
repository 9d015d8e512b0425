"""Tests that answers keep the wording that the respondent saw."""

from typing import Any

import boto3
import pytest

from admin.services.definitions import kinds
from chalicelib.aws_calls import counted_calls
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.submission import ContactFormSubmission
from chalicelib.domain.forms.wording import FormWording
from chalicelib.domain.parsing import parse
from chalicelib.services.caching import clear_caches
from chalicelib.services.feedback.submit import SubmissionMetadata, submit_feedback
from chalicelib.services.forms.cached_forms import Respondent, get_contact_form
from chalicelib.services.forms.wordings import _versions, forms_and_wordings
from chalicelib.settings import settings
from tests.domain.forms.factories import contact_form, select
from tests.web.seeded_account import SeededAccount, seed_account

FRENCH = {"fr": {"fields": {"what": {"label": "Quoi ?", "values": ["Repas", "Prix"]}}}}
IN_FRENCH = SubmissionMetadata(Respondent(language="fr"))


@pytest.fixture(autouse=True)
def no_cached_versions() -> None:
    _versions.clear()


def save(seeded: SeededAccount, label: str, *values: str, **overrides: Any) -> str:
    """Replace the only field of the contact form. Return the version of the form."""
    what = select("what", *(values or ("Food", "Price")), id=seeded.fields["what"], label=label)
    seeded.contact_form(fields=[what], autoTranslate=True, **overrides)
    return get_contact_form(seeded.contact_form_id).version


def answer(
    seeded: SeededAccount, metadata: SubmissionMetadata | None = None, **more: str
) -> Feedback:
    body = {"id": seeded.contact_form_id, "fields": seeded.answers(), **more}
    return submit_feedback(parse(body, ContactFormSubmission), metadata or SubmissionMetadata())


def seen(record: Feedback) -> list[str]:
    """Return the label and the displayed values of the record's first answer."""
    ((_, wording),) = forms_and_wordings([record])
    (question,) = wording.of_answers(record.answers[:1], record.language)
    return question.texts


def stored_versions(seeded: SeededAccount) -> set[str]:
    table = boto3.resource("dynamodb").Table(settings().resource_name("contact-forms"))
    prefix = f"{seeded.contact_form_id}#"
    keys = [row["form_id"] for row in table.scan()["Items"]]
    return {key.removeprefix(prefix) for key in keys if key.startswith(prefix)}


def test_answer_keeps_label_and_options_in_language_of_respondent(seeded: SeededAccount) -> None:
    save(seeded, "What?", translations=FRENCH)
    english, french = answer(seeded), answer(seeded, IN_FRENCH)
    save(seeded, "Which?", "Rooms")
    assert (seen(english), seen(french)) == (["What?", "Food"], ["Quoi ?", "Repas"])
    assert french.answers[0].values == ["Food"]


def test_each_save_with_new_wording_adds_one_version(seeded: SeededAccount) -> None:
    before = stored_versions(seeded)
    first = save(seeded, "What?")
    assert save(seeded, "What?", name="Another name") == first
    second = save(seeded, "Which?")
    assert stored_versions(seeded) - before == {first, second}
    assert save(seeded, "What?") == first


def test_version_contains_only_questions(seeded: SeededAccount) -> None:
    wording = FormWording.of(get_contact_form(seeded.contact_form_id).saved)
    assert {*wording.model_dump()} == {"questions"}
    assert {*wording.questions[0].model_dump()} == {
        *("id", "key", "type", "label", "values", "translations")
    }


def test_version_of_page_counts_if_form_changes_before_the_submission(
    seeded: SeededAccount,
) -> None:
    displayed = save(seeded, "What?")
    current = save(seeded, "Which?")
    record = answer(seeded, version=displayed)
    assert (record.form_version, record.displayed_version) == (current, displayed)
    assert seen(record) == ["What?", "Food"]


def test_unknown_version_is_ignored(seeded: SeededAccount) -> None:
    save(seeded, "What?")
    record = answer(seeded, version="0" * 32)
    save(seeded, "Which?")
    assert seen(record) == ["What?", "Food"]


def test_version_of_other_form_is_ignored(
    seeded: SeededAccount,
) -> None:
    foreign = save(seed_account(), "Secret?")
    save(seeded, "What?")
    record = answer(seeded, version=foreign)
    assert seen(record) == ["What?", "Food"]


def test_missing_wording_is_stored_when_the_form_is_replaced(
    seeded: SeededAccount,
) -> None:
    version = save(seeded, "What?")
    table = boto3.resource("dynamodb").Table(settings().resource_name("contact-forms"))
    table.delete_item(Key={"form_id": f"{seeded.contact_form_id}#{version}", "part": "version"})
    record = answer(seeded)
    assert seen(record) == ["What?", "Food"]
    save(seeded, "Which?")
    assert seen(record) == ["What?", "Food"]


def test_field_that_version_lacks_is_labelled_with_its_key(seeded: SeededAccount) -> None:
    record = answer(seeded)
    unknown = record.model_copy(update={"form_id": "x"})
    assert seen(unknown) == ["what", "Food"]


def test_repeated_submission_with_other_version_is_the_same_submission(
    seeded: SeededAccount,
) -> None:
    metadata = SubmissionMetadata(idempotency_key="k")
    first = answer(seeded, metadata, version="0" * 32)
    assert answer(seeded, metadata, version="1" * 32) == first == answer(seeded, metadata)


def test_current_wording_takes_no_request_and_earlier_ones_take_one(
    seeded: SeededAccount,
) -> None:
    records = []
    for label in ("One?", "Two?", "Three?"):
        save(seeded, label)
        records.append(answer(seeded))
    clear_caches()
    get_contact_form(seeded.contact_form_id)
    for expected, group in ((0, records[2:]), (1, records), (0, records)):
        with counted_calls() as calls:
            forms_and_wordings(group)
        assert sum(calls.values()) == expected


def test_concurrent_replacement_loses_no_version(seeded: SeededAccount) -> None:
    save(seeded, "One?")
    definition = contact_form(
        id=seeded.contact_form_id,
        brandId=seeded.brand_id,
        enabled=True,
        fields=[select("what", "Food", "Price", id=seeded.fields["what"], label="Three?")],
    )
    records = []

    def interrupt(_: object) -> None:
        if not records:
            save(seeded, "Two?")
            records.append(answer(seeded))

    kinds.save(kinds.CONTACT_FORM, seeded.account_id, definition, check=interrupt)
    clear_caches()
    assert seen(records[0]) == ["Two?", "Food"]
