"""Generate files, or check with ``--check`` that they are up to date.

The files are Chalice's configuration and the policies of the functions, the end of `data.yaml`, the
reference of definition files, the catalogues of words, and the tables of costs and licences.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from infrastructure import costs, licences
from infrastructure.catalogues import compiled
from infrastructure.generate import configuration, data_template, definition_reference

_PARTS = (configuration, data_template, definition_reference, compiled, costs, licences)


def main(arguments: list[str]) -> int:
    """Generate or check the files. Return the exit status of the process."""
    parser = argparse.ArgumentParser(prog="generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write no file")
    if not parser.parse_args(arguments).check:
        write_files()
    problems = [f"{path} is out of date. Run make generate." for path in stale_files()]
    problems += compiled.untranslated()
    for problem in problems:
        print(problem, file=sys.stderr)
    return int(bool(problems))


def generated_files() -> Iterator[tuple[Path, bytes]]:
    """Yield each generated file with its content. A part can read the files of earlier parts."""
    for part in _PARTS:
        for path, content in part.files().items():
            yield path, content.encode() if isinstance(content, str) else content


def stale_files() -> list[Path]:
    """Return the paths of generated files that are missing, out of date or no longer needed."""
    expected = dict(generated_files())
    different = [p for p, c in expected.items() if not p.exists() or p.read_bytes() != c]
    return sorted([*different, *_unneeded(expected)])


def write_files() -> None:
    """Write all generated files. Delete policies of functions and stages that no longer exist."""
    expected = set()
    for path, content in generated_files():
        expected.add(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for path in _unneeded(expected):
        path.unlink()


def _unneeded(expected: Iterable[Path]) -> set[Path]:
    return set(configuration.POLICIES.glob("*.json")) - set(expected)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
