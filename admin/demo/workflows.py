"""The demo's workflows, which send webhooks to a given receiver."""

from typing import Any

from admin.demo.ids import demo_id


def main_workflows(url: str) -> list[dict[str, Any]]:
    """Return workflows for the main account's public survey and contact form."""
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
                        # System headers, which replace these custom ones.
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
