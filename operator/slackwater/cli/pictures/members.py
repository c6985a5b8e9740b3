"""`slackwater members` and `slackwater lag`: who is in the group, and how far behind each partition is. Pure."""

from __future__ import annotations

from typing import Any, Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from slackwater.api.timestamps import timestamp
from slackwater.cli.pictures.pod_rows import compact
from slackwater.core.decision.words import shown
from slackwater.core.members.presence import Presence, cases_of, member_presence
from slackwater.core.world.observation import GroupObservation, KafkaView, Member, TopicPartition, Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

Json = dict[str, Any]

LONGEST_TOPIC: Final = 249


def members_document(world: World, kafka: GroupObservation) -> Json:
    """Members in the order of their instance ids."""
    pods = _pods(world)
    members = [
        {
            "instanceId": member.instance_id,
            "memberId": member.member_id,
            "clientId": member.client_id,
            "host": member.host.lstrip("/"),
            "pod": None if (pod := pods.get(member.member_id)) is None else pod.name,
            "joined": None if pod is None else _joined(world, pod, member).value,
            "partitions": [str(partition) for partition in sorted(member.assignment)],
            "lag": kafka.lag_in(member.assignment),
        }
        for member in _in_order(kafka)
    ]
    return {**_heading(world, kafka), "members": members}


def members_table(world: World, kafka: GroupObservation) -> Table:
    pods, only = _pods(world), _only_topic(world)
    table = _table(("Member", "Pod", "Host", "Partitions"), "Lag")
    for member in _in_order(kafka):
        lag = kafka.lag_in(member.assignment)
        owned = f"{len(member.assignment)}: {compact(member.assignment, only)}" if member.assignment else "none"
        table.add_row(
            shown(member.instance_id or member.member_id),
            _where(world, pods.get(member.member_id), member),
            shown(member.host.lstrip("/")),
            owned,
            "" if lag is None else f"{lag:,}",
        )
    return table


def lag_document(world: World, kafka: KafkaView) -> Json:
    """Partitions in their order. `committed` and `end` are offsets; null where they are not known."""
    if isinstance(kafka, Unobserved):
        return {**_name(world), "observed": False, "reason": kafka.reason.value, "message": kafka.message}
    pods, owners = _pods(world), _owners(kafka)
    rows = []
    for partition in sorted(kafka.partitions):
        offsets, owner = kafka.offsets.get(partition), owners.get(partition)
        rows.append(
            {
                "topic": partition.topic,
                "partition": partition.partition,
                "owner": None if owner is None else owner.instance_id or owner.member_id,
                "pod": None if owner is None or owner.member_id not in pods else pods[owner.member_id].name,
                "committed": None if offsets is None else offsets.committed,
                "end": None if offsets is None else offsets.end,
                "lag": None if offsets is None else offsets.unread,
            }
        )
    return {**_heading(world, kafka), "lag": kafka.lag, "partitions": rows}


def lag_table(world: World, kafka: KafkaView) -> RenderableType:
    if isinstance(kafka, Unobserved):
        return Text(f"{world.group.name} cannot be seen from here: {kafka.message}", "yellow")
    document = lag_document(world, kafka)
    table = _table(("Topic", "Partition", "Pod"), "Committed", "End", "Lag")
    for row in document["partitions"]:
        owner = row["pod"] or (shown(row["owner"]) if row["owner"] else Text("nobody", "bold yellow"))
        figures = ("" if row[key] is None else f"{row[key]:,}" for key in ("committed", "end", "lag"))
        table.add_row(shown(row["topic"], LONGEST_TOPIC), str(row["partition"]), owner, *figures)
    total = "not known" if document["lag"] is None else f"{document['lag']:,}"
    table.add_row("", "", "", "", Text("together", "dim"), total)
    return table


def _name(world: World) -> Json:
    group = world.group
    return {"version": 1, "namespace": group.namespace, "name": group.name, "groupId": group.group_id}


def _heading(world: World, kafka: GroupObservation) -> Json:
    return {
        **_name(world),
        "observed": True,
        "observedAt": timestamp(kafka.observed_at),
        "state": kafka.state.value,
    }


def _table(columns: tuple[str, ...], *figures: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=column != "Partitions")
    for figure in figures:
        table.add_column(figure, no_wrap=True, justify="right")
    return table


def _in_order(kafka: GroupObservation) -> list[Member]:
    return sorted(kafka.members, key=lambda member: (member.instance_id or "", member.member_id))


def _where(world: World, pod: Pod | None, member: Member) -> Text:
    """The pod. A dead static member keeps its pod's name, its partitions and its address until its session ends."""
    if pod is None:
        ordinal = world.ordinal_of(member.instance_id)
        if ordinal is None or world.pod(ordinal) is not None:
            return Text("runs in no pod of this group", "bold yellow")
        return Text(f"{world.pod_name(ordinal)}, which is missing", "yellow")
    match _joined(world, pod, member):
        case Presence.YES:
            return Text(pod.name)
        case Presence.NO:
            return Text(f"{pod.name}, which has yet to join", "yellow")
        case _:
            other = "the process before it" if member.instance_id is None else "another process of its id"
            return Text(f"{pod.name}, or {other}", "yellow")


def _joined(world: World, pod: Pod, member: Member) -> Presence:
    """Whether this member joined since the pod's container started. Another member id than before its restart by the
    operator is taken at its word here: from one look nothing more can be known."""
    case = next((each for each in cases_of(world, pod) if each.member is member), None)
    if case is None:
        return Presence.NO
    said, before = member_presence(case), case.run.members_before.get(case.key)
    is_another = said is Presence.UNKNOWN and case.run.rival is None and before not in (None, member.member_id)
    return Presence.YES if is_another else said


def _pods(world: World) -> dict[str, Pod]:
    """Member id → the pod that it runs in."""
    return {member.member_id: pod for pod in world.pods for member in world.members_of(pod)}


def _owners(kafka: GroupObservation) -> dict[TopicPartition, Member]:
    return {partition: member for member in kafka.members for partition in member.assignment}


def _only_topic(world: World) -> str:
    topics = world.group.spec.topics
    return topics[0] if len(topics) == 1 else ""
