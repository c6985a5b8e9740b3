"""The history that the demo makes, and the commands that it learns from it by."""

from __future__ import annotations

from demo import manifests, modes
from demo.learning import history, jobs
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.protocol import ProtocolTarget
from slackwater.api.timeouts import ConsumerTimeouts, TimeoutsMode
from slackwater.pipeline.statistics.recommend import FEWEST_RESTARTS
from slackwater.shell.places import TopicPlace, parse_place
from slackwater.shell.store import Key

SERVERS = "broker:9092"


def test_the_group_leaves_its_session_to_what_is_learned() -> None:
    spec = parse_consumer_group(manifests.consumers(modes.LEARNING, modes.FIRST, SERVERS)).spec
    assert (spec.protocol.target, spec.timeouts.mode) == (ProtocolTarget.CONSUMER, TimeoutsMode.AUTO)
    assert (spec.timeouts.consumer, spec.timeouts.session_timeout_ms) == (ConsumerTimeouts(), None)


def test_only_the_pods_that_are_to_crash_share_their_processes() -> None:
    sharing = [
        mode
        for mode in (*modes.MODES, modes.LEARNING)
        if "shareProcessNamespace" in manifests.consumers(mode, modes.FIRST, SERVERS)["spec"]["template"]["spec"]
    ]
    assert sharing == [modes.LEARNING]


def test_its_rollout_changes_the_version_alone() -> None:
    before, after = (manifests.consumers(modes.LEARNING, version, SERVERS) for version in (modes.FIRST, modes.SECOND))
    assert str(before).replace(f"'value': '{modes.FIRST}'", f"'value': '{modes.SECOND}'") == str(after)


def test_there_are_enough_restarts_to_learn_from() -> None:
    """Those that end within the longest session: the rollout's and the crashes'."""
    crashes = [ordinal for ordinals in history.CRASHES for ordinal in ordinals]
    assert sorted(crashes) == list(range(modes.REPLICAS))
    assert modes.REPLICAS + len(crashes) >= FEWEST_RESTARTS


def test_most_of_the_group_goes_on_working_all_the_time() -> None:
    assert max(len(ordinals) for ordinals in (*history.CRASHES, history.AWAY)) < modes.REPLICAS / 2


def test_some_members_are_away_for_longer_than_any_session_lasts() -> None:
    assert history.AWAY_FOR_S > history.LONGEST_SESSION_S


def test_the_jobs_read_and_write_what_the_operator_writes_and_reads() -> None:
    ingest, audit, recommend, report = jobs.commands(SERVERS)
    assert [words[0] for words in (ingest, audit, recommend, report)] == ["ingest", "audit", "recommend", "report"]
    connection = Key(manifests.NAMESPACE, manifests.CONNECTION)
    written = parse_place(manifests.place(ingest[ingest.index("--topic") + 1]))
    followed = parse_place(manifests.place(recommend[recommend.index("--out-topic") + 1]))
    assert written == TopicPlace(connection, manifests.TELEMETRY)
    assert followed == TopicPlace(connection, manifests.RECOMMENDATIONS)


def test_all_jobs_share_one_lake() -> None:
    lakes = {words[words.index("--lake") + 1] for words in jobs.commands(SERVERS)}
    assert lakes == {"build/demo/lake"}
