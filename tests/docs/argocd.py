"""Write the patch of Argo CD's ConfigMap from the Lua files beside it: `python -m tests.docs.argocd`."""

from __future__ import annotations

from textwrap import indent
from typing import Final

from tests.test_layout import ROOT

FOLDER: Final = ROOT / "examples" / "gitops" / "argocd"
PATCH: Final = FOLDER / "argocd-cm.yaml"
KINDS: Final = {"ConsumerGroup": "ConsumerGroup", "KafkaConnection": "KafkaConnection"} | {
    "ClusterKafkaConnection": "KafkaConnection"
}
"""Kind → the folder that has its scripts."""
ACTIONS: Final = ("pause", "resume", "promote", "abort", "retry", "restart")

_HEAD: Final = """\
# The Lua files of this folder, as Argo CD reads them:
#   kubectl patch configmap argocd-cm -n argocd --patch-file argocd-cm.yaml
# Written by `python -m tests.docs.argocd`: change the Lua files.
data:
"""


def script(kind: str, path: str) -> str:
    """`path`: below the kind's folder."""
    return (FOLDER / KINDS[kind] / path).read_text(encoding="utf-8")


def made() -> str:
    parts = [_HEAD]
    for kind in KINDS:
        parts.append(f"  resource.customizations.health.slackwater.dev_{kind}: |\n")
        parts.append(indent(script(kind, "health.lua"), "    "))
    parts.append("  resource.customizations.actions.slackwater.dev_ConsumerGroup: |\n")
    parts.append("    discovery.lua: |\n")
    parts.append(indent(script("ConsumerGroup", "actions/discovery.lua"), "      "))
    parts.append("    definitions:\n")
    for action in ACTIONS:
        parts.append(f"    - name: {action}\n      action.lua: |\n")
        parts.append(indent(script("ConsumerGroup", f"actions/{action}/action.lua"), "        "))
    return "".join(parts)


if __name__ == "__main__":
    PATCH.write_text(made(), encoding="utf-8")
