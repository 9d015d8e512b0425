"""Test the table of external platforms: data sources, customer identifiers and metadata keys."""

from chalicelib.domain.customers.platforms import IDENTIFIERS, METADATA_KEYS, DataSource

SOURCES = set(
    "Email Sms Import Survey Site Experience AutoGestion Google Tripadvisor Trustpilot Yelp "
    "Foursquare Facebook Instagram WhatsApp Messenger TheFork Zenchef OpenTable UberEats Deliveroo "
    "Lightspeed Opera Mews Synkros Como Salesforce HubSpot Booking Expedia Airbnb Agoda".split()
)


def test_data_sources_equal_sources_of_contract() -> None:
    assert set(DataSource) == SOURCES
    assert len(DataSource) == 32


def test_customer_identifiers_equal_identifiers_of_contract() -> None:
    assert sorted(IDENTIFIERS) == sorted(
        "facebookId theForkId zenchefId openTableId uberEatsId deliverooId lightspeedId operaId "
        "mewsId synkrosId comoId bookingId expediaId".split()
    )


def test_metadata_keys_equal_keys_of_contract() -> None:
    assert sorted(METADATA_KEYS) == sorted(
        "import google tripadvisor trustpilot yelp foursquare facebook instagram theFork zenchef "
        "openTable uberEats deliveroo lightspeed opera mews synkros como salesforce hubSpot "
        "booking expedia airbnb agoda".split()
    )
