"""A StatefulSet and its pods in time: optimistic locks, revisions, containers that start, get Ready, crash and end.

What its controller does in a pass is `coordinator.controller`'s matter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from slackwater.api.owned_settings import OwnedSetting
from slackwater.core.decision.acts import WriteWorkload
from slackwater.core.manifests.claims import names_of_claims
from slackwater.core.world.identity import instance_id
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile, profile_in
from slackwater.core.world.workload import UpdateStrategy, Workload
from tests.core.coordinator.controller import Seen, Wanted
from tests.core.coordinator.fleet import OFFERS
from tests.core.factories import NAME, UID
from tests.core.simulation.broker import RANGE, Broker, Numbers, Process
from tests.core.simulation.versions import Version, version_of

Json = Mapping[str, Any]
TERMINATION_S: Final = 1.0
HEARTBEAT_S: Final = 3.0
"""How long a fenced process takes to notice."""
LONGEST_BACKOFF_S: Final = 40.0
HASH_ANNOTATION: Final = "slackwater.dev/template-hash"
RESTARTED_AT: Final = "kubectl.kubernetes.io/restartedAt"


class Conflict(Exception):
    """The object has changed since it was read."""


@dataclass(eq=False)
class SimulatedPod:
    workload: str
    ordinal: int
    uid: str
    revision: str
    version: Version
    profile: Profile
    static: bool
    created_at: float
    processes: tuple[Process, ...] = ()
    """One for each consumer."""
    joined_at: float | None = None
    scheduled: bool = False
    started_at: float | None = None
    start_due: float = 0.0
    ready: bool = False
    ready_changed_at: float | None = None
    restarts: int = 0
    waiting: str = ""
    ended_at: float | None = None
    ran_since: float | None = None
    """When the run that ended then had started."""
    fenced_at: float | None = None
    starting: bool = False
    up_since: float | None = None
    template_hash: str = ""
    volumes: frozenset[str] = frozenset()
    """Those that it has a claim for."""
    gone_at: float | None = None
    """When a deleted pod will have ended."""
    lost: bool = False
    """Nothing is heard of its node: what is deleted stays Terminating until the node is back."""

    def seen(self) -> Pod:
        """As the API shows it: whole seconds."""
        return Pod(
            name=self.name,
            ordinal=self.ordinal,
            uid=self.uid,
            revision=self.revision,
            created_at=float(int(self.created_at)),
            ready=self.ready,
            ready_changed_at=None if self.ready_changed_at is None else float(int(self.ready_changed_at)),
            started_at=None if self.started_at is None else float(int(self.started_at)),
            starting=self.starting,
            up_since=self.up_since,
            restarts=self.restarts,
            waiting=self.waiting,
            terminating=self.gone_at is not None,
            address=self.address,
            ended_at=None if self.ended_at is None else float(int(self.ended_at)),
            last_run_started_at=None if self.ran_since is None else float(int(self.ran_since)),
            protocol=self.profile,
            template_hash=self.template_hash,
            workload=self.workload,
        )

    @property
    def process(self) -> Process | None:
        """The first of them, or the only one."""
        return self.processes[0] if self.processes else None

    @property
    def name(self) -> str:
        return f"{self.workload}-{self.ordinal}"

    @property
    def address(self) -> str:
        return f"10.0.0.{self.uid}"

    def tick(self, now: float, broker: Broker) -> None:
        """What the kubelet and the consumer do."""
        if self.gone_at is not None or self.lost:
            return
        if not self.scheduled:
            self.waiting = "Unschedulable"
            return
        if self.started_at is None:
            if now >= self.start_due:
                self._start(now)
            return
        ran_s = now - self.started_at
        if self.version.crashes_after_s is not None and ran_s >= self.version.crashes_after_s:
            self.crash(now)
            return
        if any(broker.has_fenced(process) for process in self.processes):
            self.fenced_at = self.fenced_at or now
            if self.version.exits_when_fenced and now - self.fenced_at >= HEARTBEAT_S:
                self.crash(now)
                return
        self.set_ready(self.version.gets_ready and ran_s >= self.version.ready_s, now)
        if self.version.joins and ran_s >= self.version.join_s:
            self._join(now, broker)
        self._lose_a_thread(ran_s)
        self._restore(ran_s, now)

    def _restore(self, ran_s: float, now: float) -> None:
        if self.version.restores_s is None:
            return
        was_starting, self.starting = self.starting, ran_s < self.version.restores_s
        if was_starting and not self.starting:
            self.up_since = now
        for process in self.processes:
            process.consumes = self.version.consumes and not self.starting

    def crash(self, now: float) -> None:
        self.end_process()
        self.ended_at, self.ran_since, self.fenced_at = now, self.started_at, None
        self.set_ready(False, now)
        self.restarts += 1
        self.started_at = self.up_since = None
        self.starting = False
        self.waiting = "CrashLoopBackOff"
        self.start_due = now + min(LONGEST_BACKOFF_S, 5.0 * 2 ** (self.restarts - 1))

    def stop(self, now: float, broker: Broker) -> None:
        """SIGTERM to each of its processes."""
        for process in self.processes:
            if process.alive:
                broker.stopped_in_order(process, now)
        self.end_process()

    def end_process(self) -> None:
        for process in self.processes:
            process.alive = False

    def _start(self, now: float) -> None:
        if not self.version.pulls:
            self.waiting = "ImagePullBackOff"
            return
        offers = OFFERS.get(self.profile, RANGE) if self.version.heeds_settings else RANGE
        consumes, poison, topics = self.version.consumes, self.version.reads_poison, self.version.topics
        self.processes = tuple(
            Process(instance_id, self.address, consumes, offers, reads_poison=poison, topics=topics)
            for instance_id in self._instance_ids()
        )
        self.started_at, self.waiting, self.joined_at = now, "", None

    def _instance_ids(self) -> list[str | None]:
        threads = range(self.version.members)
        if not self.static or not self.version.takes_its_id:
            return [None for _ in threads]
        ordinal = self.ordinal if self.version.id_of is None else self.version.id_of
        return [instance_id(NAME, ordinal, thread if len(threads) > 1 else None) for thread in threads]

    def _join(self, now: float, broker: Broker) -> None:
        stays_s = self.version.stays_s
        if stays_s is not None and self.joined_at is not None and now - self.joined_at >= stays_s:
            for process in self.processes:
                broker.leave(process, now)
            self.joined_at = None
            return
        self.joined_at = self.joined_at if self.joined_at is not None else now
        for process in self.processes:
            if process.alive:
                broker.join(process, now)

    def _lose_a_thread(self, ran_s: float) -> None:
        dies_s, stands_s = self.version.one_dies_after_s, self.version.one_stands_after_s
        if dies_s is not None and ran_s >= dies_s:
            self.processes[-1].alive = False
        if stands_s is not None and ran_s >= stands_s:
            self.processes[-1].consumes = False

    def set_ready(self, ready: bool, now: float) -> None:
        if ready != self.ready:
            self.ready, self.ready_changed_at = ready, now


class StatefulSet:
    """The object, its controller and its pods."""

    def __init__(
        self,
        broker: Broker,
        name: str = NAME,
        *,
        uids: Iterator[int] | None = None,
        counts_unavailable: bool = False,
    ) -> None:
        self.broker = broker
        self.name = name
        self.created_at = 0.0
        self.start = 0
        self.counts_unavailable = counts_unavailable
        """As with the feature gate MaxUnavailableStatefulSet: no restart while any pod is not Ready."""
        self.in_order = False
        """`podManagementPolicy: OrderedReady`, as one that was adopted may have."""
        self.exists = False
        self.owner_uid = UID
        self.edited = False
        """By somebody else than the operator, since it wrote it."""
        self.pods: dict[int, SimulatedPod] = {}
        self.revisions: dict[str, Json] = {}
        self.lost: set[str] = set()
        """Of these, what nobody can read any more."""
        self.template: Json = {}
        self.claims: list[Json] = []
        """Its volumeClaimTemplates, which nobody can change."""
        self.retention: Mapping[str, str] = {}
        self.fixed: Json = {"serviceName": NAME}
        self.kept_claims: set[str] = set()
        """The PersistentVolumeClaims that there are."""
        self.owned_claims: set[str] = set()
        """Of these, what goes with the StatefulSet."""
        self.replicas = self.partition = self.generation = self.observed_generation = 0
        self.strategy = UpdateStrategy.ROLLING_UPDATE
        self.current_revision = self.update_revision = ""
        self.version = 0
        self.before_update: Callable[[SimulatedPod], None] = lambda pod: None
        """Told of each pod that the controller is about to delete because it has another revision."""
        self._uids = Numbers(1) if uids is None else uids
        self._made = 0

    def seen(self) -> Workload | None:
        if not self.exists:
            return None
        return Workload(
            name=self.name,
            uid=f"{self.name}-{self._made}",
            resource_version=str(self.version),
            generation=self.generation,
            observed_generation=self.observed_generation,
            replicas=self.replicas,
            partition=self.partition if self.strategy is UpdateStrategy.ROLLING_UPDATE else 0,
            strategy=self.strategy,
            current_revision=self.current_revision,
            update_revision=self.update_revision,
            template_hash=self.template["metadata"]["annotations"][HASH_ANNOTATION],
            owner_uid=self.owner_uid,
            template=self.template,
            as_written=not self.edited,
            start=self.start,
            created_at=float(int(self.created_at)),
            fixed={**self.fixed, **self._order(), **({"volumeClaimTemplates": self.claims} if self.claims else {})},
            retention=self.retention,
        )

    def _order(self) -> Json:
        return {"podManagementPolicy": "OrderedReady"} if self.in_order else {}

    def delete_whole(self, uid: str, now: float, keeps: Collection[str] = ()) -> None:
        """Delete exactly this object, and its pods with it; and its revisions, unless one that `keeps` names is one of
        them: then they stay as orphans do."""
        if not self.exists or uid != f"{self.name}-{self._made}":
            return
        if not any(name in self.revisions for name in keeps):
            self.lost.update(self.revisions)
        for ordinal, pod in list(self.pods.items()):
            self.delete(ordinal, pod.uid, now)
        self.orphan()

    def orphan(self) -> None:
        """Delete the object alone; one of its name takes its pods back."""
        self.exists = False
        self.kept_claims -= self.owned_claims
        self.owned_claims = set()
        self.replicas = self.partition = self.start = 0
        self.current_revision = self.update_revision = ""

    def write(self, act: WriteWorkload, now: float = 0.0, spec: Json = MappingProxyType({})) -> None:
        """Server-side apply; raises Conflict unless the object is the one that was looked at. `spec`: as it is sent."""
        if act.resource_version != (str(self.version) if self.exists else ""):
            raise Conflict
        claims = list(spec.get("volumeClaimTemplates", ()))
        if not self.exists:
            self.created_at, self._made = now, self._made + 1
            self.claims, self.fixed = claims, {"serviceName": spec.get("serviceName", NAME)}
        assert claims == self.claims, "updates to statefulset spec for fields other than … are forbidden"
        before = (self.exists, self.start, self.replicas, self.partition, self.strategy, self.template)
        before_retention, self.retention = self.retention, spec.get("persistentVolumeClaimRetentionPolicy", {})
        if before_retention != self.retention:
            self.generation += 1
            self.version += 1
        self.replicas, self.partition, self.strategy = act.replicas, act.partition, act.strategy
        self.template, self.exists, self.start, self.edited = self._applied(act.template), True, act.start, False
        if before != (self.exists, self.start, self.replicas, self.partition, self.strategy, self.template):
            self.generation += 1
            self.version += 1

    def _applied(self, template: Json) -> Json:
        """With what `kubectl rollout restart` has written: it is not ours, and stays."""
        at = self.template["metadata"]["annotations"].get(RESTARTED_AT) if self.exists else None
        if at is None:
            return template
        metadata = template["metadata"]
        return {**template, "metadata": {**metadata, "annotations": {**metadata["annotations"], RESTARTED_AT: at}}}

    def delete(self, ordinal: int, uid: str, now: float) -> SimulatedPod | None:
        """Delete exactly this pod; returns it if it was there."""
        pod = self.pods.get(ordinal)
        if pod is None or pod.uid != uid or pod.gone_at is not None:
            return None
        if not pod.lost:
            pod.stop(now, self.broker)
        pod.gone_at = now + TERMINATION_S
        pod.ready, pod.ready_changed_at = False, now
        return pod

    def tick_pods(self, now: float) -> None:
        for ordinal, pod in list(self.pods.items()):
            if pod.gone_at is not None and now >= pod.gone_at and not pod.lost:
                del self.pods[ordinal]
            else:
                pod.tick(now, self.broker)

    def sync(self, now: float) -> None:
        """One pass of the StatefulSet controller."""
        if not self.exists:
            return
        before = (self.observed_generation, self.current_revision, self.update_revision)
        self.observed_generation = self.generation
        self.update_revision = self._revision()
        self.current_revision = self.current_revision or self.update_revision
        wanted = self._wanted()
        if any(set(names_of_claims(self.claims)) - pod.volumes for pod in self.pods.values()):
            return  # it would give the pod a volume, is refused, and does nothing else
        self._own_claims()
        for ordinal in filter(self._may_be_made, wanted.missing(self._seen())):
            self.pods[ordinal] = self._make(ordinal, wanted.revision_of(ordinal), now)
        for ordinal in wanted.surplus(self._seen()):
            if self.retention.get("whenScaled") == "Delete":
                self.kept_claims -= self._claims_of(ordinal)
            self.delete(ordinal, self.pods[ordinal].uid, now)
        all_ready = all(map(self._is_ready, self.ordinals))
        blocked = (self.counts_unavailable or self.in_order) and not all_ready
        if not blocked and (replaced := wanted.to_replace(self._seen())) is not None:
            self.before_update(self.pods[replaced])
            self.delete(replaced, self.pods[replaced].uid, now)
        if wanted.is_complete(self._seen()):
            self.current_revision = self.update_revision
        if before != (self.observed_generation, self.current_revision, self.update_revision):
            self.version += 1

    @property
    def ordinals(self) -> range:
        return range(self.start, self.start + self.replicas)

    def _revision(self) -> str:
        for name, template in self.revisions.items():
            if template == self.template:
                self.lost.discard(name)
                return name
        name = f"{self.name}-rev{len(self.revisions) + 1}"
        self.revisions[name] = self.template
        return name

    def _wanted(self) -> Wanted:
        on_delete = self.strategy is UpdateStrategy.ON_DELETE
        return Wanted(self.ordinals, self.partition, on_delete, self.current_revision, self.update_revision)

    def _may_be_made(self, ordinal: int) -> bool:
        below = range(self.ordinals.start, ordinal) if self.in_order else ()
        return all(map(self._is_ready, below))

    def _is_ready(self, ordinal: int) -> bool:
        pod = self.pods.get(ordinal)
        return pod is not None and pod.ready and pod.gone_at is None

    def _seen(self) -> dict[int, Seen]:
        return {o: Seen(pod.revision, pod.ready, pod.gone_at is not None) for o, pod in self.pods.items()}

    def _make(self, ordinal: int, revision: str, now: float) -> SimulatedPod:
        template = self.revisions[revision]
        version, profile = version_of(template), profile_in(template)
        uid = str(next(self._uids))
        self.kept_claims |= self._claims_of(ordinal)
        return SimulatedPod(
            self.name,
            ordinal,
            uid,
            revision,
            version,
            profile,
            _is_static(template),
            now,
            start_due=now + version.pull_s,
            template_hash=hash_of(template),
            volumes=frozenset(names_of_claims(self.claims)),
        )

    def _claims_of(self, ordinal: int) -> set[str]:
        return {f"{name}-{self.name}-{ordinal}" for name in names_of_claims(self.claims)}

    def _own_claims(self) -> None:
        """With `whenDeleted: Delete` they belong to it, and go with it: also where it goes without its pods, if the
        garbage collector has not seen yet whose they are."""
        self.owned_claims = set(self.kept_claims) if self.retention.get("whenDeleted") == "Delete" else set()


def hash_of(template: Json) -> str:
    """As the operator has written it down."""
    name: str = template["metadata"]["annotations"][HASH_ANNOTATION]
    return name


def _is_static(template: Json) -> bool:
    """By what a pod is really given: its instance id, in the environment."""
    environment = template["spec"]["containers"][0].get("env", ())
    return any(variable["name"].endswith(OwnedSetting.GROUP_INSTANCE_ID) for variable in environment)
