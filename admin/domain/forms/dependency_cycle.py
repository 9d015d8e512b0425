"""Find the edges of a graph that are on a cycle."""

from collections.abc import Iterator, Sequence

Edge = tuple[str, str]


def edges_on_cycles(edges: Sequence[Edge]) -> set[Edge]:
    """Return the edges (from, to) that are on a cycle.

    An edge is on a cycle if both ends are in the same strongly connected component. Kosaraju's
    algorithm finds the components in a time linear in the number of nodes and edges. An edge from a
    node to itself is a cycle.
    """
    component = _components(edges)
    return {(start, end) for start, end in edges if component[start] == component[end]}


def _components(edges: Sequence[Edge]) -> dict[str, str]:
    """Return a map from each node to the node that represents its strongly connected component."""
    forward = _neighbours(edges)
    backward = _neighbours([(end, start) for start, end in edges])
    finished: list[str] = []
    seen: set[str] = set()
    for node in forward:
        finished.extend(_walk(node, forward, seen))
    component: dict[str, str] = {}
    assigned: set[str] = set()
    for node in reversed(finished):
        for member in _walk(node, backward, assigned):
            component[member] = node
    return component


def _neighbours(edges: Sequence[Edge]) -> dict[str, list[str]]:
    neighbours: dict[str, list[str]] = {}
    for start, end in edges:
        neighbours.setdefault(start, []).append(end)
        neighbours.setdefault(end, [])
    return neighbours


def _walk(start: str, neighbours: dict[str, list[str]], seen: set[str]) -> Iterator[str]:
    """Yield the nodes that are reachable from ``start``, in depth-first postorder.

    Nodes in ``seen`` are omitted. All nodes that the function visits are added to ``seen``.
    """
    if start in seen:
        return
    seen.add(start)
    path = [(start, iter(neighbours[start]))]
    while path:
        node, rest = path[-1]
        step = next((end for end in rest if end not in seen), None)
        if step is None:
            path.pop()
            yield node
        else:
            seen.add(step)
            path.append((step, iter(neighbours[step])))
