"""A form definition that sets every optional field, and the style fields that the API returns."""

from typing import Any

from tests.domain.forms.factories import IMAGE, depends, field, select

STYLE_FIELDS = set(
    "fieldRadius buttonRadius font titleColor subtitleColor groupColor textColor accentColor "
    "dividerColor backgroundColor labelColor placeholderColor fieldBackgroundColor "
    "fieldBorderColor buttonTextColor buttonBackgroundColor buttonBorderColor fieldOptionColor "
    "logoPosition coverImagePosition submissionImagePosition".split()
)
SURVEY_STYLE_FIELDS = STYLE_FIELDS | set(
    "zoneColor starBackgroundColor starFilledBackgroundColor starBorderColor cardBorderColor "
    "cardBackgroundColor cardBorderRadius".split()
)
COMPLETE_FORM: dict[str, Any] = {
    "logo": IMAGE,
    "footerLogo": IMAGE,
    "cover": IMAGE,
    "submissionImage": IMAGE,
    "fieldGroups": [{"key": "visit", "name": "Your visit"}],
    "fields": [
        select("happy", group="visit"),
        field("why", group="visit"),
    ],
    "fieldDependencies": [depends("why", "happy", "No")],
    "translations": {"fr": {"header": {"title": "Bonjour"}}},
}
