"""Names of time zones and countries, read from the package tzdata.

Operating systems have different time zones. The package has the same time zones on every machine.
"""

from functools import cache
from importlib.resources import files
from typing import Annotated, Final

from pydantic import Field

from chalicelib.domain.schema import must

_TZDATA: Final = "tzdata"


@cache
def time_zone_names() -> frozenset[str]:
    """Return the names of the IANA time zones."""
    return frozenset((files(_TZDATA) / "zones").read_text(encoding="utf-8").split())


@cache
def country_codes() -> frozenset[str]:
    """Return the two-letter country codes of ISO 3166."""
    table = (files(_TZDATA) / "zoneinfo" / "iso3166.tab").read_text(encoding="utf-8")
    return frozenset(line[:2] for line in table.splitlines() if line and not line.startswith("#"))


TimeZoneName = Annotated[
    str,
    Field(max_length=64),
    must(
        lambda name: name in time_zone_names(),
        "invalid",
        "Must be an IANA time zone, such as Europe/Paris.",
    ),
]
"""The name of an IANA time zone, such as ``Europe/Paris``."""

CountryCode = Annotated[
    str,
    Field(max_length=2),
    must(
        lambda code: code in country_codes(),
        "invalid",
        "Must be a two-letter country code of ISO 3166, such as FR.",
    ),
]
"""A two-letter country code of ISO 3166 in upper case, such as ``FR``."""
