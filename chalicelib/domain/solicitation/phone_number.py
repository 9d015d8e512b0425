"""Parse phone numbers for text messages and searches."""


def e164(number: str, region: str | None) -> str | None:
    """Return a valid phone number in the format E.164 (``+33612345678``), or None.

    Args:
        region: the ISO country code for numbers without a country code. If it is None, numbers
            without a country code are invalid.
    """
    # The metadata of all countries is large, so it is imported only by functions that send.
    from phonenumbers import (
        NumberParseException,
        PhoneNumberFormat,
        format_number,
        is_valid_number,
        parse,
    )

    try:
        parsed = parse(number, region)
    except NumberParseException:
        return None
    return format_number(parsed, PhoneNumberFormat.E164) if is_valid_number(parsed) else None


def region_of(number: str) -> str | None:
    """Return the country of a phone number in the format E.164.

    Numbers without a country, such as those of satellite networks (``+881``), have the region
    ``001``.
    """
    from phonenumbers import parse, region_code_for_number

    return region_code_for_number(parse(number))


def is_mobile(number: str) -> bool:
    """Return whether a phone number in the format E.164 can be a mobile number.

    In some countries, such as the United States, mobile and fixed numbers have the same ranges.
    """
    from phonenumbers import PhoneNumberType, number_type, parse

    mobile_types = (PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE)
    return number_type(parse(number)) in mobile_types


def notations(number: str, region: str | None) -> set[str]:
    """Return a phone number as given and, if the number is valid, in other notations.

    The other notations are E.164 and, for numbers of the region, the national notation.
    """
    from phonenumbers import PhoneNumberFormat, format_number, parse, region_code_for_number

    valid = e164(number, region)
    if valid is None:
        return {number}
    parsed = parse(valid)
    if region_code_for_number(parsed) != region:
        return {number, valid}
    return {number, valid, format_number(parsed, PhoneNumberFormat.NATIONAL)}
