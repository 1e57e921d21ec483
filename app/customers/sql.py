"""SQL fragments about customers that statements of other packages are made of."""

from app.customers.rules import References

# Of :product_id, and :users, :accounts and :anonymous: a reference's digest under each pepper, or null. `customer` has
# one row, of the named customer's id and how well it is known, or none. While a verified reference has no customer, the
# anonymous reference decides.
NAMED_CUSTOMER = """
    verified AS (
        SELECT customer_id FROM customer_references
        WHERE product_id = :product_id::uuid AND kind = 'user' AND digest = ANY(:users::bytea[])
          AND (:accounts::bytea[] IS NULL OR scope = '' OR scope = ANY(:accounts))
        UNION ALL
        SELECT customer_id FROM customer_references
        WHERE :users IS NULL AND product_id = :product_id AND kind = 'account' AND digest = ANY(:accounts)
        LIMIT 2
    ), named AS (
        SELECT customer_id, 'verified' AS level FROM verified
        UNION ALL
        SELECT customer_id, 'pseudonymous' FROM customer_references
        WHERE NOT EXISTS (SELECT FROM verified) AND product_id = :product_id AND kind = 'anonymous'
          AND digest = ANY(:anonymous::bytea[])
    ), customer AS (
        -- A userRef of several accounts without an accountRef identifies no customer.
        SELECT (array_agg(customer_id))[1] AS id, min(level) AS level FROM named HAVING count(*) = 1
    )
"""


# Of :product_id, and :user_digest, :account_digest and :anonymous_digest: a reference's digest under the newest pepper,
# or null. `resolved` has one row of an id, which is null where no reference was sent. It has no row where
# `customers.resolve` has to create, link or refuse something first. Each id is looked up once and compared often.
RESOLVED_CUSTOMER = """
    user_rows AS (
        SELECT customer_id, scope FROM customer_references
        WHERE product_id = :product_id::uuid AND kind = 'user' AND digest = :user_digest::bytea
          AND (:account_digest::bytea IS NULL OR scope = :account_digest)
        ORDER BY scope LIMIT 2
    ), named AS MATERIALIZED (
        SELECT CASE WHEN :user_digest IS NULL THEN (
            SELECT customer_id FROM customer_references
            WHERE product_id = :product_id AND kind = 'account' AND digest = :account_digest AND scope = ''
        ) ELSE (
            SELECT (array_agg(customer_id ORDER BY scope))[1] FROM user_rows HAVING count(*) = 1 OR bool_or(scope = '')
        ) END AS verified_id, (
            SELECT customer_id FROM customer_references
            WHERE product_id = :product_id AND kind = 'anonymous' AND digest = :anonymous_digest::bytea AND scope = ''
        ) AS anonymous_id
    ), resolved AS (
        SELECT coalesce(verified_id, anonymous_id) AS id FROM named
        WHERE (verified_id IS NULL) = (:user_digest IS NULL AND :account_digest IS NULL)
          AND (anonymous_id IS NULL) = (:anonymous_digest IS NULL)
          AND (verified_id = anonymous_id) IS NOT FALSE
    )
"""


def newest_digests(references: References) -> dict[str, bytes | None]:
    """Return the values of `RESOLVED_CUSTOMER` that say who is named."""
    return {f"{kind}_digest": digests and digests[0] for kind, digests in references._asdict().items()}


def writable_customer(customer_id: str) -> str:
    """Return a query of a customer's id that locks the customer for writing what belongs to it, as `locks.lock` does.

    It has no row if the customer does not exist. `customer_id` is an SQL expression.
    """
    return f"SELECT id FROM customers WHERE product_id = :product_id::uuid AND id = {customer_id} FOR NO KEY UPDATE"


def update_last_seen(customer_id: str) -> str:
    """Return the statement that records at :now that a customer was named, unless that is recorded since :seen_before.

    `customer_id` is an SQL expression.
    """
    return f"""
        UPDATE customers SET last_seen_at = :now
        WHERE product_id = :product_id AND id = {customer_id} AND last_seen_at < :seen_before::timestamptz
    """


def locked_customer(customer_id: str) -> str:
    """Return a query of a customer's id that keeps the customer from being erased or linked until the end.

    It waits for an erasure or a link that is under way, and then has no row. `customer_id` is an SQL expression.
    """
    return f"SELECT id FROM customers WHERE product_id = :product_id AND id = {customer_id} FOR KEY SHARE"


def decision(customer_id: str) -> str:
    """Return an expression: what a customer decided about :purpose, or null. `customer_id` is an SQL expression."""
    # A scalar, so that it is looked up by key; as an anti-join it would read every choice of the product.
    return f"""(SELECT c.decision FROM customer_choices c
        WHERE c.product_id = :product_id AND c.customer_id = {customer_id} AND c.purpose = :purpose)"""
