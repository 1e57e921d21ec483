"""The database: sessions in transactions, and prepared statements for the request paths that must be fast."""

from app.core.database.engine import Database, Timeouts, database, install
from app.core.database.models import Base
from app.core.database.prepared import PreparedStatement, PreparedTransaction
from app.core.database.transaction import after_commit, first_in_session, roll_back, savepoint, session, transaction

__all__ = [
    "Base",
    "Database",
    "PreparedStatement",
    "PreparedTransaction",
    "Timeouts",
    "after_commit",
    "database",
    "first_in_session",
    "install",
    "roll_back",
    "savepoint",
    "session",
    "transaction",
]
