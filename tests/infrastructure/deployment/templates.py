"""Package the app with Chalice, and transform SAM templates as CloudFormation does."""

import copy
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from samtranslator.translator.transform import transform

from infrastructure.deployment import code_package

Template = dict[str, Any]


def package_template(folder: Path, stage: str, python: str) -> Template:
    """Return the template that Chalice packages for a stage and a version of Python."""
    code_package.copy_source(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STAGE", stage)
        code_package.run_chalice(
            "package", "--stage", stage, "out", folder=folder, python_version=python
        )
    template: Template = json.loads((folder / "out" / "sam.json").read_text())
    return template


def transformed(template: Template) -> Template:
    """Return the template with resources of CloudFormation instead of those of SAM."""
    result: Template = transform(
        copy.deepcopy(template), {}, SimpleNamespace(load=dict), feature_toggle=None
    )
    return result
