"""Customers leave when nothing of any package names them; see `retention.service.expire_feedback`."""

from app.core.retention import RetentionRule

RULES: tuple[RetentionRule, ...] = ()

TABLES_WITHOUT_RULES = {
    "customers": "until nobody has named them for the retention and no refusal is on record",
    "customer_references": "with their customers",
    "customer_choices": "a refusal that was forgotten would be asked again",
}
