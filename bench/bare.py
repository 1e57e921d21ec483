"""The limits for a request over HTTP: a Flask endpoint that answers JSON, and one that stores a review as well."""

import os
import threading
import uuid
from datetime import UTC, datetime

import psycopg2
from flask import Flask, request
from psycopg2.extensions import cursor
from psycopg2.extras import register_uuid

from app.outcomes.service import RECORD_REVIEW

app = Flask(__name__)

ENVIRONMENT_ID = uuid.UUID(int=1)
"""No environment has this id, so what is stored under it can be removed after a run."""

_thread = threading.local()


@app.post("/")
def answer() -> dict[str, bool]:
    """Read a JSON body and answer."""
    return {"accepted": isinstance(request.get_json(), dict)}


@app.post("/reviews")
def store() -> dict[str, bool]:
    """Read a JSON body, store a review by the statement of the service, and answer."""
    review = request.get_json()
    values = {
        "environment_id": ENVIRONMENT_ID,
        "interaction_id": uuid.uuid4(),
        "id": uuid.uuid4(),
        "outcome": review["outcome"],
        "note": review["note"],
        "created_at": datetime.now(UTC),
    }
    _cursor().execute(RECORD_REVIEW.execute_sql, [values[name] for name in RECORD_REVIEW.parameters])
    return {"accepted": True}


def _cursor() -> cursor:
    """Return this thread's cursor, on a connection in autocommit that has the statement prepared."""
    if not hasattr(_thread, "cursor"):
        connection = psycopg2.connect(os.environ["DATABASE_URL"])
        connection.autocommit = True
        register_uuid(conn_or_curs=connection)
        _thread.cursor = connection.cursor()
        _thread.cursor.execute(RECORD_REVIEW.prepare)
    prepared: cursor = _thread.cursor
    return prepared
