"""Retention rules of products: none, since products, environments and keys are kept until they are deleted."""

from app.core.retention import RetentionRule

RULES: tuple[RetentionRule, ...] = ()

TABLES_WITHOUT_RULES = {
    "products": "until it is deleted, with everything of it",
    "environments": "until its product is deleted",
    "keys": "a revoked key is still recognised as revoked",
}
