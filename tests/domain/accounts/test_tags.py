"""Test the merge of the tags of definitions with stored tags."""

from datetime import UTC, datetime, timedelta

import pytest

from admin.domain.tags import TagDefinition, merge_tags, tag_id
from chalicelib.domain.ids import new_id

ACCOUNT = new_id()
NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
RED, BLUE = "#C0392B", "#0b7285"


def definitions(*tags: tuple[str, str | None]) -> list[TagDefinition]:
    return [TagDefinition(tag=name, color=color) for name, color in tags]


def test_tags_with_same_name_are_one_tag_with_latest_colour() -> None:
    (tag,) = merge_tags(
        ACCOUNT, definitions(("VIP", RED), ("vip", None), ("Vip", BLUE), ("vip", None)), {}, NOW
    )
    assert (tag.id, tag.tag, tag.color) == (tag_id(ACCOUNT, "vip"), "VIP", BLUE)
    assert tag.created_at == tag.updated_at == NOW


@pytest.mark.parametrize(
    ("color", "expected_color", "updated_at"),
    [(None, RED, NOW), (RED, RED, NOW), (BLUE, BLUE, LATER)],
)
def test_existing_tag_changes_only_with_another_colour(
    color: str | None, expected_color: str, updated_at: datetime
) -> None:
    (existing,) = merge_tags(ACCOUNT, definitions(("VIP", RED)), {}, NOW)
    (tag,) = merge_tags(ACCOUNT, definitions(("vip", color)), {existing.id: existing}, LATER)
    expected = {"color": expected_color, "updated_at": updated_at}
    assert tag == existing.model_copy(update=expected)


def test_tags_of_accounts_have_different_ids() -> None:
    assert tag_id(ACCOUNT, "VIP") != tag_id(new_id(), "VIP")
