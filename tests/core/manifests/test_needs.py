"""What two versions ask of the cluster is compared, and not what only their programs see."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.core.manifests.needs import needs_of, needs_otherwise
from tests.core.factories import workload, world


def template(container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "consumer", "image": "a", **(container or {})}], **spec}}


CONFIG = {"name": "settings", "configMap": {"name": "settings-5fbd7"}}
CLAIM = {"name": "state", "persistentVolumeClaim": {"claimName": "state"}}
PLAIN = template()
TABLE = [
    ("the same", PLAIN, False),
    ("another image", template({"image": "b"}), False),
    ("other settings", template({"env": [{"name": "A", "value": "b"}], "command": ["run"]}), False),
    ("another name of the container", template({"name": "reader"}), False),
    ("a ConfigMap of another name", template(volumes=[CONFIG]), False),
    ("a port", template({"ports": [{"containerPort": 80}]}), False),
    ("a port of the node", template({"ports": [{"containerPort": 80, "hostPort": 80}]}), True),
    ("more memory", template({"resources": {"requests": {"memory": "9Gi"}}}), True),
    ("other nodes", template(nodeSelector={"zone": "b"}), True),
    ("a claim", template(volumes=[CLAIM]), True),
    ("a container more", template(initContainers=[{"name": "first"}]), True),
    ("another ServiceAccount", template(serviceAccountName="other"), True),
    ("what is empty", template({"resources": {}}, nodeSelector={}), False),
]


@pytest.mark.parametrize(("now", "otherwise"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_needs(now: dict[str, Any], otherwise: bool) -> None:
    assert (needs_of(now) != needs_of(PLAIN)) is otherwise
    assert needs_otherwise(world(workload=workload(template=now), last_good_template=PLAIN)) is otherwise


def test_what_is_not_known_is_not_otherwise() -> None:
    more = template(nodeSelector={"zone": "b"})
    assert not needs_otherwise(world(workload=workload(template=more)))
    assert not needs_otherwise(world(workload=workload(), last_good_template=more))
    assert not needs_otherwise(world(workload=None, last_good_template=more))
