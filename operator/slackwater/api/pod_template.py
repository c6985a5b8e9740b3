"""The pod template: Kubernetes' own type, of which only the parts are modelled that slackwater reads.

Everything else is kept as it was written; the StatefulSet's own validation judges it.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, JsonValue

from slackwater.api.distinct import Distinct
from slackwater.api.model import ApiModel, rule


class KubernetesPart(ApiModel):
    """A part of a Kubernetes type: open to fields that are not modelled here."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)

    def to_manifest(self) -> dict[str, Any]:
        """This part exactly as it was written. What is modelled is its reader's to change; the rest is not copied:
        there may be megabytes of it, and each plan asks."""
        given = ((name, field) for name, field in type(self).model_fields.items() if name in self.model_fields_set)
        modelled = {field.alias or name: _as_written(getattr(self, name)) for name, field in given}
        return modelled | self.__pydantic_extra__


def _as_written(value: Any) -> Any:
    if isinstance(value, KubernetesPart):
        return value.to_manifest()
    return [_as_written(each) for each in value] if isinstance(value, tuple) else value


class EnvVar(KubernetesPart):
    name: str = Field(min_length=1, max_length=256)


class Container(KubernetesPart):
    name: str = Field(min_length=1, max_length=63)
    env: Annotated[tuple[EnvVar, ...], Field(max_length=256), Distinct(key="name")] = ()


class PodSpec(KubernetesPart):
    containers: Annotated[tuple[Container, ...], Field(max_length=32), Distinct(key="name")]
    restart_policy: Annotated[str, Field(max_length=16)] | None = None

    @rule("size(self.containers) > 0", "give the pod template at least one container", field_path="containers")
    def there_is_a_container(self) -> bool:
        return bool(self.containers)

    @rule(
        "!has(self.restartPolicy) || self.restartPolicy == 'Always'",
        "consumers run for ever: remove restartPolicy, or set it to Always",
        field_path="restartPolicy",
    )
    def pods_are_restarted(self) -> bool:
        return self.restart_policy in (None, "Always")


class PodTemplate(KubernetesPart):
    """Template of the consumers' pods, as in a StatefulSet."""

    spec: PodSpec
    """The pods. The operator adds the client settings to the consumer's container; see spec.client."""
