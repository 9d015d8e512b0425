"""The invitation by e-mail on a phone."""

from typing import Any

import pytest
from playwright.sync_api import Route

from chalicelib.services.solicitation.send_invitation import render_html
from tests.chromium.browser import NewContext
from tests.domain.forms.factories import field
from tests.domain.solicitation.factories import content

HOST = "https://images.example.com"
IMAGES = {
    "logo": {"url": f"{HOST}/logo", "width": 640, "height": 160},
    "cover": {"url": f"{HOST}/cover", "width": 1200, "height": 400},
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_scale_is_in_upper_half_of_a_phone(new_context: NewContext, scheme: Any) -> None:
    page = new_context(viewport={"width": 375, "height": 812}, color_scheme=scheme).new_page()

    def respond(route: Route) -> None:
        image = IMAGES[route.request.url.rpartition("/")[2]]
        size = f'width="{image["width"]}" height="{image["height"]}"'
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}/>'
        route.fulfill(body=svg, content_type="image/svg+xml")

    page.route(f"{HOST}/**", respond)
    mail = content(
        header={"title": "How was your visit?"},
        fields=[field("nps", "NPS", label="Would you recommend us?")],
        **IMAGES,
    )
    page.set_content(render_html(mail), wait_until="load")
    box = page.locator("td.option").last.bounding_box()
    assert box
    assert box["y"] + box["height"] <= 406
