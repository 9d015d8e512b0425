"""Table of external platforms. All lists of platforms in the API are generated from it.

To add a platform, add a row. The seven `NEUTRAL_SOURCES`, such as `Email`, are data sources but not
platforms.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


@dataclass(frozen=True)
class Platform:
    """An external system that customers, purchases or feedback come from.

    Attributes:
        source: the platform's name as a data source, in PascalCase.
        kind: the kind of system, for the API reference.
        identifies_customers: whether a customer has a field for the customer's id in this system.
        describes_customers: whether the customer metadata has a property for the customer's record
            in this system.
    """

    source: str
    kind: str
    identifies_customers: bool = False
    describes_customers: bool = True

    @property
    def metadata_key(self) -> str:
        """The name of the platform's property in the customer metadata: the source in camelCase."""
        return self.source[0].lower() + self.source[1:]

    @property
    def identifier(self) -> str:
        """The name of the customer field with the id in this system: the source and ``Id``."""
        return f"{self.metadata_key}Id"


PLATFORMS: Final = (
    Platform("Google", "review site"),
    Platform("Tripadvisor", "review site"),
    Platform("Trustpilot", "review site"),
    Platform("Yelp", "review site"),
    Platform("Foursquare", "review site"),
    Platform("Facebook", "social network", identifies_customers=True),
    Platform("Instagram", "social network"),
    Platform("WhatsApp", "messaging", describes_customers=False),
    Platform("Messenger", "messaging", describes_customers=False),
    Platform("TheFork", "reservation", identifies_customers=True),
    Platform("Zenchef", "reservation", identifies_customers=True),
    Platform("OpenTable", "reservation", identifies_customers=True),
    Platform("UberEats", "delivery", identifies_customers=True),
    Platform("Deliveroo", "delivery", identifies_customers=True),
    Platform("Lightspeed", "point of sale", identifies_customers=True),
    Platform("Opera", "hotel and casino", identifies_customers=True),
    Platform("Mews", "hotel and casino", identifies_customers=True),
    Platform("Synkros", "hotel and casino", identifies_customers=True),
    Platform("Como", "loyalty", identifies_customers=True),
    Platform("Salesforce", "CRM"),
    Platform("HubSpot", "CRM"),
    Platform("Booking", "booking and hospitality", identifies_customers=True),
    Platform("Expedia", "booking and hospitality", identifies_customers=True),
    Platform("Airbnb", "booking and hospitality"),
    Platform("Agoda", "booking and hospitality"),
)

NEUTRAL_SOURCES: Final = ("Email", "Sms", "Import", "Survey", "Site", "Experience", "AutoGestion")

IMPORT_METADATA_KEY: Final = "import"

IDENTIFIERS: Final = tuple(p.identifier for p in PLATFORMS if p.identifies_customers)
METADATA_KEYS: Final = (
    IMPORT_METADATA_KEY,
    *(p.metadata_key for p in PLATFORMS if p.describes_customers),
)

_SOURCES: Final = (*NEUTRAL_SOURCES, *(platform.source for platform in PLATFORMS))
DataSource = StrEnum("DataSource", {source: source for source in _SOURCES})  # type: ignore[misc]
DataSource.__doc__ = "Source of a customer, a purchase or a feedback record."
