"""SQL fragments about products that statements of other packages are made of."""


def retention_days(environment_id: str) -> str:
    """Return an expression: the retention of an environment in days. `environment_id` is an SQL expression."""
    return f"(SELECT e.retention_days FROM environments e WHERE e.id = {environment_id})"
