"""The service's role reads and writes rows, and changes nothing else."""

import psycopg2.errors
import pytest
from flask import Flask
from sqlalchemy import exc, text

from app.core.database import session, transaction
from tests.conftest import Servers


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE anything ()",
        "ALTER TABLE reviews ADD COLUMN anything integer",
        "ALTER TABLE reviews DISABLE TRIGGER ALL",
        "DROP TABLE reviews",
        "TRUNCATE reviews",
        "DELETE FROM alembic_version",
        "CREATE ROLE anybody",
        "COPY reviews TO PROGRAM 'true'",
        "SET ROLE agent_feedback_owner",
    ],
)
def test_the_service_cannot_change_tables(app: Flask, servers: Servers, statement: str) -> None:
    if not servers.has_roles:
        pytest.skip("a named server has one role")
    with pytest.raises(exc.ProgrammingError) as error, transaction():
        session().execute(text(statement))
    assert isinstance(error.value.orig, psycopg2.errors.InsufficientPrivilege)
