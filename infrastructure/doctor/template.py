"""Resolve the data template for a stage."""

import json
import re
from typing import Any, Final

from infrastructure.deployment import data_stack

_PARAMETERS: Final = {"AlarmEmail": "", "Firewall": "no"}
"""Values of template parameters. They have no effect on the resources that the doctor compares."""


class ResolvedTemplate:
    """The resources of the data template for one stage.

    References to the stage and conditions are resolved. A reference to another resource becomes the
    resource's name, if the template sets one, or its logical id.
    """

    def __init__(self, stage: str) -> None:
        template = json.loads(data_stack.template_body())
        self._parameters = {**_PARAMETERS, "Stage": stage}
        self._conditions: dict[str, Any] = template["Conditions"]
        self._resources: dict[str, Any] = template["Resources"]

    def of_type(self, resource_type: str) -> list[dict[str, Any]]:
        """Return the resolved properties of the resources of this type."""
        return [
            self._resolve(resource["Properties"])
            for resource in self._resources.values()
            if resource["Type"] == resource_type and self._applies(resource.get("Condition"))
        ]

    def by_name(self, resource_type: str, name: str) -> dict[str, dict[str, Any]]:
        """Return the resolved properties of the resources of this type by their property `name`."""
        return {properties[name]: properties for properties in self.of_type(resource_type)}

    def _applies(self, condition: str | None) -> bool:
        return condition is None or bool(self._resolve(self._conditions[condition]))

    def _resolve(self, value: Any) -> Any:
        match value:
            case {"Ref": name}:
                return self._parameters.get(name) or self._name_of(name)
            case {"Condition": str(condition)}:
                return self._applies(condition)
            case {"Fn::Sub": text}:
                return re.sub(r"\$\{(\w+)\}", lambda match: self._parameters[match[1]], text)
            case {"Fn::GetAtt": [resource, _]}:
                return self._name_of(resource)
            case {"Fn::If": [condition, then, otherwise]}:
                return self._resolve(then if self._applies(condition) else otherwise)
            case {"Fn::Equals": [left, right]}:
                return self._resolve(left) == self._resolve(right)
            case {"Fn::Not": [condition]}:
                return not self._resolve(condition)
            case {"Fn::Or": conditions}:
                return any(map(self._resolve, conditions))
            case dict():
                return {name: self._resolve(item) for name, item in value.items()}
            case list():
                return [self._resolve(item) for item in value]
        return value

    def _name_of(self, resource: str) -> str:
        properties = self._resources.get(resource, {}).get("Properties", {})
        names = [value for name, value in properties.items() if name in ("QueueName", "TopicName")]
        return str(self._resolve(names[0])) if names else resource
