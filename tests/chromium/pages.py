"""Forms of a new account for tests of pages, and a reader of the feedback that is stored."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from admin.services.accounts.manage import create_account
from admin.services.definitions.check import check
from admin.services.definitions.definition import Kind
from admin.services.definitions.references import StoredResources
from admin.services.definitions.save import write
from chalicelib.domain.ids import new_id
from chalicelib.storage import feedback
from chalicelib.storage.feedback import FeedbackRow
from infrastructure.demo.contents import demo_definitions
from infrastructure.demo.ids import MAIN_ACCOUNT, demo_id
from tests.admin.command import new_account, run
from tests.domain.forms.factories import depends, field, select

REVIEW_PAGE = "https://reviews.example.com/new"
ANSWERS = {
    "text": ["Zoé"],
    "long": ["Very good"],
    "email": ["zoe@example.com"],
    "phone": ["+33 6 12 34 56 78"],
    "number": ["12"],
    "date": ["2026-11-20"],
    "single": ["Two"],
    "list": ["Three"],
    "multi": ["One", "Two"],
    "check": ["true"],
    "nps": ["3"],
    "why": ["Noise"],
    "stars": ["4"],
    "smileys": ["2"],
    "binary": ["unsatisfied"],
    "rating": ["7"],
}
"""An answer to each field of the complete form, by key."""

_NUMBERS = ["One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight"]
_FIELDS = [
    field("text", label="Name", required=True),
    field("long", "LONG_TEXT"),
    field("email", "EMAIL"),
    field("phone", "PHONE"),
    field("number", "NUMBER"),
    field("date", "DATE"),
    select("single", "One", "Two"),
    select("list", *_NUMBERS),
    select("multi", "One", "Two", "Three", kind="MULTI_SELECT", allowMaxReplies=True, maxReplies=2),
    field("check", "CHECKBOX"),
    field("nps", "NPS"),
    field("why", required=True),
    field("stars", "CSAT_STAR"),
    field("smileys", "CSAT_SMILEY"),
    field("binary", "BINARY"),
    field("rating", "RATING"),
]


@dataclass(frozen=True)
class Pages:
    """The pages of a new account.

    Attributes:
        base_url: the address at which the app is served.
        forms: the ids of contact forms by language; each contains a field of every type.
        surveys: the ids of surveys by type of their pre-redirect question; `RTL` is a survey in
            Hebrew with the question `NPS`, and `STEPS` a survey without one that has steps.
    """

    base_url: str
    account: str
    forms: dict[str, str]
    surveys: dict[str, str]

    def form(self, language: str = "en", query: str = "") -> str:
        """Return the URL of the page of the complete form."""
        return f"{self.base_url}/public/contact-form/page?id={self.forms[language]}{query}"

    def survey(self, question: str, query: str = "") -> str:
        """Return the URL of the page of a survey."""
        return f"{self.base_url}/public/survey/page?survey={self.surveys[question]}{query}"

    def demo(self, name: str) -> str:
        """Return the URL of the page of a form of the demo data, for example ``survey visit``."""
        kind, parameter = name.split()[0], "survey" if name.startswith("survey") else "id"
        return f"{self.base_url}/public/{kind}/page?{parameter}={demo_id(name)}"

    def stored(self, after: int = 0) -> list[dict[str, list[str]]]:
        """Return the answers of each feedback record, oldest first, as a dict by field key.

        Args:
            after: the number of records to skip.
        """
        ids = [row.feedback_id for row in FeedbackRow.by_account.query(self.account)][after:]
        found = feedback.find_many(ids)
        return [
            {answer.key: answer.values for answer in found[each].feedback.answers} for each in ids
        ]

    def count(self) -> int:
        """Return the number of stored feedback records."""
        return FeedbackRow.by_account.count(self.account)


def create_pages(base_url: str, folder: Path) -> Pages:
    """Create an account with forms, and the forms of the demo data."""
    account = new_account()
    brand, store = new_id(), new_id()
    forms = {"en": new_id(), "he": new_id()}
    kinds = ("", "STEPS", "NPS", "CSAT_STAR", "CSAT_SMILEY", "BINARY", "RTL")
    surveys = {kind: new_id() for kind in kinds}
    places = [
        {"kind": "brand", "id": brand, "name": "Maison Lumen"},
        {"kind": "store", "id": store, "brandId": brand, "name": "Lyon"},
    ]
    contact_forms = [
        {"kind": "contactForm", "id": form_id, "brandId": brand, "name": "Form"}
        | {"language": language, "header": {"title": "How was it?"}}
        | {"fields": _rows(_FIELDS)}
        | {"fieldDependencies": [depends("why", "nps", ("$lte", "6"))]}
        for language, form_id in forms.items()
    ]
    target = {"type": "STORE", "targetId": store, "enabled": True, "newReviewUri": REVIEW_PAGE}
    questions = [field("score", "NPS", required=True), field("note")]
    saved_surveys = [
        {"kind": "survey", "id": survey_id, "name": "Survey"}
        | {"language": "he" if kind == "RTL" else "en"}
        | {"publiclyAvailable": True, "targets": [target], "fields": _rows(questions)}
        | {"postRedirect": True, "postRedirectThreshold": 8}
        | ({"layout": "STEPS"} if kind == "STEPS" else {})
        | (
            {
                "preRedirect": True,
                "preRedirectConfig": {"type": kind.replace("RTL", "NPS"), "threshold": 8},
            }
            if kind not in ("", "STEPS")
            else {}
        )
        for kind, survey_id in surveys.items()
    ]
    file = folder / "pages.json"
    file.write_text(json.dumps([*places, *contact_forms, *saved_surveys]))
    assert run("definition", "load", "--yes", file, "--account", account).exit_code == 0
    _load_demo()
    return Pages(base_url, account, forms, surveys)


def _load_demo() -> None:
    create_account("Demo", MAIN_ACCOUNT)
    kinds = (Kind.BRAND, Kind.STORE, Kind.CONTACT_FORM, Kind.SURVEY)
    raw = [d for d in demo_definitions() if d.content["kind"] in kinds]
    checked, problems = check(
        [each for each in raw if each.content["account"] == MAIN_ACCOUNT], None, StoredResources()
    )
    assert problems == write(checked, lambda _: None) == []


def _rows(fields: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put each field in its own row."""
    return [item | {"verticalIndex": row} for row, item in enumerate(fields)]
