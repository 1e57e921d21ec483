"""What customers need secrets for."""

from datetime import timedelta

from app.core.rotation import PepperUse, Retention, SealedColumn

SEALED_COLUMNS: tuple[SealedColumn, ...] = ()

# Of a row of `customer_references`.
_HAS_DECLINED = """
    EXISTS (
        SELECT FROM customer_choices c
        WHERE c.product_id = r.product_id AND c.customer_id = r.customer_id AND c.decision = 'declined'
    ) AND NOT EXISTS (
        SELECT FROM customer_references n
        WHERE n.product_id = r.product_id AND n.customer_id = r.customer_id AND n.pepper_id = :newest
    )
"""

PEPPER_USES = (
    PepperUse(
        "customer references",
        "customer references that were not sent since ({count}) would name nobody, and be new customers later",
        "{count} customer references name nobody, and who comes back is a new customer",
        columns=("customer_references.digest", "customer_references.scope"),
        # When a customer was last seen is stored to the day.
        needed_for=timedelta(days=1),
        retention=Retention.FEEDBACK,
        rows="customer_references",
    ),
    PepperUse(
        "customers who declined",
        "customers who declined and were not named since ({count}) would be asked again",
        "{count} customers who declined are asked again",
        rows=f"customer_references r WHERE {_HAS_DECLINED}",
        row_count="count(DISTINCT (product_id, customer_id))",
    ),
)

COLUMNS_WITHOUT_SECRET = {"customer_references.pepper_id": "names a pepper, and tells nothing about it"}
