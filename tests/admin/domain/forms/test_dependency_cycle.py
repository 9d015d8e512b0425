"""Tests that compare `edges_on_cycles` with a naive search for cycles."""

from hypothesis import given
from hypothesis import strategies as st

from admin.domain.forms.dependency_cycle import Edge, edges_on_cycles

nodes = st.sampled_from("abcdefgh")


def is_reachable(edges: list[Edge], start: str, goal: str) -> bool:
    reached, before = {start}, None
    while reached != before:
        before = set(reached)
        reached |= {end for beginning, end in edges if beginning in reached}
    return goal in reached


@given(st.lists(st.tuples(nodes, nodes), max_size=16))
def test_edge_is_on_cycle_if_path_returns_to_its_start(edges: list[Edge]) -> None:
    assert edges_on_cycles(edges) == {
        (start, end) for start, end in edges if is_reachable(edges, end, start)
    }


def test_long_chain_has_cycle_only_if_its_end_is_linked_to_its_start() -> None:
    chain = [(str(n), str(n + 1)) for n in range(5000)]

    assert edges_on_cycles(chain) == set()
    assert edges_on_cycles([*chain, ("5000", "0")]) == {*chain, ("5000", "0")}


def test_empty_graph_has_no_cycles() -> None:
    assert edges_on_cycles([]) == set()
