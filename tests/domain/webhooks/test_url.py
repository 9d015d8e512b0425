"""Tests of the validation of webhook URLs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admin.domain.workflows.definition import url_error
from chalicelib.domain.webhooks.url import InvalidWebhookUrl, WebhookUrl, parse_webhook_url


@pytest.mark.parametrize(
    ("url", "parsed", "authority"),
    [
        ("https://a.example", ("a.example", 443, "/"), "a.example"),
        ("HTTPS://A.Example.:443/x", ("a.example", 443, "/x"), "a.example"),
        ("https://a.example:8443?x=%20", ("a.example", 8443, "/?x=%20"), "a.example:8443"),
        ("https://a.example/a[]=1#part", ("a.example", 443, "/a[]=1"), "a.example"),
        ("https://bücher.example/", ("xn--bcher-kva.example", 443, "/"), "xn--bcher-kva.example"),
        ("https://straße.example/", ("xn--strae-oqa.example", 443, "/"), "xn--strae-oqa.example"),
        ("https://8.8.8.8/", ("8.8.8.8", 443, "/"), "8.8.8.8"),
        ("https://[2606:4700::1]:8/", ("2606:4700::1", 8, "/"), "[2606:4700::1]:8"),
    ],
)
def test_public_https_url_is_parsed(url: str, parsed: tuple[str, int, str], authority: str) -> None:
    parsed_url = parse_webhook_url(url, allow_private=False)
    assert parsed_url == WebhookUrl("https", *parsed)
    assert parsed_url.authority == authority


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/",
        "http://127.0.0.1:8000/x",
        "https://localhost/",
        "https://a.localhost/",
        "https://intranet/",
        "https://metadata.google.internal/",
        "https://127.0.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[64:ff9b::a9fe:a9fe]/",
        "https://[fd00:ec2::254]/",
        "https://１２７.0.0.1/",
    ],
)
def test_http_and_private_addresses_require_allow_private(url: str) -> None:
    assert url_error(url, allow_private=False)
    assert url_error(url, allow_private=True) is None


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a.example",
        "//a.example/",
        "ftp://a.example/",
        "file:///etc/passwd",
        "https:///x",
        "https://user@a.example/",
        "https://user:word@a.example/",
        "https://@a.example/",
        "https://a.example:0/",
        "https://a.example:65536/",
        "https://a.example:-1/",
        "https://a.example:٤/",
        "https://a.example:8 /",
        "https://a.example:/",
        "https://a.example\\@b.example/",
        "https://a.example/\r\nHost: b",
        "https://a.exa\nmple/",
        " https://a.example/",
        "https://a.example/é",
        "https://a.example/%zz",
        "https://a..example/",
        "https://-a.example/",
        "https://a%2eexample/",
        "https://127.1/",
        "https://0x7f.0.0.1/",
        "https://0x7f000001/",
        "https://2130706433/",
        "https://0177.0.0.1/",
        "https://[::1/",
        "https://[::1]x/",
        "https://[fe80::1%25eth0]/",
        "https://[v1.a]/",
        f"https://{'a' * 64}.example/",
        f"https://a.example/{'a' * 2048}",
    ],
)
@pytest.mark.parametrize("allow_private", [False, True])
def test_invalid_url_is_rejected_with_and_without_allow_private(
    url: str, allow_private: bool
) -> None:
    assert url_error(url, allow_private=allow_private)


def test_url_over_2048_characters_is_rejected() -> None:
    longest = "https://a.example/".ljust(2048, "a")
    assert url_error(longest, allow_private=False) is None
    assert url_error(f"{longest}a", allow_private=False) == ("Must be at most 2048 characters.")


@given(st.text())
def test_accepted_url_contains_no_white_space_or_control_characters(text: str) -> None:
    for url in (text, f"https://{text}", f"https://a.example/{text}"):
        try:
            parsed_url = parse_webhook_url(url, allow_private=True)
        except InvalidWebhookUrl:
            continue
        for part in (parsed_url.host, parsed_url.target, parsed_url.authority):
            assert part.isascii()
            assert part.isprintable()
            assert " " not in part
