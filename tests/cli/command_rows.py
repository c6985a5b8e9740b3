"""What every command says where a name is wrong, a right is missing, no cluster answers, or no broker does.

A row for each command, and for each way of using one that ends otherwise; a cell for each case. Cells are tried by
`test_every_command` (in this process) and `test_every_command_live` (where only a real API server shows it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from tests.cli.every_command import NAME, SILENT, WRONG, Case, Cell, Fails, Finds, Row, ShownBy, Succeeds

_AWAY: Final[Mapping[Case, Cell]] = {
    Case.NO_KUBECONFIG: Fails("no Kubernetes cluster is configured, for there is no file"),
    Case.NO_API_SERVER: Fails(
        "127.0.0.1:1 cannot be reached (connection refused): see that the cluster runs, and that --context and"
        " KUBECONFIG fit."
    ),
    Case.NOT_LET_IN: Fails(
        "Unauthorized (401): log in again, for the credentials are missing, wrong or expired, or use another --context."
    ),
    Case.FORBIDDEN: Fails("(403): ask for a role that allows it, or use another --context."),
}
_OF_A_GROUP: Final[Mapping[Case, Cell]] = {
    **_AWAY,
    Case.WRONG_NAME: Fails(f"there is no ConsumerGroup {WRONG} in namespace {{namespace}}: did you mean {NAME}?"),
    Case.NO_NAMESPACE: Fails(
        f"there is no ConsumerGroup {NAME} in namespace {{mistyped}}, but there is one in {{namespace}}: use -n"
        " {namespace}."
    ),
}
_UNSEEN: Final = Fails(
    f"group {NAME} cannot be seen from here: Kafka at {SILENT} cannot be reached: connection refused: see that it runs"
    " and that spec.bootstrapServers of KafkaConnection main fits, or ask from where that leads to it, as in a pod."
)
_ASKS_NO_BROKER: Final = "it asks the cluster only"


def _of_a_group(*words: str, no_broker: Cell) -> Row:
    return Row((*words[:1], "{name}", *words[1:]), {**_OF_A_GROUP, Case.NO_BROKER: no_broker})


_OF_A_FLEET: Final[Mapping[Case, Cell]] = {
    **_AWAY,
    Case.WRONG_NAME: Fails(f"there is no ConsumerFleet {WRONG} in namespace {{namespace}}: did you mean {NAME}?"),
    Case.NO_NAMESPACE: Fails(
        f"there is no ConsumerFleet {NAME} in namespace {{mistyped}}, but there is one in {{namespace}}: use -n"
        " {namespace}."
    ),
}


def _of_a_campaign(verb: str, *words: str, shows: str) -> Row:
    missing: dict[Case, Cell] = {
        Case.WRONG_NAME: Fails(f"there is no FleetCampaign {WRONG} in namespace {{namespace}}: did you mean {NAME}?"),
        Case.NO_NAMESPACE: Fails(f"there is no FleetCampaign {NAME} in namespace {{mistyped}}, but there is one in"),
        Case.NO_BROKER: Succeeds(_ASKS_NO_BROKER, shows),
    }
    return Row(("campaign", verb, "{name}", *words), {**_AWAY, **missing})


def _of_a_fleet(verb: str, *words: str, shows: str) -> Row:
    cells = {**_OF_A_FLEET, Case.NO_BROKER: Succeeds(_ASKS_NO_BROKER, shows)}
    return Row(("fleet", verb, "{name}", *words), cells)


def _gives(word: str, words: str) -> Row:
    return _of_a_group(word, "--timeout", "0s", no_broker=Succeeds(_ASKS_NO_BROKER, words))


def _with_code(code: int, row: Mapping[Case, Cell]) -> dict[Case, Cell]:
    return {case: Fails(cell.words, code) if isinstance(cell, Fails) else cell for case, cell in row.items()}


_NEW: Final = Succeeds("a manifest may be of a group that is yet to be made", "would be new")
_NO_SUCH_PLACE: Final = Fails("there is no namespace {mistyped}: did you mean {namespace}?")
_OF_A_MANIFEST: Final[Mapping[Case, Cell]] = {**_AWAY, Case.WRONG_NAME: _NEW, Case.NO_NAMESPACE: _NO_SUCH_PLACE}


def _needs_no_cluster(why: str, *words: str, wrong: tuple[str, ...] = (), wrong_name: Fails) -> Row:
    cells: dict[Case, Cell] = dict.fromkeys(Case, Succeeds(why))
    return Row(words, {**cells, Case.WRONG_NAME: wrong_name}, in_namespace=False, wrong=wrong)


_EXAMINES: Final[Mapping[Case, Cell]] = {
    **_AWAY,
    Case.WRONG_NAME: Finds("KafkaConnection {namespace}/main"),
    Case.NO_NAMESPACE: Finds("namespace {mistyped} there is no namespace {mistyped}: did you mean {namespace}?"),
    Case.FORBIDDEN: Finds("your rights: looking"),
}
_NEVER_KUBERNETES: Final = ShownBy(
    "tests/cli/test_every_command.py::test_the_pipeline_has_no_client_of_kubernetes", "it never asks Kubernetes"
)
_TAKES_SPARK: Final = "it takes a Spark"
_NO_BROKERS: Final = "tests/cli/test_every_command.py::test_the_report_knows_no_brokers"


def _job(*words: str, no_broker: str) -> Row:
    cells: dict[Case, Cell] = dict.fromkeys(Case, _NEVER_KUBERNETES)
    cells[Case.WRONG_NAME] = ShownBy(
        "tests/pipeline/test_wrong_places.py::test_a_path_that_leads_nowhere", _TAKES_SPARK
    )
    cells[Case.NO_BROKER] = ShownBy(no_broker, _TAKES_SPARK)
    return Row(words, cells, in_namespace=False)


def _recommend() -> Row:
    """As a job, but without Spark."""
    job = _job("recommend", no_broker=_NO_BROKERS)
    shown = "tests/pipeline/local/test_job.py::test_a_folder_that_is_not_there_is_a_sentence"
    wrong_name = {Case.WRONG_NAME: ShownBy(shown, "it takes a folder, and numpy")}
    return replace(job, cells={**job.cells, **wrong_name})


def _operator() -> Row:
    here = "tests/cli/test_every_command.py"
    takes_no_name = f"{here}::test_the_operator_takes_no_name"
    away = ShownBy(f"{here}::test_the_operator_without_a_cluster", "it is a process of its own, with a log")
    live = "tests/cli/test_every_command_live.py"
    return Row(
        ("run",),
        {
            Case.WRONG_NAME: ShownBy(takes_no_name, "it takes none"),
            Case.NO_NAMESPACE: ShownBy(takes_no_name, "it takes none"),
            Case.NO_KUBECONFIG: away,
            Case.NO_API_SERVER: ShownBy(
                f"{here}::test_the_operator_waits_for_an_api_server", "it goes on, and says so"
            ),
            Case.NOT_LET_IN: ShownBy(f"{live}::test_the_operator_is_refused", "it is a process of its own, with a log"),
            Case.FORBIDDEN: ShownBy(f"{live}::test_the_operator_is_refused", "it is a process of its own, with a log"),
            Case.NO_BROKER: ShownBy(
                "tests/e2e/faults/test_faults_outages.py::test_kafka_is_down_in_the_middle_of_a_rollout",
                "it goes on, and the groups' conditions say so",
            ),
        },
        in_namespace=False,
    )


_TOLD: Final = ("--client=Java", "--topic=orders", "--group-id=orders", "--env-prefix=KAFKA_", "--connection=main")
"""What a workload without an environment does not tell."""

ROWS: Final[Mapping[str, Row]] = {
    "list": Row(
        ("list",),
        {
            **_AWAY,
            Case.WRONG_NAME: Succeeds("it takes no name but the namespace's", NAME),
            Case.NO_NAMESPACE: _NO_SUCH_PLACE,
            Case.NO_BROKER: Succeeds(_ASKS_NO_BROKER, NAME),
        },
    ),
    "status": _of_a_group(
        "status", no_broker=Succeeds("it shows what the cluster tells, and what it cannot see", SILENT)
    ),
    "status --wait": _of_a_group(
        "status",
        "--wait",
        "--timeout",
        "1s",
        no_broker=Fails(
            f"ConsumerGroup {NAME} was not Ready within 1 s, the operator has said nothing of it: slackwater why"
            f" {NAME} says why.",
            3,
        ),
    ),
    "status --watch": _of_a_group(
        "status",
        "--watch",
        no_broker=ShownBy(
            "tests/cli/test_view.py::test_the_picture_is_the_one_that_was_approved",
            "it goes on, and shows what it cannot see",
        ),
    ),
    "observe": _of_a_group(
        "observe", "--for", "0s", no_broker=Succeeds("it records that the group cannot be seen", "KafkaUnreachable")
    ),
    "why": _of_a_group(
        "why",
        no_broker=Succeeds(
            "it says what the cluster tells, and what it cannot see", "From here the group cannot be seen"
        ),
    ),
    "why --defaults": _of_a_group(
        "why", "--defaults", no_broker=Succeeds(_ASKS_NO_BROKER, "No ConsumerFleet gives it any defaults.")
    ),
    "members": _of_a_group("members", no_broker=_UNSEEN),
    "lag": _of_a_group("lag", no_broker=_UNSEEN),
    "lag --watch": _of_a_group(
        "lag",
        "--watch",
        no_broker=ShownBy(
            "tests/cli/test_tables.py::test_a_group_that_cannot_be_seen_is_said_to_be_so",
            "it goes on, and shows what it cannot see",
        ),
    ),
    "history": _of_a_group("history", no_broker=Succeeds(_ASKS_NO_BROKER)),
    "pause": _gives("pause", f"{NAME}: paused"),
    "resume": _gives("resume", f"{NAME}: resumed"),
    "promote": _of_a_group(
        "promote", "--timeout", "0s", no_broker=Fails(f"{NAME} is as it was: promote: no canary is being held")
    ),
    "abort": _gives("abort", f"{NAME}: abort is given"),
    "undo": _of_a_group("undo", no_broker=Fails(f"the cluster keeps no earlier version of {NAME}")),
    "retry": _gives("retry", f"{NAME}: retry is given"),
    "restart": _gives("restart", f"{NAME}: restart is given"),
    "force": _gives("force", f"{NAME}: force is given"),
    "approve": _of_a_group(
        "approve",
        "--timeout",
        "0s",
        no_broker=Fails(f"{NAME} is as it was: approve: a rollout is under way or has failed"),
    ),
    "fleet status": _of_a_fleet("status", shows=f"/{NAME} 1 group in 1 namespace Paused: it is tried"),
    "fleet status --watch": Row(
        ("fleet", "status", "{name}", "--watch"),
        {
            **_OF_A_FLEET,
            Case.NO_BROKER: ShownBy("tests/cli/test_giving_fleet.py::test_it_is_followed_until_it_goes", "it goes on"),
        },
    ),
    "fleet plan": _of_a_fleet("plan", "--all-restart", shows="No group of it has pods."),
    "fleet plan --filename": Row(
        ("fleet", "plan", "-f", "{campaign}"),
        {
            **_OF_A_FLEET,
            Case.NO_NAMESPACE: _NO_SUCH_PLACE,
            Case.NO_BROKER: Succeeds("a restart asks the cluster only", "/rolls restarts in fleet"),
        },
    ),
    "fleet pause": _of_a_fleet("pause", "--reason", "why", "--timeout", "0s", shows=f"{NAME}: paused"),
    "fleet resume": _of_a_fleet("resume", "--timeout", "0s", shows=f"{NAME}: resumed"),
    "fleet open": _of_a_fleet("open", "--for", "1h", "--reason", "why", "--timeout", "0s", shows=f"{NAME}: open until"),
    "campaign status": _of_a_campaign("status", shows=f"/{NAME} restarts in fleet {NAME} AwaitingPromotion"),
    "campaign start": Row(
        ("campaign", "start", "{name}", "--timeout", "0s"),
        {
            **_of_a_campaign("start", shows=f"{NAME}: goes on").cells,
            Case.WRONG_NAME: Fails(f"did you mean {NAME}; to begin a new one, say its --fleet."),
        },
    ),
    "campaign pause": Row(
        ("campaign", "pause", "{name}", "--timeout", "0s"),
        {
            **_of_a_campaign("pause", shows="").cells,
            Case.NO_BROKER: Fails(f"{NAME} is paused already"),
        },
    ),
    "campaign promote": _of_a_campaign("promote", "--timeout", "0s", shows=f"{NAME}: promoted"),
    "plan": Row(
        ("plan", "-f", "{manifest}"),
        {**_OF_A_MANIFEST, Case.NO_BROKER: Succeeds("it says so, and the operator may see it", SILENT)},
    ),
    "plan --world": _needs_no_cluster(
        "the world is recorded",
        "plan",
        "-f",
        "{manifest}",
        "--world",
        "{world}",
        wrong_name=Fails("records ConsumerGroup"),
    ),
    "diff": Row(
        ("diff", "-f", "{manifest}"),
        {
            **_with_code(2, _OF_A_MANIFEST),
            Case.WRONG_NAME: Finds("would be new"),
            Case.NO_BROKER: Succeeds("what differs stands in the cluster", "changes nothing"),
        },
    ),
    "doctor": Row(("doctor",), {**_EXAMINES, Case.NO_BROKER: Finds("KafkaConnection {namespace}/main")}),
    "doctor --kafka": Row(
        ("doctor", "--kafka"),
        {
            **_EXAMINES,
            Case.NO_BROKER: Finds(f"Kafka at {SILENT} cannot be reached: connection refused. See that it runs"),
        },
    ),
    "import": Row(
        ("import", "deploy/{name}", *_TOLD),
        {
            **_AWAY,
            Case.WRONG_NAME: Fails(f"there is no Deployment {WRONG} in namespace {{namespace}}: did you mean {NAME}?"),
            Case.NO_NAMESPACE: _NO_SUCH_PLACE,
            Case.NO_BROKER: Succeeds(_ASKS_NO_BROKER, "kind: ConsumerGroup"),
        },
    ),
    "adopt": _of_a_group(
        "adopt",
        "--dry-run",
        no_broker=ShownBy(
            "tests/cli/test_adopting.py::test_members_that_cannot_be_seen_are_said_not_to_be_compared",
            "it goes on, and says what is not compared",
        ),
    ),
    "release": _of_a_group(
        "release",
        no_broker=Fails(f"ConsumerGroup {NAME} has no StatefulSet that could stay"),
    ),
    "reason": _needs_no_cluster(
        "its texts are its own",
        "reason",
        "PodNotReady",
        wrong=("reason", "PodNotRedy"),
        wrong_name=Fails("and slackwater reason lists them all: did you mean PodNotReady,", 2),
    ),
    "version": Row(("version",), dict.fromkeys(Case, Succeeds("it asks nobody")), in_namespace=False),
    "completion": _needs_no_cluster(
        "its scripts are its own",
        "completion",
        "bash",
        wrong=("completion", "bsh"),
        wrong_name=Fails("'bsh' is not one of 'bash', 'zsh', 'fish': see slackwater completion --help.", 2),
    ),
    "run": _operator(),
    "pipeline ingest": _job(
        "pipeline", "ingest", no_broker="tests/pipeline/ingest/test_topic.py::test_a_topic_that_cannot_be_read"
    ),
    "pipeline audit": _job(
        "pipeline",
        "audit",
        no_broker="tests/pipeline/audit/test_real_topic.py::test_a_broker_that_does_not_answer_is_told",
    ),
    "pipeline recommend": _job(
        "pipeline",
        "recommend",
        no_broker="tests/pipeline/recommend/test_topic.py::test_brokers_that_do_not_answer_are_told",
    ),
    "pipeline report": _job("pipeline", "report", no_broker=_NO_BROKERS),
    "report": _job("report", no_broker=_NO_BROKERS),
    "recommend": _recommend(),
}


def cells(*cases: Case) -> list[Any]:
    """Those that are tried by `try_cell`, as parameters: the row's key, and the case."""
    return [
        pytest.param(key, case, id=f"{key}, {case.value}")
        for key, row in ROWS.items()
        for case in cases
        if not isinstance(row.cells[case], ShownBy)
    ]
