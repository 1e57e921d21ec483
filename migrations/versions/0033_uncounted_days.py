"""Let the new release count the days that the old one marks, while both run.

The old release inserts day marks, and counts a marked day anew without regard to the changes that the new one has
recorded. So its marks go to the new release: what it inserts into the view `day_marks` arrives in `uncounted_days`,
and the view has no rows, so that its own roll-up finds nothing to do. The new release counts each of these days anew
and discards its pending changes in the same statement, which is exact whichever release wrote what.
"""

from alembic import op

revision = "0033"
down_revision = "0032"

BLOCKS_BECAUSE = "the view takes the old name in the same transaction, and the old release inserts through it"


def upgrade() -> None:
    """Rename the table, put the view in its place, and mark every counted day, whose outcomes are not set yet."""
    op.execute("ALTER TABLE day_marks RENAME TO uncounted_days")
    op.execute("ALTER TABLE uncounted_days RENAME CONSTRAINT pk_day_marks TO pk_uncounted_days")
    op.execute("CREATE VIEW day_marks AS SELECT environment_id, id, day_on FROM uncounted_days WHERE false")
    op.execute("""
        INSERT INTO uncounted_days (environment_id, day_on)
        SELECT DISTINCT environment_id, day_on FROM interaction_days ORDER BY day_on DESC
    """)
