"""The SQL by which other packages queue events.

`rows` name a CTE or are a subquery; the columns that each must have are in the docstrings. Nothing is inserted for an
environment without a subscription, so a statement may always contain these.
"""

from app.events.rules import Consumer, EventType


def queue_webhook_events(rows: str, event_type: str) -> str:
    """Return the statement that queues an event for webhooks for each of `rows`.

    Its columns are environment_id, interaction_id and created_at. `event_type` is an SQL expression over the row `r`.
    """
    return f"""
        INSERT INTO events (environment_id, consumer, type, interaction_id, created_at)
        SELECT r.environment_id, '{Consumer.WEBHOOKS}', s.type, r.interaction_id, r.created_at
        FROM {rows} r
        JOIN event_subscriptions s ON s.environment_id = r.environment_id AND s.type = {event_type}
    """


def queue_confirmations(rows: str) -> str:
    """Return the statement that queues `interaction.confirmed` for each of `rows`, as `queue_webhook_events` does."""
    return queue_webhook_events(rows, f"'{EventType.INTERACTION_CONFIRMED}'")


def queue_submissions(rows: str) -> str:
    """Return the statement that queues the events of reviews and reports.

    `rows` has environment_id, interaction_id, method and created_at. A review is also queued for its export as an
    evaluation, if the parameter `:exports_reviews` is true.
    """
    # The method is `review`, `report` or `answer`; of an answer there is no event.
    return f"""
        INSERT INTO events (environment_id, consumer, type, interaction_id, created_at)
        SELECT r.environment_id, '{Consumer.WEBHOOKS}', s.type, r.interaction_id, r.created_at
        FROM {rows} r
        JOIN event_subscriptions s ON s.environment_id = r.environment_id AND s.type = r.method || '.created'
        UNION ALL
        SELECT r.environment_id, '{Consumer.EVALUATIONS}', '{EventType.REVIEW_CREATED}', r.interaction_id, r.created_at
        FROM {rows} r
        WHERE r.method = 'review' AND CAST(:exports_reviews AS boolean)
    """


def queue_purge(rows: str, name: str) -> str:
    """Return the statement that queues how many `rows` were removed, under a name; the column is environment_id."""
    return f"""
        INSERT INTO events (environment_id, consumer, type, details, created_at)
        SELECT s.environment_id, '{Consumer.WEBHOOKS}', s.type, jsonb_build_object('{name}', removed.row_count), :now
        FROM (SELECT environment_id, count(*) AS row_count FROM {rows} GROUP BY environment_id) removed
        JOIN event_subscriptions s
          ON s.environment_id = removed.environment_id AND s.type = '{EventType.RETENTION_PURGED}'
    """
