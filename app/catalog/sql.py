"""SQL fragments about catalogs that statements of other packages are made of."""


def enabled_fields(product_id: str) -> str:
    """Return an expression: the fields that apply of a product's own, for `effective_catalog`, or null if it has none.

    `product_id` is an SQL expression.
    """
    return f"""(
        SELECT json_agg(json_build_array(
            f.key, f.label, f.type, f.allowed_values, f.targeted_advertising_safe, f.operations) ORDER BY f.key)::text
        FROM enrichment_fields f WHERE f.product_id = {product_id} AND f.enabled
    )"""
