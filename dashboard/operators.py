"""The operators themselves: does one lead, does it keep up, and what does it ask of Kubernetes and Kafka?"""

from __future__ import annotations

from typing import Final

from dashboard.panels import Colour, Kind, Panel, Query, Section, Unit, per_second

_PASSES: Final = "slackwater_reconciles_total"
_STALLS: Final = "slackwater_event_loop_stall_seconds"


def _latency(quantile: str) -> str:
    return f"histogram_quantile({quantile}, {per_second('slackwater_reconcile_duration_seconds_bucket', 'le')})"


SECTION: Final = Section(
    "Operators",
    (
        Panel(
            "Replicas",
            "Which replica leads; the others stand by to take over.",
            (Query("max by (namespace, instance) (slackwater_leading)", "{{namespace}} {{instance}}"),),
            kind=Kind.STATE_TIMELINE,
            words={0: ("stands by", Colour.IDLE), 1: ("leads", Colour.GOOD)},
        ),
        Panel(
            "Versions",
            "Which version of Slackwater each replica runs.",
            (Query("max by (namespace, instance, version, python) (slackwater_build_info)"),),
            kind=Kind.TABLE,
            columns={"namespace": "Namespace", "instance": "Replica", "version": "Version", "python": "Python"},
        ),
        Panel(
            "Passes",
            "How often the operator looks at a group and decides; at rest once a minute for each group.",
            (Query(per_second(_PASSES, "result"), "{{result}}"),),
            Unit.PER_SECOND,
        ),
        Panel(
            "Passes that failed",
            "The share of passes that ended with an error, such as an API server that did not answer.",
            (
                Query(
                    f'sum(rate({_PASSES}{{result="failed"}}[$__rate_interval])) / '
                    f"sum(rate({_PASSES}[$__rate_interval]))",
                    "failed",
                ),
            ),
            Unit.SHARE,
        ),
        Panel(
            "Event loop",
            "For how long the event loop stood still: all groups, probes and the Lease wait for it.",
            (
                Query(f"histogram_quantile(0.99, {per_second(f'{_STALLS}_bucket', 'le')})", "99 of 100"),
                Query("max(slackwater_event_loop_longest_stall_seconds)", "longest"),
            ),
            Unit.SECONDS,
        ),
        Panel(
            "Time of a pass",
            "How long one pass over a group takes, failed ones too.",
            tuple(Query(_latency(quantile), name) for quantile, name in (("0.5", "half"), ("0.99", "99 of 100"))),
            Unit.SECONDS,
        ),
        Panel(
            "Acts",
            "What the operator does to the cluster and to groups in Kafka, by kind.",
            (Query(per_second("slackwater_acts_total", "act"), "{{act}}"),),
            Unit.PER_SECOND,
        ),
        Panel(
            "Groups of each replica",
            "ConsumerGroups that each replica takes care of; none while it stands by.",
            (Query("max by (namespace, instance) (slackwater_groups)", "{{namespace}} {{instance}}"),),
        ),
        Panel(
            "Namespaces that may not be read",
            "Namespaces of watchNamespaces without a Role for the operator: deleted, or taken from it; none is right.",
            (Query("max by (namespace, instance) (slackwater_namespace_refused)", "{{namespace}} {{instance}}"),),
        ),
        Panel(
            "Requests to Kubernetes",
            "Requests to the API server by verb and resource, without the watches.",
            (Query(per_second("slackwater_kubernetes_requests_total", "verb", "resource"), "{{verb}} {{resource}}"),),
            Unit.REQUESTS_PER_SECOND,
            width=12,
        ),
        Panel(
            "Requests to Kafka",
            "Requests to the brokers by API.",
            (Query(per_second("slackwater_kafka_requests_total", "api"), "{{api}}"),),
            Unit.REQUESTS_PER_SECOND,
            width=12,
        ),
        Panel(
            "Telemetry that was recorded",
            "Events that the pipeline learns from, by type; nothing where telemetry is off.",
            (Query(per_second("slackwater_telemetry_events_total", "type"), "{{type}}"),),
            Unit.EVENTS_PER_SECOND,
            width=12,
        ),
        Panel(
            "Telemetry that was dropped",
            "Events that were lost, by reason; recommendations rest on what is left.",
            (Query(per_second("slackwater_telemetry_dropped_total", "reason"), "{{reason}}"),),
            Unit.EVENTS_PER_SECOND,
            width=12,
        ),
    ),
)
