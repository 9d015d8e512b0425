"""Parse phone numbers for text messages."""


def e164(number: str, region: str | None) -> str | None:
    """Return a valid phone number in the format E.164 (``+33612345678``), or None.

    Args:
        region: the ISO country code that applies to numbers without a country code; None if such
            numbers are invalid.
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
