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
