"""Products, environments and keys have no age."""

from app.core.retention import RetentionRule

RULES: tuple[RetentionRule, ...] = ()

TABLES_WITHOUT_RULES = {
    "products": "until it is deleted, with everything of it",
    "environments": "until its product is deleted",
    "keys": "a revoked key is still recognised as revoked",
}
