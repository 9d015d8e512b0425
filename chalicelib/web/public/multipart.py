"""Parse a ``multipart/form-data`` body (RFC 7578) into pairs of name and text."""

import re
from typing import Any, Final

from chalice.app import Request

from chalicelib.domain.errors import InputTooLarge, InvalidInput
from chalicelib.domain.input_errors import InputError
from chalicelib.web.json_body import MEDIA_TYPE as JSON
from chalicelib.web.json_body import malformed
from chalicelib.web.media_type import reject_content_encoding, require_media_type

MEDIA_TYPE: Final = "multipart/form-data"
FIELDS_PARTS: Final = ("fields", "fields[]")
JSON_PARTS: Final = (*FIELDS_PARTS, "labels")
"""The parts with JSON. Some clients send them like a file, with a file name."""
MAX_PARTS: Final = 2_500
MAX_HEADERS: Final = 8
"""The maximum number of headers of one part."""
MAX_HEADER_BYTES: Final = 1_024
"""The maximum size of one header of a part."""
_IDENTITY_ENCODINGS: Final = (b"", b"7bit", b"8bit", b"binary")

Part = tuple[str, str]
"""The name and the text of a part."""


def read_parts(request: Request, *, max_bytes: int) -> list[Part]:
    """Return the parts of the body, in order.

    Raises:
        UnsupportedMediaType: the content type is not ``multipart/form-data``, the charset is not
            UTF-8, or the body has a content encoding.
        InputTooLarge: the body exceeds ``max_bytes``.
        InvalidInput: the body is malformed, is not UTF-8, contains a file or has too many parts.
            A file input without a file and a file with a JSON document are not files here.
    """
    reject_content_encoding(request)
    require_media_type(request, MEDIA_TYPE)
    try:
        raw: Any = request.raw_body
    except ValueError:  # the gateway's Base64 is invalid
        raise malformed("Malformed Base64 in the body.") from None
    if len(raw) > max_bytes:
        raise InputTooLarge("body", max_bytes)
    return parse_parts(raw, request.headers["content-type"])


def parse_parts(raw: bytes, content_type: str) -> list[Part]:
    """Return the parts of a body with the boundary from the content type.

    Raises:
        InvalidInput: the body is malformed, is not UTF-8, contains a file or has too many parts.
    """
    # The library is imported on first use, because only submissions need it.
    from python_multipart.exceptions import FormParserError
    from python_multipart.multipart import MultipartParser, MultipartState, parse_options_header

    try:
        boundary = parse_options_header(content_type)[1].get(b"boundary", b"")
        if not boundary:
            raise malformed("Missing boundary in the content type.")
        collected = _Collected(parse_options_header)
        parser = MultipartParser(
            boundary,
            collected.callbacks(),  # type: ignore[arg-type]
            max_header_count=MAX_HEADERS,
            max_header_size=MAX_HEADER_BYTES,
        )
        parser.write(_with_empty_contents(raw, boundary))
        parser.finalize()
    except FormParserError as error:
        offset = getattr(error, "offset", -1)
        position = f" at byte {offset}" if offset >= 0 else ""
        raise malformed(f"The multipart body is malformed{position}.") from None
    except UnicodeError:
        raise malformed("Malformed header in the body.") from None
    if parser.state is not MultipartState.END:
        raise malformed("Missing final boundary.")
    if collected.errors:
        raise InvalidInput(collected.errors)
    return collected.parts


def _with_empty_contents(raw: bytes, boundary: bytes) -> bytes:
    """Add an empty body to parts that consist only of headers (RFC 2046, section 5.1.1).

    Without this change, the parser would read the next part as the body of such a part.
    """
    delimiter = b"--" + boundary
    if b"\r\n\r\n" + delimiter not in raw:
        return raw
    quoted = re.escape(delimiter)
    # Without the first condition, a delimiter in each line would cause quadratic time.
    only_headers = rb"(?:\A|(?<=\r\n))%b\r\n(?:(?!%b)[^\r\n]++\r\n)++\r\n(?=%b)" % (
        quoted,
        quoted,
        quoted,
    )
    return re.sub(only_headers, lambda part: part[0] + b"\r\n", raw)


class _Collected:
    """Collects the parts and the errors that the parser reports through its callbacks."""

    def __init__(self, parse_options_header: Any) -> None:
        self.parts: list[Part] = []
        self.errors: list[InputError] = []
        self.part_count = 0
        self._parse_options = parse_options_header

    def callbacks(self) -> dict[str, Any]:
        """Return the callbacks for the parser by event name."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": lambda data, start, end: self._field.append(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.append(data[start:end]),
            "on_header_end": self._end_header,
            "on_part_data": lambda data, start, end: self._data.append(data[start:end]),
            "on_part_end": self._end,
        }

    def _begin(self) -> None:
        if self.part_count >= MAX_PARTS:
            input_error = InputError("", "too_many", f"Too many parts (at most {MAX_PARTS}).")
            raise InvalidInput([input_error])
        self.part_count += 1
        self._headers: dict[bytes, bytes] = {}
        self._field: list[bytes] = []
        self._value: list[bytes] = []
        self._data: list[bytes] = []

    def _end_header(self) -> None:
        self._headers[b"".join(self._field).lower()] = b"".join(self._value)
        self._field, self._value = [], []

    def _end(self) -> None:
        disposition = self._headers.get(b"content-disposition", b"")
        kind, options = self._parse_options(disposition)
        if kind != b"form-data" or b"name" not in options:
            self.errors.append(InputError("", "malformed", "A part has no name."))
            return
        name = options[b"name"].decode("utf-8", "replace")
        if b"filename" in options or b"filename*" in disposition.lower():
            if not self._data:  # browsers send this for a file input without a file
                return
            content_type = self._headers.get(b"content-type", b"")
            is_json = self._parse_options(content_type)[0] == JSON.encode()
            if not (is_json and name in JSON_PARTS):
                detail = "Files are not allowed."
                self.errors.append(InputError.at((name,), "wrong_type", detail))
                return
        encoding = self._headers.get(b"content-transfer-encoding", b"").strip().lower()
        if encoding not in _IDENTITY_ENCODINGS:
            detail = "Unsupported transfer encoding."
            self.errors.append(InputError.at((name,), "malformed", detail))
            return
        try:
            self.parts.append((name, b"".join(self._data).decode("utf-8")))
        except UnicodeDecodeError:
            self.errors.append(InputError.at((name,), "not_unicode", "Invalid UTF-8."))
