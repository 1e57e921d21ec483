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
    """Mark every counted day, whose outcomes are not set yet; then rename the table, and put the view in its place."""
    # Only jobs of the old release wait for this: no day is counted that the statement below has not seen.
    op.execute("LOCK TABLE interaction_days IN SHARE MODE")
    # Before the table is renamed, since requests wait from then on until the transaction ends.
    op.execute("""
        INSERT INTO day_marks (environment_id, day_on)
        SELECT DISTINCT environment_id, day_on FROM interaction_days ORDER BY day_on DESC
    """)
    op.execute("ALTER TABLE day_marks RENAME TO uncounted_days")
    op.execute("ALTER TABLE uncounted_days RENAME CONSTRAINT pk_day_marks TO pk_uncounted_days")
    op.execute("CREATE VIEW day_marks AS SELECT environment_id, id, day_on FROM uncounted_days WHERE false")
    # The runner grants only after all migrations, and the old release uses the view at once.
    op.execute("""
        DO $$
        DECLARE service_role text;
        BEGIN
            FOR service_role IN
                SELECT DISTINCT acl.grantee::regrole FROM pg_class, aclexplode(relacl) acl
                WHERE pg_class.oid = 'uncounted_days'::regclass AND acl.grantee NOT IN (0, relowner)
            LOOP
                EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON day_marks TO %s', service_role); END LOOP; END
        $$
    """)
