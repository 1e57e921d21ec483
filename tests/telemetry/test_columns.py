"""The one table of stored members agrees with the schema and the model."""

from sqlalchemy.dialects import postgresql

from app.interactions.models import Interaction
from app.telemetry.columns import EVENT_COLUMNS, IGNORED_MEMBERS
from app.telemetry.schemas import TelemetryEventSchema


def test_every_member_of_an_event_is_stored_or_named_with_a_reason() -> None:
    members = {field.data_key for field in TelemetryEventSchema().fields.values()}
    assert {column.member for column in EVENT_COLUMNS} | set(IGNORED_MEMBERS) == members
    assert not {column.member for column in EVENT_COLUMNS} & set(IGNORED_MEMBERS)


def test_every_column_has_the_type_of_the_model_and_an_optional_one_may_be_empty() -> None:
    for column in EVENT_COLUMNS:
        model_column = Interaction.__table__.columns[column.column]
        assert model_column.type.compile(postgresql.dialect()).lower() == column.sql_type, column
        assert model_column.nullable is column.is_optional, column
