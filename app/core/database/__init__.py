"""The database: sessions in transactions, and prepared statements for the request paths that must be fast."""

from app.core.database.engine import Database, Timeouts, database, install
from app.core.database.models import Base
from app.core.database.prepared import PreparedStatement
from app.core.database.transaction import after_commit, session, transaction

__all__ = [
    "Base",
    "Database",
    "PreparedStatement",
    "Timeouts",
    "after_commit",
    "database",
    "install",
    "session",
    "transaction",
]
