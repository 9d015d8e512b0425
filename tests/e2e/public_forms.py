"""A client of the public forms. It reads views, builds answers and waits for submission counts."""

from dataclasses import dataclass
from typing import Any

from chalicelib.domain.forms.field_types import FieldType
from tests.e2e.cloud import Cloud
from tests.waiting import wait_until

_EXAMPLES = {
    **{field_type.value: field_type.rules.example for field_type in FieldType},
    "TEXT": "Zoé ☃ مرحبا",
    "LONG_TEXT": 'Très bien,\nvraiment "bien"; 100 % \\ </form>',
}


@dataclass(frozen=True)
class PublicForms:
    """A client that reads the public and the partner views of the demo account's forms."""

    cloud: Cloud

    def view(self, kind: str, form_id: str, **parameters: str) -> Any:
        """Return the public view of a contact form or survey."""
        name = "id" if kind == "contact-form" else "survey"
        response = self.cloud.http.get(f"/public/{kind}", params={name: form_id, **parameters})
        assert response.status_code == 200, response.text
        return response.json()

    def unused_tracker(self) -> str:
        """Return an unused tracker of the private survey."""
        survey = self.cloud.demo["privateSurveyId"]
        for tracker in self.cloud.demo["trackers"]:
            params = {"survey": survey, "tracker": tracker}
            if self.cloud.http.get("/public/survey", params=params).status_code == 200:
                return str(tracker)
        raise AssertionError("All trackers of the demo are used.")

    def answers(self, view: Any) -> list[dict[str, Any]]:
        """Return a valid answer for every field of a public view, including conditional fields."""
        return [
            {
                "id": field["id"],
                # The values of a scale are labels, not options.
                "values": [
                    field["values"][0]
                    if FieldType(field["type"]).rules.options_from_field
                    else _EXAMPLES[field["type"]]
                ],
            }
            for field in view["fields"]
        ]

    def submissions(self, kind: str, form_id: str) -> int:
        """Return the submission count that the partner view of the form shows."""
        demo = self.cloud.demo
        headers = {"X-API-KEY": demo["apiKey"], "X-API-SECRET": demo["apiSecret"]}
        response = self.cloud.http.get(f"/partners/{kind}", params={"id": form_id}, headers=headers)
        assert response.status_code == 200, response.text
        return int(response.json()["submissionCount"])

    def wait_for(self, expected: int, kind: str, form_id: str) -> None:
        """Wait until the partner view of the form shows this submission count."""
        wait_until(lambda: self.submissions(kind, form_id) == expected)
