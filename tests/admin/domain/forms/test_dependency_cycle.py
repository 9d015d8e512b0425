"""Test the search for cycles of dependencies against a naive one."""

from hypothesis import given
from hypothesis import strategies as st

from admin.domain.forms.rules import edges_on_cycles

nodes = st.sampled_from("abcdefgh")


def is_on_cycle(edges: set[tuple[str, str]], edge: tuple[str, str]) -> bool:
    reached, before = {edge[1]}, None
    while reached != before:
        before = set(reached)
        reached |= {end for beginning, end in edges if beginning in reached}
    return edge[0] in reached


@given(st.sets(st.tuples(nodes, nodes), max_size=16))
def test_reported_edges_are_those_on_cycles(edges: set[tuple[str, str]]) -> None:
    assert edges_on_cycles(edges) == {edge for edge in edges if is_on_cycle(edges, edge)}
