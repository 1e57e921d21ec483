"""SQL fragments about requests and signals that statements of other packages are made of."""

from app.customers.sql import decision
from app.products.sql import retention_days


def _is_active(customer_id: str) -> str:
    """Return the condition that a row `s` of signals may be used, of :product_id, :purpose and :now.

    What has ended is left out though it may still be stored. `customer_id` is an SQL expression.
    """
    # The difference keeps the index on expires_at out: it has every signal of every customer, and the others have few.
    return f"""
        s.product_id = :product_id AND s.purpose = :purpose::text AND s.provenance <> 'agent_inference'
        AND s.expires_at - :now::timestamptz > interval '0'
        AND s.created_at > :now - make_interval(days => {retention_days("s.environment_id")})
        AND {decision(customer_id)} IS DISTINCT FROM 'declined'
    """


def remembered_signals(customer_id: str) -> str:
    """Return a query of the active signals that a customer is remembered by. `customer_id` is an SQL expression."""
    # What the customer decided is looked up once, and not for each signal.
    return f"""
        SELECT s.* FROM signals s WHERE s.customer_id = {customer_id} AND s.remembered AND {_is_active(customer_id)}
    """


# Of :environment_id and :interaction_id.
INTERACTION_SIGNALS = f"""
    SELECT s.* FROM signals s
    WHERE s.environment_id = :environment_id::uuid AND s.interaction_id = :interaction_id::uuid
      AND {_is_active("s.customer_id")}
"""

# A scalar: whose interaction it is. A request leaves after two hours, and what was remembered stays.
INTERACTION_CUSTOMER = """
    coalesce(
        (SELECT r.customer_id FROM enrichment_requests r
         WHERE r.environment_id = :environment_id::uuid AND r.interaction_id = :interaction_id::uuid),
        (SELECT s.customer_id FROM signals s
         WHERE s.product_id = :product_id AND s.environment_id = :environment_id
           AND s.interaction_id = :interaction_id LIMIT 1)
    )
"""

# Of a row of `customers`.
CUSTOMER_HAS_NO_ROWS = """
    NOT EXISTS (SELECT FROM signals s WHERE s.product_id = customers.product_id AND s.customer_id = customers.id)
    AND NOT EXISTS (
        SELECT FROM enrichment_requests r WHERE r.product_id = customers.product_id AND r.customer_id = customers.id
    )
"""


def field_counts(requests: str) -> str:
    """Return a query of how often fields were asked for and answered by environment, day, key and purpose.

    `requests` is a source of rows of `enrichment_requests`, as it follows FROM. The fields of requests of one catalog
    are read once, since a catalog is thousands of characters long. An answer that was taken back has no receipt.
    """
    day_on = "(r.created_at AT TIME ZONE 'UTC')::date"
    return f"""
        SELECT environment_id, day_on, key, purpose, sum(asked)::integer AS asked, sum(answered)::integer AS answered
        FROM (
            SELECT c.environment_id, c.day_on, e.entry ->> 'key' AS key, c.purpose, c.requests AS asked, 0 AS answered
            FROM (
                SELECT r.environment_id, {day_on} AS day_on, r.purpose, count(*) AS requests,
                       min(r.interaction_id::text)::uuid AS interaction_id
                FROM {requests} r GROUP BY r.environment_id, day_on, r.purpose, r.catalog_hash
            ) c
            CROSS JOIN jsonb_array_elements((
                SELECT r.catalog FROM {requests} r
                WHERE r.environment_id = c.environment_id AND r.interaction_id = c.interaction_id
            )) AS e (entry)
            UNION ALL
            SELECT r.environment_id, {day_on}, i.item ->> 'key', r.purpose, 0, 1
            FROM {requests} r CROSS JOIN jsonb_array_elements(r.receipt) AS i (item)
        ) uses
        GROUP BY environment_id, day_on, key, purpose
    """
