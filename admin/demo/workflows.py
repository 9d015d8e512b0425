"""Build the workflows of the demo data. All of them send their webhooks to the same URL."""

from typing import Any

from admin.demo.ids import demo_id


def main_workflows(url: str) -> list[dict[str, Any]]:
    """Return the definitions of the main account's workflows.

    All actions send webhooks to this URL.
    """
    return [
        {
            "id": demo_id("workflow visit"),
            "name": "Rated visits",
            "conditions": [
                {"subject": "survey", "operator": "$eq", "value": demo_id("survey visit")}
            ],
            "actions": [
                {
                    "key": "crm",
                    "description": "Updates the CRM",
                    "url": url,
                    "headers": {
                        "Authorization": "Bearer demo",
                        "X-Team": "care",
                        # The service replaces these two custom headers with its system headers of
                        # the same name.
                        "user-agent": "Custom-Agent",
                        "x-service-webhook-signature": "sha256=custom",
                    },
                    "metadata": {"team": "care", "channel": "survey"},
                }
            ],
        },
        {
            "id": demo_id("workflow contact"),
            "name": "Contact form messages",
            "conditions": [
                {"subject": "form", "operator": "$eq", "value": demo_id("contact-form lumen")}
            ],
            "actions": [
                {
                    "key": "helpdesk",
                    "description": "Opens a ticket",
                    "url": url,
                    "metadata": {"queue": "contact"},
                }
            ],
        },
        {
            "id": demo_id("workflow unhappy"),
            "name": "Unhappy guests",
            "conditions": [
                {"subject": "rating", "operator": "$lte", "value": "4"},
                {"subject": "brand", "operator": "$eq", "value": demo_id("brand lumen")},
            ],
            "actions": [
                {
                    "key": "alert",
                    "description": "Calls the manager on duty",
                    "url": url,
                    "attempts": 3,
                }
            ],
        },
    ]
