"""Retention rules of customers: none; `retention.service.expire_feedback` removes unreferenced customers."""

from app.core.retention import RetentionRule

RULES: tuple[RetentionRule, ...] = ()

TABLES_WITHOUT_RULES = {
    "customers": "until no request has named them for the retention period and no refusal is stored",
    "customer_references": "with their customers",
    "customer_choices": "without it, a customer who declined would be asked again",
}
