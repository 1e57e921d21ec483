"""Every name in the dashboard and the alert rules is one of a metric, and every alert is explained."""

import re

import pytest

from app.core.metrics.families import FAMILIES, Kind
from tests.conftest import ROOT
from tests.metrics.expressions import Expression, alert_expressions, alert_rules, dashboard_expressions, find_errors

LABELS = {"agent_feedback_a_total": {"route", "status"}, "agent_feedback_b_seconds_bucket": {"route", "le"}}

DECLARED = {
    name: set(family.labels) | ({"le"} if name.endswith("_bucket") else set())
    for family in FAMILIES.values()
    for name in (
        [family.name + suffix for suffix in ("_bucket", "_sum", "_count")]
        if family.kind is Kind.HISTOGRAM
        else [family.name]
    )
}


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ('rate(agent_feedback_a_total{status=~"5.."}[5m])', []),
        ("sum by (le, route) (rate(agent_feedback_b_seconds_bucket[5m]))", []),
        ("sum(agent_feedback_c_total)", ["x: no metric agent_feedback_c_total"]),
        ("agent_feedback_b_seconds", ["x: no metric agent_feedback_b_seconds"]),
        ('agent_feedback_a_total{state!="1"}', ["x: agent_feedback_a_total has no label state"]),
        ("sum by (le) (agent_feedback_a_total)", ["x: no metric has the label le"]),
    ],
)
def test_a_name_that_does_not_exist_is_found(text: str, errors: list[str]) -> None:
    assert find_errors(Expression("x", text, frozenset()), LABELS) == errors


def test_a_label_of_a_legend_that_does_not_exist_is_found() -> None:
    expression = Expression("x", "agent_feedback_a_total", frozenset({"method"}))
    assert find_errors(expression, LABELS) == ["x: no metric has the label method"]


def test_dashboard_and_alerts_name_what_is_declared() -> None:
    expressions = [*dashboard_expressions(), *alert_expressions()]
    assert len(expressions) > 30
    assert [error for expression in expressions for error in find_errors(expression, DECLARED)] == []
    assert all(expression.metrics for expression in expressions)


def test_the_dashboard_shows_every_family() -> None:
    shown = {name for expression in dashboard_expressions() for name in expression.metrics}
    bare_names = shown | {re.sub(r"_(bucket|sum|count)$", "", name) for name in shown}
    assert set(FAMILIES) - bare_names == {"agent_feedback_job_period_seconds"} - shown


def test_every_alert_is_explained_in_the_page_for_the_person_on_call() -> None:
    page = (ROOT / "docs/operations.md").read_text()
    headings = re.findall(r"^#### (AgentFeedback\w+)$", page, re.MULTILINE)
    assert headings == [rule["alert"] for rule in alert_rules()]
    for rule in alert_rules():
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert rule["annotations"]["runbook"] == f"docs/operations.md#{rule['alert'].lower()}"
        assert rule["annotations"]["summary"].endswith(".")
        paragraph = page.partition(f"#### {rule['alert']}\n")[2].partition("####")[0]
        assert len(paragraph.split()) > 20, rule["alert"]
