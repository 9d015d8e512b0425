"""Build the workflows of the demo data. All of them send their webhooks to the same URL."""

from typing import Any

from infrastructure.demo.ids import demo_id


def main_workflows(url: str) -> list[dict[str, Any]]:
    """Return the definitions of the main account's workflows."""
    crm = {
        "key": "crm",
        "description": "Updates the CRM",
        "url": url,
        "headers": {
            "Authorization": "Bearer demo",
            "X-Team": "care",
            # The service replaces these two custom headers with its system headers of the same
            # name.
            "user-agent": "Custom-Agent",
            "x-service-webhook-signature": "sha256=custom",
        },
        "metadata": {"team": "care", "channel": "survey"},
    }
    helpdesk = {"key": "helpdesk", "description": "Opens a ticket", "url": url}
    alert = {"key": "alert", "description": "Calls the manager on duty", "url": url, "attempts": 3}
    visit, contact = demo_id("survey visit"), demo_id("contact-form lumen")
    unhappy = (("rating", "$lte", "4"), ("brand", "$eq", demo_id("brand lumen")))
    return [
        _workflow("visit", "Rated visits", crm, ("survey", "$eq", visit)),
        _workflow(
            "contact",
            "Contact form messages",
            helpdesk | {"metadata": {"queue": "contact"}},
            ("form", "$eq", contact),
        ),
        _workflow("unhappy", "Unhappy guests", alert, *unhappy),
    ]


def _workflow(
    key: str, name: str, action: dict[str, Any], *conditions: tuple[str, str, str]
) -> dict[str, Any]:
    names = ("subject", "operator", "value")
    return {
        "id": demo_id(f"workflow {key}"),
        "name": name,
        "conditions": [dict(zip(names, condition, strict=True)) for condition in conditions],
        "actions": [action],
    }
