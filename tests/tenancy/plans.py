"""Tell from PostgreSQL's plan of a statement which tenant tables it reads without their tenant.

A scan has its tenant when the tenant's column equals a parameter, or a column of something that has its own: another
tenant table, a row of a reference table that is found by a parameter, a function of parameters, or a subquery without
a scan that lacks its tenant.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg2
import psycopg2.extensions

from tests.tenancy.recorder import TENANT_COLUMNS, Statement

Node = dict[str, Any]

CONDITIONS = ("Index Cond", "Recheck Cond", "Filter", "Hash Cond", "Merge Cond", "Join Filter", "TID Cond")

_COLUMN = r"\(?([a-z_]\w*\.[a-z_]\w*)\)?(?:::[\w ]+)?"
_SUBPLAN = re.compile(r"\((?:hashed )?((?:SubPlan|InitPlan) \d+)\)\.(col\d+)")
_EQUALITY = re.compile(rf"^\(*{_COLUMN} = (?:ANY \()?\(*(.+?)\)*$")
_REVERSE = re.compile(rf"^\(*(\$\d+)\)?(?:::[\w ]+)? = {_COLUMN}\)*$")
_IS_COLUMN = re.compile(rf"^{_COLUMN}\)*$")


def explain(cursor: psycopg2.extensions.cursor, statement: Statement) -> Node:
    """Return the plan of a statement for any parameters."""
    for sql in dict.fromkeys((statement.typed_sql, statement.sql)):
        cursor.execute("SAVEPOINT before")
        try:
            cursor.execute(f"EXPLAIN (GENERIC_PLAN, VERBOSE, FORMAT JSON) {sql}")
        except psycopg2.Error as error:
            failure = error
            cursor.execute("ROLLBACK TO SAVEPOINT before")
        else:
            row = cursor.fetchone()
            assert row is not None
            plans = json.loads(row[0]) if isinstance(row[0], str) else row[0]
            plan: Node = plans[0]["Plan"]
            return plan
    raise AssertionError(f"{statement.origin} cannot be explained: {failure}\n{statement.sql}")


def tables_without_tenant(plan: Node) -> set[str]:
    """Return the tenant tables that a plan scans without their tenant."""
    judgement = _Judgement(plan)
    judgement.run()
    return {str(scan["Relation Name"]) for scan in _scans(plan) if not judgement.has_its_tenant(scan)}


def tenants_of(plan: Node) -> set[str]:
    """Return the columns by which the tables that a plan reads or writes are distributed: two are two places."""
    return {TENANT_COLUMNS[name] for node in _nodes(plan) if (name := node.get("Relation Name")) in TENANT_COLUMNS}


def _nodes(plan: Node) -> Iterator[Node]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)


def _scans(plan: Node) -> Iterator[Node]:
    """Return the scans of tenant tables; what an INSERT writes is none."""
    for node in _nodes(plan):
        if node["Node Type"] != "ModifyTable" and node.get("Relation Name") in TENANT_COLUMNS:
            yield node


def conjuncts(condition: str) -> list[str]:
    """Return the parts of a condition that all have to hold, without those that are alternatives."""
    inner = condition.removeprefix("(").removesuffix(")")
    parts, depth, start = [], 0, 0
    for match in re.finditer(r"[()]| AND ", inner):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
        elif depth == 0:
            parts.append(inner[start : match.start()])
            start = match.end()
    return [part for part in (*parts, inner[start:]) if " OR " not in part]


@dataclass
class _Judgement:
    """What is known of the columns of one plan."""

    plan: Node
    equalities: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of columns."""
    bound: set[str] = field(default_factory=set)
    """Columns and aliases whose values come from parameters."""

    def run(self) -> None:
        for node in _nodes(self.plan):
            for name in CONDITIONS:
                for part in conjuncts(node.get(name, "")):
                    self._read(_SUBPLAN.sub(lambda match: f"{match[1].replace(' ', '').lower()}.{match[2]}", part))
        size = -1
        while size != len(self.bound):
            size = len(self.bound)
            for first, second in self.equalities:
                if self._is_bound(first) or self._is_bound(second):
                    self.bound |= {first, second}
            for node in _nodes(self.plan):
                self._bind(node)

    def has_its_tenant(self, scan: Node) -> bool:
        return f"{scan['Alias']}.{TENANT_COLUMNS[scan['Relation Name']]}" in self.bound

    def _read(self, part: str) -> None:
        if match := _REVERSE.match(part):
            self.bound.add(match[2])
        elif match := _EQUALITY.match(part):
            column, other = match[1], match[2]
            if other_column := _IS_COLUMN.match(other):
                self.equalities.append((column, other_column[1]))
            elif not re.search(r"[a-z_]\w*\.[a-z_]", re.sub(r"'[^']*'", "", other)):
                self.bound.add(column)

    def _is_bound(self, column: str) -> bool:
        return column in self.bound or column.partition(".")[0] in self.bound

    def _bind(self, node: Node) -> None:
        """Add the alias of a node whose every row comes from parameters."""
        kind, alias = node["Node Type"], node.get("Alias")
        if kind == "CTE Scan":
            inner = self._subplan(f"CTE {node['CTE Name']}")
            if inner is not None and self._is_complete(inner):
                self.bound.add(str(alias))
        elif kind == "Subquery Scan":
            if self._is_complete(node):
                self.bound.add(str(alias))
        elif kind in ("Function Scan", "Values Scan"):
            self.bound.add(str(alias))
        elif alias and kind != "ModifyTable" and node.get("Relation Name") not in TENANT_COLUMNS:
            # A reference table: a row that a parameter finds.
            self.bound |= {alias} & {column.partition(".")[0] for column in self.bound}
        name = str(node.get("Subplan Name", ""))
        if name.startswith(("SubPlan", "InitPlan")) and self._is_complete(node):
            self.bound.add(name.partition(" (")[0].replace(" ", "").lower())

    def _is_complete(self, plan: Node) -> bool:
        """Tell whether everything that a part of the plan reads is bound."""
        for node in _nodes(plan):
            if node["Node Type"] == "ModifyTable" or not node.get("Alias"):
                continue
            if node.get("Relation Name") in TENANT_COLUMNS:
                if not self.has_its_tenant(node):
                    return False
            elif node is not plan and node["Alias"] not in self.bound:
                return False
        return True

    def _subplan(self, name: str) -> Node | None:
        return next((node for node in _nodes(self.plan) if node.get("Subplan Name") == name), None)
