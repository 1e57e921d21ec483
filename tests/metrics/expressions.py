"""The expressions of the dashboard and of the alert rules, and the names of metrics and labels in them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from tests.conftest import ROOT

DASHBOARD = ROOT / "deploy/grafana/agent-feedback.json"
ALERTS = ROOT / "deploy/prometheus/alerts.yml"

_SELECTOR = re.compile(r"\b(agent_feedback_\w+)(?:\{([^}]*)\})?")
_GROUPING = re.compile(r"\b(?:by|on|without)\s*\(([^)]*)\)")
_LEGEND = re.compile(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}")


@dataclass(frozen=True)
class Expression:
    """An expression, and the labels that the texts beside it repeat."""

    place: str
    text: str
    legend_labels: frozenset[str]

    @property
    def metrics(self) -> set[str]:
        return {match[1] for match in _SELECTOR.finditer(self.text)}

    @property
    def selected_labels(self) -> set[tuple[str, str]]:
        """The labels of each metric that a selector names."""
        return {
            (match[1], label)
            for match in _SELECTOR.finditer(self.text)
            for label in re.findall(r"(\w+)\s*[=!]", match[2] or "")
        }

    @property
    def grouping_labels(self) -> set[str]:
        return {label.strip() for match in _GROUPING.finditer(self.text) for label in match[1].split(",")}


def dashboard_expressions() -> Iterator[Expression]:
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", ()):
            yield Expression(panel["title"], target["expr"], frozenset(_LEGEND.findall(target["legendFormat"])))


def alert_rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]


def alert_expressions() -> Iterator[Expression]:
    for rule in alert_rules():
        labels = frozenset(_LEGEND.findall(rule["annotations"]["summary"]))
        yield Expression(rule["alert"], rule["expr"], labels)


def find_errors(expression: Expression, labels_of: dict[str, set[str]]) -> list[str]:
    """Return which names of an expression do not exist; `labels_of` has the metrics of a scrape with their labels."""
    unknown = sorted(expression.metrics - labels_of.keys())
    if unknown:
        return [f"{expression.place}: no metric {name}" for name in unknown]
    # The scraping server adds the address of what it scrapes.
    all_labels = {"instance"}.union(*(labels_of[name] for name in expression.metrics))
    return [
        f"{expression.place}: {name} has no label {label}"
        for name, label in sorted(expression.selected_labels)
        if label not in labels_of[name]
    ] + [
        f"{expression.place}: no metric has the label {label}"
        for label in sorted((expression.grouping_labels | expression.legend_labels) - all_labels)
    ]
