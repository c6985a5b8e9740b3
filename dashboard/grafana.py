"""The dashboard in Grafana's JSON, with nothing in it that Grafana would add by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from string import ascii_uppercase
from typing import Any, Final

from dashboard.panels import Annotation, Colour, Kind, Panel, Query, Section

Json = dict[str, Any]

SCHEMA_VERSION: Final = 39
"""Of Grafana 10.4; later ones bring it up to date when they load it."""
COLUMNS: Final = 24
ANNOTATION_STEP_S: Final = 60
"""Grafana asks once in so many seconds; a rollout that is over sooner may be missed."""

_DATA_SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_ALL: Final = {"selected": True, "text": ["All"], "value": ["$__all"]}
_LEGEND: Final = {"showLegend": True, "displayMode": "list", "placement": "bottom", "calcs": []}
_TOOLTIP: Final = {"mode": "multi", "sort": "desc"}
_LAST: Final = {"calcs": ["lastNotNull"], "fields": "", "values": False}
_OPTIONS: Final[dict[Kind, Json]] = {
    Kind.TIME_SERIES: {"legend": _LEGEND, "tooltip": _TOOLTIP},
    Kind.STAT: {"reduceOptions": _LAST, "colorMode": "value", "graphMode": "area", "textMode": "value"},
    Kind.STATE_TIMELINE: {
        "legend": {**_LEGEND, "showLegend": False},
        "tooltip": _TOOLTIP,
        "mergeValues": True,
        "showValue": "auto",
        "rowHeight": 0.8,
    },
    Kind.TABLE: {"showHeader": True, "cellHeight": "sm"},
}


def dashboard(sections: Iterable[Section], notes: Iterable[Annotation] = ()) -> Json:
    return {
        "uid": "slackwater",
        "title": "Slackwater",
        "description": "Kafka consumer groups and the operator that takes care of them.",
        "tags": ["kafka", "slackwater"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": True,
        "graphTooltip": 1,
        "timezone": "browser",
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "1m",
        "templating": {"list": _variables()},
        "annotations": {"list": [_annotation(each) for each in notes]},
        "links": [],
        "panels": list(_laid_out(sections)),
    }


def as_json(made: Json) -> str:
    return json.dumps(made, indent=2) + "\n"


def _variables() -> list[Json]:
    data_source = {
        "type": "datasource",
        "name": "datasource",
        "label": "Data source",
        "query": "prometheus",
        "refresh": 1,
        "multi": False,
        "includeAll": False,
        "current": {},
        "options": [],
        "regex": "",
        "hide": 0,
    }
    everything = "slackwater_group_members_expected"
    return [
        data_source,
        {**_values_of("namespace", everything), "includeAll": True, "current": _ALL},
        {**_values_of("group", f'{everything}{{namespace=~"$namespace"}}'), "includeAll": False, "current": {}},
    ]


def _values_of(label: str, series: str) -> Json:
    """A variable with all values that the label has; asked again when the time range changes."""
    query = f"label_values({series}, {label})"
    return {
        "type": "query",
        "name": label,
        "label": label.capitalize(),
        "datasource": _DATA_SOURCE,
        "query": {"query": query, "refId": "values"},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "options": [],
        "regex": "",
        "hide": 0,
    }


def _annotation(of: Annotation) -> Json:
    """Grafana marks each stretch of time in which the query has a value, on every graph."""
    return {
        "name": of.name,
        "datasource": _DATA_SOURCE,
        "enable": True,
        "hide": False,
        "iconColor": of.colour.value,
        "expr": of.expr,
        "step": f"{ANNOTATION_STEP_S}s",
        "titleFormat": of.title,
        "textFormat": of.text,
        "tagKeys": "namespace,group",
        "useValueForTime": False,
    }


def _laid_out(sections: Iterable[Section]) -> Iterator[Json]:
    """Panels from left to right, in a new line where one does not fit any more."""
    number, top = 0, 0
    for section in sections:
        number += 1
        yield _row(section.title, number, top)
        left, top, height = 0, top + 1, 0
        for panel in section.panels:
            number += 1
            if left + panel.width > COLUMNS:
                left, top, height = 0, top + height, 0
            yield _panel(panel, number, {"x": left, "y": top, "w": panel.width, "h": panel.height})
            left, height = left + panel.width, max(height, panel.height)
        top += height


def _row(title: str, number: int, top: int) -> Json:
    place = {"x": 0, "y": top, "w": COLUMNS, "h": 1}
    return {"id": number, "type": "row", "title": title, "collapsed": False, "gridPos": place, "panels": []}


def _panel(panel: Panel, number: int, place: Json) -> Json:
    ids = dict(zip(ascii_uppercase, panel.queries, strict=False))
    return {
        "id": number,
        "type": panel.kind.value,
        "title": panel.title,
        "description": panel.description,
        "gridPos": place,
        "datasource": _DATA_SOURCE,
        "targets": [_target(panel, ref_id, query) for ref_id, query in ids.items()],
        "fieldConfig": {"defaults": _defaults(panel), "overrides": list(_overrides(ids))},
        "options": _OPTIONS[panel.kind],
        **({"transformations": _one_table(ids, panel.columns)} if panel.kind is Kind.TABLE else {}),
    }


def _target(panel: Panel, ref_id: str, query: Query) -> Json:
    target = {"refId": ref_id, "datasource": _DATA_SOURCE, "expr": query.expr, "editorMode": "code"}
    if panel.kind is Kind.TABLE:
        return {**target, "format": "table", "instant": True, "range": False}
    return {**target, "legendFormat": query.legend or "__auto", "instant": False, "range": True}


def _defaults(panel: Panel) -> Json:
    defaults: Json = {"unit": panel.unit.value, "min": 0, "color": {"mode": "palette-classic"}}
    match panel.kind:
        case Kind.TIME_SERIES:
            defaults["custom"] = {"fillOpacity": 10, "lineWidth": 1, "showPoints": "never"}
            if panel.stacked:
                defaults["custom"] |= {"fillOpacity": 60, "stacking": {"mode": "normal", "group": "A"}}
        case Kind.STAT:
            steps: list[Json] = [{"color": Colour.GOOD.value, "value": None}]
            if panel.bad_from is not None:
                steps.append({"color": Colour.BAD.value, "value": panel.bad_from})
            defaults |= {"noValue": "0", "color": {"mode": "thresholds"}}
            defaults["thresholds"] = {"mode": "absolute", "steps": steps}
        case Kind.STATE_TIMELINE:
            defaults["custom"] = {"fillOpacity": 70, "lineWidth": 0}
    if panel.words:
        words = {
            str(value): {"text": text, "color": colour.value, "index": index}
            for index, (value, (text, colour)) in enumerate(panel.words.items())
        }
        defaults["mappings"] = [{"type": "value", "options": words}]
    return defaults


def _overrides(ids: Mapping[str, Query]) -> Iterator[Json]:
    for query in ids.values():
        if query.unit is not None:
            matcher = {"id": "byName", "options": query.legend}
            yield {"matcher": matcher, "properties": [{"id": "unit", "value": query.unit.value}]}


def _one_table(ids: Mapping[str, Query], of_labels: Mapping[str, str]) -> list[Json]:
    """A line for each combination of labels that all queries have; columns for labels come first."""
    values = {f"Value #{ref_id}": query.legend for ref_id, query in ids.items()}
    shown = {**of_labels, **{column: heading for column, heading in values.items() if heading}}
    hidden = ["Time", *(column for column, heading in values.items() if not heading)]
    options = {
        "excludeByName": dict.fromkeys(hidden, True),
        "indexByName": {column: index for index, column in enumerate(shown)},
        "renameByName": shown,
    }
    return [{"id": "merge", "options": {}}, {"id": "organize", "options": options}]
