"""A partner who reports purchases and follows their surveys."""

from dataclasses import dataclass
from typing import Any

from tests.services.solicitation.soliciting import Shop
from tests.web.partner_client import Partner, Response


@dataclass(frozen=True)
class Reporter:
    """A partner of a shop."""

    shop: Shop
    partner: Partner

    def post(self, path: str, **body: Any) -> Response:
        return self.partner.post(f"/partners/{path}", body)

    def report(self, **fields: Any) -> dict[str, Any]:
        response = self.post("purchase", **self.shop.definition(**fields))
        assert response.status == 201, response.body
        purchase: dict[str, Any] = response.json
        return purchase

    def reported(self, purchase: dict[str, Any]) -> dict[str, Any]:
        """Return the current data of a purchase."""
        current: dict[str, Any] = self.partner.get(f"/partners/purchase?id={purchase['id']}").json
        return current

    def tracker(self, purchase: dict[str, Any]) -> dict[str, Any]:
        response = self.partner.get(f"/partners/survey-tracker?purchase={purchase['id']}")
        assert response.status == 200
        tracker: dict[str, Any] = response.json
        return tracker

    def outcome(self, purchase: dict[str, Any]) -> tuple[str, str | None]:
        tracker = self.tracker(purchase)
        return tracker["state"], tracker["reason"]

    def cancel(self, purchase: dict[str, Any]) -> dict[str, Any]:
        response = self.post("purchase/cancel", id=purchase["id"])
        assert response.status == 201
        tracker: dict[str, Any] = response.json
        return tracker

    def pages(self, path: str, **wanted: Any) -> list[list[Any]]:
        """Return the ids of the purchases of all pages of a list, or the purchases of surveys."""
        listed, cursor = [], None
        while True:
            response = self.post(f"{path}/list", **wanted, cursor=cursor)
            assert response.status == 201
            meta, items = response.json["meta"], response.json["items"]
            assert meta["itemCount"] == len(items) <= wanted.get("limit", 10)
            assert meta["hasMore"] is (meta["cursor"] is not None)
            listed.append([item.get("purchaseId") or item["id"] for item in items])
            cursor = meta["cursor"]
            if cursor is None:
                return listed

    def link(self, purchase: dict[str, Any]) -> dict[str, Any]:
        """Return the survey tracker with a link."""
        response = self.post("survey-tracker", purchaseId=purchase["id"])
        assert response.status == 201, response.body
        tracker: dict[str, Any] = response.json
        return tracker

    def no_link(self, purchase: dict[str, Any]) -> str:
        """Return the reason for which there is no link."""
        response = self.post("survey-tracker", purchaseId=purchase["id"])
        assert (response.status, response.json["code"]) == (409, "no_link")
        reason: str = response.json["reason"]
        assert response.json["detail"].endswith(f": {reason}.")
        return reason
