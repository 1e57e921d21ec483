"""Settings and rights on the database server that an operator should change."""

from sqlalchemy import text

from app.core.database import session
from app.core.database.connection import has_pooler
from app.core.settings import current_settings

SAFE_SETTINGS = {
    "log_min_error_statement": ("panic",),
    "log_error_verbosity": ("terse",),
    "log_statement": ("none", "ddl"),
    "log_min_duration_statement": ("-1",),
    "log_min_duration_sample": ("-1",),
    "log_transaction_sample_rate": ("0",),
    "auto_explain.log_min_duration": ("-1",),
    "pgaudit.log": ("none", ""),
}
"""With other values the server's log repeats statements, and with them what agents and customers wrote."""

_SETTINGS = text("SELECT name, setting FROM pg_settings WHERE name = ANY(:names)")

_RIGHTS = text(
    """
    SELECT current_user, has_schema_privilege('public', 'CREATE') OR EXISTS (
        SELECT FROM pg_class WHERE relname = 'interactions' AND pg_has_role(relowner, 'MEMBER')
    ) AS can_change_tables
    """
)


def list_warnings() -> list[str]:
    """Return what an operator should change on the server, a sentence each. Needs a transaction."""
    role, can_change_tables = session().execute(_RIGHTS).one()
    recommended_settings = {
        name: SAFE_SETTINGS[name][0]
        for name, setting in session().execute(_SETTINGS, {"names": list(SAFE_SETTINGS)})
        if setting not in SAFE_SETTINGS[name]
    }
    warnings = []
    if recommended_settings:
        statements = " ".join(
            f"ALTER ROLE \"{role}\" SET {name} = '{value}';" for name, value in sorted(recommended_settings.items())
        )
        warnings.append(
            f"PostgreSQL's log may repeat what agents and customers wrote; run as its administrator: {statements}"
        )
    if can_change_tables:
        warnings.append(
            f"The role {role} can create or change tables; set AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL to their owner, "
            "and DATABASE_URL to a role without rights of its own (docs/deploy.md)."
        )
    driver_connection = session().connection().connection.driver_connection
    if current_settings().has_prepared_statements and driver_connection is not None and has_pooler(driver_connection):
        warnings.append(
            "A connection pooler answers in PostgreSQL's place; if its pool_mode is transaction, set "
            "AGENT_FEEDBACK_PREPARED_STATEMENTS=false (docs/scale.md)."
        )
    return warnings
